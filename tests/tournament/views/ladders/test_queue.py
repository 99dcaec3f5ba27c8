"""The queue's page, and the same sentence on the page of a bot."""

from __future__ import annotations

import datetime
import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.parts import PART
from tests.support.schedule import make_tournament, make_worker, open_door
from tournament.caches import cache
from tournament.models import ActiveVersion, Attempt, BotVersion, Game, Matchmaking, Tournament, Worker
from tournament.services.bots.activity import switch
from tournament.services.calendar import tend
from tournament.services.ladders.queue import read_queue
from tournament.services.schedule.tournaments import pause
from tournament.views.ladders.queue import PlayingRow, QueuedBotRow, QueuedEventRow

SECOND = datetime.timedelta(seconds=1)


@pytest.fixture(autouse=True)
def a_site_that_plays(site: Site, settings: Settings) -> None:
    settings.LADDER_GAMES = 60
    open_door()
    make_worker()
    held = site.live.attempt
    assert held is not None
    Attempt.objects.create(id=held, game=site.live, sent_at=timezone.now())


def text_of(client: Client, address: str = "/queue/") -> str:
    """The page's text without its markup, in one line, of the present state."""
    cache.clear()
    page = client.get(address).content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def rest(site: Site) -> None:
    """End all tournaments except the ladders."""
    Tournament.objects.filter(pk=site.running.pk).update(state="cancelled")
    Game.objects.filter(tournament=site.running).exclude(state="done").update(state="cancelled", attempt=None)


def test_the_queue_shows_what_is_played_what_waits_and_what_comes_next(site: Site, client: Client) -> None:
    page = client.get("/queue/").content.decode()
    assert f'href="/games/{site.live.pk}/">Watch</a>' in page
    assert f'href="/games/{site.live.pk}/">playing now</a>' in page
    assert "&lt;b&gt;Rival&lt;/b&gt;" in page
    assert "<b>Rival" not in page
    text = text_of(client)
    assert "Spring 0 1 0 0" in text
    assert "up to 60 games an hour after 4 random opening plies with time control 5+0.05." in text


def test_the_queue_shows_how_many_games_start_before_a_bot_s_next_one(site: Site, client: Client) -> None:
    rest(site)
    assert "Stone Age v1 as soon as the matchmaker chooses it" in text_of(client)
    tend()
    assert "Stone Age v1 it is next" in text_of(client)
    newcomer = add_version(site.owner, "Newcomer", games=[LADDER])
    event = make_tournament(versions=[site.white, newcomer, site.black], ladders=[LADDER])
    games = list(event.games.filter(state="waiting").order_by("id"))
    before = next(place for place, game in enumerate(games) if newcomer.pk in (game.white_id, game.black_id))
    assert f"{event.name} 0 0 6 0" in text_of(client)
    expected = f"after {before} more games" if before else "it is next"
    assert f"Newcomer v1 {expected}" in text_of(client)


def test_games_of_a_lower_priority_come_after_all_others(site: Site) -> None:
    rest(site)
    versions = [site.white, site.black]
    first, second = (
        make_tournament(versions=versions, ladders=[LADDER], pairs=2, name=name)
        for name in ("First", "Second")
    )
    assert [(event.tournament, event.ahead) for event in read_queue(timezone.now()).events] == [
        (first.pk, 0), (second.pk, 0),
    ]  # fmt: skip
    Tournament.objects.filter(pk=first.pk).update(priority=-1)
    assert [(event.tournament, event.ahead) for event in read_queue(timezone.now()).events] == [
        (second.pk, 0), (first.pk, 4),
    ]  # fmt: skip


def test_owners_take_turns_in_the_queue_however_many_tournaments_each_has(site: Site) -> None:
    rest(site)
    for number in range(3):
        mine = make_tournament(versions=[site.white, site.black], ladders=[LADDER], name=f"Mine {number}")
        Tournament.objects.filter(pk=mine.pk).update(owner=site.owner)
    newcomers = [add_version(site.owner, name, games=[LADDER]) for name in ("New", "Newer")]
    hers = make_tournament(versions=newcomers, ladders=[LADDER], name="Hers")
    Tournament.objects.filter(pk=hers.pk).update(owner=site.rival)
    assert read_queue(timezone.now()).ladders[LADDER][newcomers[0].pk].text == "after 1 more game"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("off", "none: its owner has switched it off on this ladder"),
        ("alone", "none: no bot of another owner is active here"),
        ("rate", "only in tournaments (matchmaker off)"),
        ("paused", "only in tournaments (matchmaker paused)"),
    ],
)
def test_the_queue_shows_why_a_bot_has_no_next_game(
    site: Site, client: Client, change: str, words: str
) -> None:
    rest(site)
    if change == "off":
        switch(site.white.bot, LADDER, on=False)
    elif change == "alone":
        ActiveVersion.objects.filter(version=site.black).delete()
    elif change == "rate":
        Matchmaking.objects.ensure()
        Matchmaking.objects.update(games_an_hour=0)
    elif change == "paused":
        tend()
        for ladder in Tournament.objects.running():
            pause(ladder)
            ladder.games.update(state="cancelled")
    assert words in text_of(client)
    assert words in text_of(client, "/bots/stone-age/")


def test_a_reason_why_no_game_can_start_is_shown_once(site: Site, client: Client) -> None:
    rest(site)
    open_door(timezone.now() - 5 * 60 * SECOND)
    why = "the record keeper, which stores results, is not running"
    queue = text_of(client)
    assert f"No games are started at the moment. T{why[1:]}." in queue
    assert queue.count(why[1:]) == 1
    assert f"(no games are started at the moment: {why})" in text_of(client, "/bots/stone-age/")


@pytest.mark.parametrize(
    ("standing", "trouble"),
    [
        ({"state": Worker.State.LOST}, "no worker is running"),
        ({"takes": "checks"}, "no worker is running"),
        ({"held": 2}, "no worker is able to play"),
        (
            {"quarantined_at": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)},
            "every worker is quarantined",
        ),
        ({"barred": "others do"}, "no worker gets games or is able to play them"),
    ],
)
def test_workers_that_take_no_games_are_reported(
    site: Site, client: Client, standing: dict[str, Any], trouble: str
) -> None:
    Worker.objects.update(**standing)
    assert f"No games are started at the moment. {trouble.capitalize()}." in text_of(client)
    make_worker(name="players@west")
    assert "No games are started" not in text_of(client)


def test_a_visitor_s_own_bots_come_first(site: Site, as_user: LogIn) -> None:
    for number in range(45):
        add_version(None, f"Bot {number}", games=[LADDER])
    text = text_of(as_user(site.owner))
    table = text.partition("Dogon kulei Ladder of Dogon kulei")[2].partition("Dogon gagara")[0]
    assert table.partition("Next game ")[2].startswith("Stone Age v1")
    assert "Bots not listed here: 7." in table


def test_a_poll_gets_only_changes(site: Site, client: Client) -> None:
    seen = re.search(r"seen=(\w+)", client.get("/queue/").content.decode())
    assert seen is not None
    address = f"/queue/?seen={seen[1]}"
    assert client.get(address, headers=PART).status_code == 204
    rest(site)
    fragment = client.get(address, headers=PART)
    assert fragment.status_code == 200
    assert "<html" not in fragment.content.decode()


def test_the_queue_costs_the_same_queries_however_many_bots_and_games_wait(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(40) as few:
        client.get("/queue/")
    for number in range(20):
        add_version(None, f"Bot {number}")
    with django_assert_max_num_queries(len(few)):
        client.get("/queue/")


def test_the_queue_reads_no_ratings_where_bots_of_two_owners_play(site: Site) -> None:
    rest(site)
    assert site.white.bot.owner != site.black.bot.owner
    with CaptureQueriesContext(connection) as seen:
        state = read_queue(timezone.now())
    texts = {one.text for one in state.ladders[LADDER].values()}
    assert texts == {"as soon as the matchmaker chooses it"}
    assert not [query for query in seen.captured_queries if "ladderrating" in query["sql"]]


def test_the_ladder_s_page_shows_how_it_plays(site: Site, client: Client) -> None:
    rest(site)
    page = text_of(client, f"/ladders/{LADDER}/")
    assert "up to 60 games an hour" in page
    assert "While the rating of an active bot is provisional, it starts games without this limit" in page
    tend()
    assert f"/tournaments/ladder-{LADDER}/" in client.get(f"/ladders/{LADDER}/").content.decode()


def test_the_tables_of_the_queue_are_files(site: Site, client: Client) -> None:
    page = client.get("/queue/").content.decode()
    for name, columns in (
        ("playing", PlayingRow.__struct_fields__),
        ("tournaments", QueuedEventRow.__struct_fields__),
        ("bots", QueuedBotRow.__struct_fields__),
    ):
        assert f'href="/queue/{name}.csv"' in page
        rows = client.get(f"/queue/{name}.json").json()[name]
        assert rows
        assert {tuple(row) for row in rows} == {columns}
        lines = client.get(f"/queue/{name}.csv").content.decode().splitlines()
        assert lines[0] == ",".join(columns)
        assert len(lines) == len(rows) + 1
    game = client.get("/queue/playing.json").json()["playing"][0]
    assert (game["black"], game["page"]) == ("Stone Age", f"http://testserver/games/{site.live.pk}/")
    event = client.get("/queue/tournaments.json").json()["tournaments"][0]
    assert (event["tournament"], event["playing"], event["waiting"]) == ("Spring", 1, 0)
    playing = [row for row in client.get("/queue/bots.json").json()["bots"] if row["game"]]
    assert {(row["bot"], row["game"]) for row in playing} == {
        ("Stone Age", site.live.pk), ("<b>Rival</b>\u202e", site.live.pk),
    }  # fmt: skip
    for address in ("/queue/bots.xml", "/queue/workers.csv"):
        assert client.get(address).status_code == 404


@pytest.mark.parametrize("name", ["playing", "tournaments", "bots"])
def test_a_file_of_the_queue_costs_the_same_queries_at_any_length(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, name: str
) -> None:
    for number in range(5):
        add_version(site.owner, f"Bot {number}")
    client.get(f"/queue/{name}.json")  # caches the state of the queue
    with django_assert_max_num_queries(3):
        client.get(f"/queue/{name}.json")


def test_a_file_of_the_queue_holds_only_bots_that_the_reader_may_see(site: Site, as_user: LogIn) -> None:
    BotVersion.objects.filter(pk=site.white.pk).update(state=BotVersion.State.REFUSED)
    for user, sees in ((None, False), (site.owner, True)):
        rows = as_user(user).get("/queue/bots.json").json()["bots"]
        assert ("Stone Age" in {row["bot"] for row in rows}) is sees
