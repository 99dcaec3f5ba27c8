"""Requests of searches, on the analysis board and of recorded games: what is refused, what pages show."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.filled_site import LADDER, LogIn, Site
from tests.support.parts import PART
from tests.support.schedule import open_door
from tournament.models import Bot, BotSearch
from workers.jobs import Work

ASK = f"/analyse/{LADDER}/search/"


@pytest.fixture(autouse=True)
def _answering(site: Site) -> None:
    Bot.objects.filter(pk=site.white.bot_id).update(answers=True)
    open_door(timezone.now())
    DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1).beat()


def finished() -> str:
    """The moves of a game to its end."""
    position: Position = GAMES[LADDER].position.initial()
    moves = []
    while not position.outcome().decided:
        token, position = position.play_at(0)
        moves.append(token)
    return " ".join(moves)


def form(site: Site, **changes: str) -> dict[str, str]:
    return {"bot": str(site.white.pk), "seconds": "1", "moves": "c1+", **changes}


def test_a_request_leads_to_the_page_of_the_search(site: Site, client: Client) -> None:
    answer = client.post(ASK, form(site))
    search = BotSearch.objects.get()
    assert (answer["Location"], search.moves, search.plies) == (search.get_absolute_url(), "c1+", [1])
    assert client.get(answer["Location"]).status_code == 200
    assert client.get(answer["Location"], headers=PART).content.decode().count("<h1") == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bot": ""}, "Choose a bot"),
        ({"bot": "9" * 30}, "Choose a bot"),
        ({"bot": "\x00"}, "Choose a bot"),
        ({"seconds": "2"}, "Choose how long"),
        ({"seconds": "9" * 30}, "Choose how long"),
        ({"seconds": "10"}, "Log in for longer searches."),
        ({"moves": "c1+ z9"}, "z9"),
        ({"moves": "c1+\x00"}, "c1+"),
        ({"moves": finished()}, "The game is over in this position."),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_sentence(
    site: Site, client: Client, changes: dict[str, str], said: str
) -> None:
    answer = client.post(ASK, form(site, **changes), headers=PART)
    assert answer.status_code == 400
    assert said in answer.content.decode()
    page = client.post(ASK, form(site, **changes), follow=True).content.decode()
    assert said.split()[0] in page
    assert not BotSearch.objects.exists()


def test_bots_whose_owners_allow_nothing_are_for_their_owners(site: Site, as_user: LogIn) -> None:
    ask = form(site, bot=str(site.black.pk))
    assert as_user(site.owner).post(ASK, ask, headers=PART).status_code == 400
    assert as_user(site.rival).post(ASK, ask).status_code == 302
    assert BotSearch.objects.get().owner == site.rival


def test_the_analysis_of_a_game_needs_an_account_and_has_every_position(site: Site, as_user: LogIn) -> None:
    page, ask = f"/games/{site.played.pk}/analysis/", {"bot": str(site.white.pk), "ms": "100"}
    guest, user = Client(), as_user(site.rival)
    assert guest.get(page)["Location"] == f"/games/{site.played.pk}/#computer"
    assert "Log in to request" in guest.post(page, ask, follow=True).content.decode()
    for wrong in ({**ask, "ms": "7"}, {**ask, "bot": "x"}):
        assert "Choose" in user.post(page, wrong, follow=True).content.decode()
        refused = user.post(page, wrong, headers=PART)
        assert (refused.status_code, refused.content[:6]) == (400, b"Choose")
    answer = user.post(page, ask)
    search = BotSearch.objects.get()
    assert answer["Location"] == f"{page}{search.pk}/"
    assert (search.game, search.plies[0], search.owner) == (site.played, 0, site.rival)
    assert search.plies == list(range(len(search.plies)))
    assert len(search.plies) in {len(search.moves.split()), len(search.moves.split()) + 1}
    assert f"0 of {len(search.plies)} positions" in user.get(answer["Location"], follow=True).content.decode()
    state = guest.get(answer["Location"], headers=PART).content.decode()
    assert f'data-follow="{page}{search.pk}/?seen=0-' in state
    assert guest.get(f"/games/{site.live.pk}/analysis/{search.pk}/", headers=PART).status_code == 404
    assert user.post(f"/games/{site.live.pk}/analysis/", ask).status_code == 404
