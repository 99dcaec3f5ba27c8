"""The buttons with which staff deals with halted games, on their pages and on that of the site's state."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.support.filled_site import LogIn, Site
from tests.support.schedule import make_event
from tournament.models import Act, Game, Tournament
from tournament.monitoring.values import halted_games


@pytest.fixture
def event(site: Site) -> Tournament:
    event = make_event("round-robin", bots=3)
    Game.objects.filter(tournament=event).update(
        state=Game.State.HALTED, evidence="given up after 3 <attempts>"
    )
    Tournament.objects.filter(pk=event.pk).update(games_done=6, state="halted")
    event.refresh_from_db()
    return event


def texts(client: Client, address: str) -> str:
    return " ".join(client.get(address).content.decode().split())


def test_staff_sees_halted_games_with_their_reasons_on_the_page_of_the_site_s_state(
    event: Tournament, site: Site, as_user: LogIn
) -> None:
    page = texts(as_user(site.staff), "/staff/")
    assert "The site gave 6 games up." in page
    assert page.count("Given up after 3 &lt;attempts&gt;.") == 6
    assert page.count('action="/staff/halted/"') == 7  # six games, and all of them
    for game in event.games.all():
        assert game.get_absolute_url() in page


@pytest.mark.parametrize(
    ("act", "state", "deed"),
    [
        ("play-again", "waiting", "had a halted game played again"),
        ("acknowledge", "halted", "acknowledged a halted game"),
        ("annul", "halted", "annulled a halted game"),
    ],
)
def test_an_act_on_the_page_of_a_game_is_done_and_logged(
    event: Tournament, site: Site, as_user: LogIn, act: str, state: str, deed: str
) -> None:
    game, client = event.games.earliest("pk"), as_user(site.staff)
    assert "Deal with this halted game" in texts(client, game.get_absolute_url())
    answer = client.post("/staff/halted/", {"act": act, "game": game.pk, "back": "game"})
    assert answer["Location"] == game.get_absolute_url()
    game.refresh_from_db()
    assert game.state == state
    assert "The site gave 5 games up." in texts(client, "/staff/")
    logged = Act.objects.get(deed=deed)
    assert (logged.actor, logged.subject, logged.path) == (site.staff, f"game {game.key}", answer["Location"])
    page = texts(client, game.get_absolute_url())
    assert ("The game is annulled." in page) == (act == "annul")


def test_an_act_on_all_of_them_leaves_those_that_halted_since_the_page_was_drawn(
    event: Tournament, site: Site, as_user: LogIn
) -> None:
    client = as_user(site.staff)
    later = event.games.latest("pk")
    Game.objects.filter(pk=later.pk).update(state="waiting")
    page = texts(client, "/staff/")
    form = page[page.index("All of them") :]
    numbers = re.findall(r'name="game" value="([0-9]+)"', form)
    Game.objects.filter(pk=later.pk).update(state="halted")
    values = {"act": "acknowledge", "back": "status", "game": numbers}
    page = client.post("/staff/halted/", values, follow=True).content.decode()
    assert "You acknowledged 5 halted games." in page
    assert Act.objects.get(deed="acknowledged 5 halted games").path == "/staff/"
    assert [game.pk for game in halted_games()] == [later.pk]


def test_an_act_that_is_not_possible_says_why(event: Tournament, site: Site, as_user: LogIn) -> None:
    Tournament.objects.filter(pk=event.pk).update(state="cancelled")
    game = event.games.earliest("pk")
    values = {"act": "play-again", "game": game.pk}
    page = as_user(site.staff).post("/staff/halted/", values, follow=True).content.decode()
    assert "is not played again: its tournament is cancelled." in page
    assert not Act.objects.exists()


def test_only_staff_deals_with_halted_games(event: Tournament, site: Site, as_user: LogIn) -> None:
    game = event.games.earliest("pk")
    for user in (site.owner, site.rival):
        client = as_user(user)
        assert client.post("/staff/halted/", {"act": "annul", "game": game.pk}).status_code == 404
        assert "halted/" not in texts(client, game.get_absolute_url())
    game.refresh_from_db()
    assert game.fault == ""


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"act": "burn"},
        {"act": "annul"},
        {"act": "annul", "game": "x"},
        {"act": "annul", "game": "9" * 30},
    ],
)
def test_unknown_acts_and_games_are_refused(
    event: Tournament, site: Site, as_user: LogIn, values: dict[str, str]
) -> None:
    assert as_user(site.staff).post("/staff/halted/", values).status_code == 404
    assert not Game.objects.exclude(fault="").filter(tournament=event).exists()
