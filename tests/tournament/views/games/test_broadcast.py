"""The broadcast: which game it shows, what follows the game and its event, and when it goes on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.filled_site import LADDER, Site, add_version, finish, go_live, round_robin
from tests.support.parts import PART, followed_address
from tests.support.schedule import make_event
from tournament.models import Game, LadderRating, LiveGame, Tournament
from tournament.services.schedule.tournaments import start
from tournament.views.games import broadcast
from tournament.views.games.broadcast import END_SECONDS, EVENT_SECONDS, TURN_SECONDS, choose


@pytest.fixture
def other(site: Site) -> Game:
    """A second running game, of a tournament with a bot of its own."""
    versions = [add_version(site.owner, "Third"), add_version(site.rival, "Fourth")]
    event = round_robin(site.owner, "Autumn", versions, pairs=2)
    start(event)
    game = event.games.filter(ladder=LADDER).earliest("pk")
    go_live(game, plies=6)
    return game


def rate(game: Game, rating: float) -> None:
    for version in (game.white_id, game.black_id):
        LadderRating.objects.update_or_create(
            ladder_id=game.ladder_id,
            version_id=version,
            defaults={"mu": rating, "sigma": 1.0, "conservative": rating},
        )


def test_the_strongest_players_of_the_ladder_are_shown(site: Site, other: Game) -> None:
    now = timezone.now()
    for strong, weak in ((site.live, other), (other, site.live)):
        rate(strong, 40.0)
        rate(weak, 30.0)
        assert choose([strong, weak], now) == choose([weak, strong], now) == strong


def test_a_game_of_a_tournament_comes_before_one_of_a_ladder(site: Site, other: Game) -> None:
    rate(site.live, 40.0)
    Tournament.objects.filter(pk=site.live.tournament_id).update(kind="ladder")
    assert choose([site.live, other], timezone.now()) == other


def test_the_ladders_take_turns(site: Site, other: Game) -> None:
    other.ladder_id = "dualma"
    now = timezone.now()
    shown = [choose([site.live, other], now + timedelta(seconds=turn * TURN_SECONDS)) for turn in range(2)]
    assert {game.pk for game in shown} == {site.live.pk, other.pk}


def test_the_board_the_engines_and_the_event_are_shown(site: Site, client: Client) -> None:
    page = client.get("/tv/").content.decode()
    assert f'data-game="{site.live.pk}" data-plies="5"' in page
    assert page.count("<dt>Depth</dt><dd>12</dd>") == 2
    assert 'class="scores"' in page
    assert site.live.tournament.name in page.partition('id="broadcast-event"')[2]
    assert client.get(f"/tv/{LADDER}/").status_code == 200
    assert client.get("/tv/chess/").status_code == 404


def test_the_page_follows_the_game_and_gets_the_event_when_that_changes(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.get("/tv/").content.decode()
    assert page.count("data-follow") == 1
    address = followed_address(page)
    assert client.get(address, headers=PART).status_code == 204
    go_live(site.live, plies=8)
    fragment = client.get(address, headers=PART).content.decode()
    assert 'data-plies="8"' in fragment
    assert "<html" not in fragment
    assert "broadcast-event" not in fragment
    Tournament.objects.filter(pk=site.live.tournament_id).update(games_done=2)
    later = timezone.now() + timedelta(seconds=EVENT_SECONDS)
    monkeypatch.setattr(timezone, "now", lambda: later)
    fragment = client.get(followed_address(fragment), headers=PART).content.decode()
    assert "2 of" in fragment.partition('id="broadcast-event"')[2]
    assert client.get(followed_address(fragment), headers=PART).status_code == 204


def test_the_event_is_sent_once_in_some_seconds_however_fast_its_games_end(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    now -= timedelta(seconds=now.timestamp() % EVENT_SECONDS)
    monkeypatch.setattr(timezone, "now", lambda: now)
    Tournament.objects.filter(pk=site.live.tournament_id).update(games_total=99)
    sent = []
    page = client.get("/tv/").content.decode()
    for half_seconds in range(4 * EVENT_SECONDS):
        at = now + timedelta(seconds=EVENT_SECONDS + half_seconds / 2)
        monkeypatch.setattr(timezone, "now", lambda at=at: at)
        Tournament.objects.filter(pk=site.live.tournament_id).update(games_done=2 + half_seconds)
        go_live(site.live, plies=6 + half_seconds)
        page = client.get(followed_address(page), headers=PART).content.decode()
        assert f'data-plies="{6 + half_seconds}"' in page
        if 'id="broadcast-event"' in page:
            sent.append(half_seconds)
    assert sent == [0, 2 * EVENT_SECONDS]
    later = at + timedelta(seconds=EVENT_SECONDS)
    monkeypatch.setattr(timezone, "now", lambda: later)
    page = client.get(followed_address(page), headers=PART).content.decode()
    assert f"{1 + 4 * EVENT_SECONDS} of" in page.partition('id="broadcast-event"')[2], (
        "the last change is not lost"
    )
    assert client.get(followed_address(page), headers=PART).status_code == 204


def test_another_event_is_drawn_at_once_however_alike_it_is(site: Site, other: Game, client: Client) -> None:
    alike = {"games_done": 1, "games_total": 4, "revision": 3}
    Tournament.objects.filter(pk__in=[site.live.tournament_id, other.tournament_id]).update(**alike)
    page = client.get(f"/tv/{LADDER}/").content.decode()
    first, second = (site.live, other) if f'data-game="{site.live.pk}"' in page else (other, site.live)
    address = followed_address(page).replace(f"game={first.pk}", f"game={second.pk}")
    fragment = client.get(address, headers=PART).content.decode()
    assert second.tournament.name in fragment.partition('id="broadcast-event"')[2]


def test_the_end_of_a_game_stays_for_some_seconds_and_then_the_next_is_shown(
    site: Site, other: Game, client: Client
) -> None:
    page = client.get(f"/tv/{LADDER}/").content.decode()
    first, second = (site.live, other) if f'data-game="{site.live.pk}"' in page else (other, site.live)
    address = followed_address(page)
    LiveGame.objects.filter(game=first).delete()
    finish(first, sequence=2)
    Game.objects.filter(pk=first.pk).update(finished_at=timezone.now())
    fragment = client.get(address, headers=PART)
    assert "wins" in fragment.content.decode()
    Game.objects.filter(pk=first.pk).update(finished_at=timezone.now() - timedelta(seconds=END_SECONDS + 1))
    assert client.get(address, headers=PART)["X-Reload"] == "true"
    assert f'data-game="{second.pk}"' in client.get(f"/tv/{LADDER}/").content.decode()


def test_without_a_running_game_the_last_one_is_shown_and_private_ones_never(
    site: Site, client: Client
) -> None:
    LiveGame.objects.all().delete()
    assert f'data-game="{site.played.pk}"' in client.get("/tv/").content.decode()
    Tournament.objects.filter(pk=site.played.tournament_id).update(state="draft")
    address = f"/tv/?game={site.played.pk}&seen=x"
    assert not client.get(address, headers=PART).content
    assert "No game has been played here yet." in client.get("/tv/dualma/").content.decode()


def test_an_empty_page_begins_with_the_first_game(site: Site, client: Client) -> None:
    live = {"state": site.live.state, "attempt": site.live.attempt}
    LiveGame.objects.all().delete()
    Game.objects.update(finished_at=None)
    Game.objects.filter(pk=site.live.pk).update(state=Game.State.WAITING, attempt=None)
    page = client.get("/tv/").content.decode()
    assert "No game has been played here yet" in page
    assert client.get(followed_address(page), headers=PART).status_code == 204
    Game.objects.filter(pk=site.live.pk).update(**live)
    go_live(site.live, plies=2)
    assert client.get(followed_address(page), headers=PART)["X-Reload"] == "true"


def test_a_game_that_is_gone_makes_way_for_another(site: Site, client: Client) -> None:
    address = followed_address(client.get("/tv/").content.decode())
    Tournament.objects.filter(pk=site.live.tournament_id).update(state=Tournament.State.DRAFT)
    assert client.get(address, headers=PART)["X-Reload"] == "true"


def test_a_glance_tells_whether_a_game_is_live_or_when_it_ended(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.get(f"/tv/{LADDER}/").content.decode()
    assert '<span class="tag running">live</span>' in page
    assert "Nothing is played" not in page
    assert "<bdi>Stone Age</bdi> – <bdi>&lt;b&gt;Rival" in page or "</bdi> – <bdi>Stone Age</bdi>" in page
    LiveGame.objects.all().delete()
    finish(site.live, sequence=2)
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    Game.objects.update(finished_at=now)
    page = client.get(f"/tv/{LADDER}/").content.decode()
    assert '<span class="tag">ended just now</span>' in page
    assert client.get(followed_address(page), headers=PART).status_code == 204
    for minutes, text in ((12, "ended 12\xa0minutes ago"), (130, "ended 2\xa0hours ago")):
        Game.objects.update(finished_at=now - timedelta(minutes=minutes))
        page = client.get(followed_address(page), headers=PART).content.decode()
        assert f'<span class="tag">{text}</span>' in page


def test_while_nothing_is_played_the_next_game_or_event_is_named(
    site: Site, other: Game, client: Client
) -> None:
    LiveGame.objects.all().delete()
    Game.objects.filter(state=Game.State.CLAIMED).update(state=Game.State.WAITING, attempt=None)
    page = client.get(f"/tv/{LADDER}/").content.decode()
    told = " ".join(page.partition('<p class="idle">')[2].partition("</p>")[0].split())
    assert told.startswith("Nothing is played on Dogon kulei now. Next: ")
    assert 'href="/tournaments/spring/"' in told
    assert told.count('class="bot"') == 2
    Game.objects.filter(state=Game.State.WAITING).update(state=Game.State.CANCELLED)
    assert "No game waits and no event is announced." in client.get("/tv/dualma/").content.decode()
    starts_at = timezone.now() + timedelta(days=1)
    event = round_robin(site.owner, "Winter", [site.white, site.black])
    Tournament.objects.filter(pk=event.pk).update(state="announced", starts_at=starts_at)
    told = client.get(f"/tv/{LADDER}/").content.decode().partition('<p class="idle">')[2]
    assert "<bdi>Winter</bdi></a> begins <time" in told
    assert "No game waits" in client.get("/tv/dualma/").content.decode(), "it is on another ladder"


def test_the_next_game_is_found_behind_many_events_of_other_ladders(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcast, "EVENTS", 1)
    for ladder in (LADDER, "dualma"):
        make_event("round-robin", name=f"Of {ladder}", ladders=[ladder])
    assert "<bdi>Of dualma</bdi>" in client.get("/tv/dualma/").content.decode()
    Game.objects.filter(state=Game.State.WAITING).update(state=Game.State.CANCELLED)
    now = timezone.now()
    for event in Tournament.objects.filter(name__startswith="Of "):
        starts_at = now + timedelta(days=1 if event.ladders == [LADDER] else 2)
        Tournament.objects.filter(pk=event.pk).update(state="announced", starts_at=starts_at)
    assert "<bdi>Of dualma</bdi>" in client.get("/tv/dualma/").content.decode()
