"""Stored tables are those that the games give, and pages of large tournaments read them."""

from __future__ import annotations

import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import LADDER, add_version, decide_games
from tests.support.parts import PART, seen_of
from tests.support.schedule import make_event
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Game, Tournament, TournamentTables
from tournament.services.annulments import annul, count_again
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule import stored_tables
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.stored_tables import refresh_tables, shown_tables, store_tables
from tournament.services.schedule.tables import rated_tables

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)


def event(kind: str, bots: int = 5) -> Tournament:
    versions = [add_version(None, f"Bot {number}") for number in range(bots)]
    return make_event(kind, versions=versions, ladders=[LADDER, "duploline"], name="Cup")


def play_one(tournament: Tournament) -> None:
    game = tournament.games.filter(state=Game.State.WAITING).earliest("id")
    Game.objects.filter(pk=game.pk).update(
        state=Game.State.DONE, result="1-0", sequence=game.pk, termination="rules", finished_at=timezone.now()
    )
    count_finished(tournament.pk)
    tournament.refresh_from_db()


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_the_stored_tables_of_every_format_are_those_of_its_games(kind: str) -> None:
    cup = decide_games(event(kind))
    assert cup.is_over
    versions = entered_versions(cup)
    assert TournamentTables.objects.filter(tournament=cup).exists()
    assert shown_tables(cup, versions) == rated_tables(cup, versions)


def test_without_meetings_only_the_results_against_single_opponents_are_missing() -> None:
    cup = decide_games(event("round-robin"))
    (whole, *_), (short, *_) = (
        shown_tables(cup, entered_versions(cup), with_meetings=flag) for flag in (True, False)
    )
    assert [row.score for row in short.crosstable.rows] == [row.score for row in whole.crosstable.rows]
    assert all(row.versus for row in whole.crosstable.rows)
    assert not any(row.versus for row in short.crosstable.rows)


def test_the_page_of_a_finished_tournament_reads_no_games_for_its_tables(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cup = decide_games(event("swiss"))
    address = f"/tournaments/{cup.slug}/"
    client.get(address)
    with django_assert_max_num_queries(6) as queries:
        assert client.get(address).status_code == 200
    assert not any("COUNT(" in query["sql"] for query in queries)


def test_a_small_running_tournament_shows_every_game_at_once() -> None:
    cup = event("round-robin")
    store_tables(cup)
    play_one(cup)
    (table, *_) = shown_tables(cup, entered_versions(cup))
    assert table.crosstable.games == 1


def test_a_large_running_tournament_is_stored_again_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tables, "AT_ONCE", 1)
    cup, now = event("round-robin"), timezone.now()
    assert refresh_tables(now) == 0
    play_one(cup)
    assert refresh_tables(now) == 1
    play_one(cup)
    versions = entered_versions(cup)
    cup = Tournament.objects.get(pk=cup.pk)
    assert shown_tables(cup, versions)[0].crosstable.games == 1
    assert refresh_tables(now) == 0
    assert refresh_tables(now + HOUR) == 1
    cup = Tournament.objects.get(pk=cup.pk)
    assert shown_tables(cup, versions)[0].crosstable.games == 2
    assert refresh_tables(now + 2 * HOUR) == 0


def test_a_poll_gets_the_tables_that_were_stored_since(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_tables, "AT_ONCE", 1)
    cup, now = event("round-robin"), timezone.now()
    play_one(cup)
    refresh_tables(now)
    play_one(cup)
    seen = seen_of(client.get(f"/tournaments/{cup.slug}/"))
    poll = f"/tournaments/{cup.slug}/?seen={seen}"
    assert client.get(poll, headers=PART).status_code == 204
    refresh_tables(now + HOUR)
    assert client.get(poll, headers=PART).status_code == 200


def annul_one(game: Game) -> None:
    annul(Game.objects.filter(pk=game.pk), "The clock was wrong.", timezone.now())


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_an_annulled_game_leaves_the_stored_tables_at_once(kind: str) -> None:
    cup = decide_games(event(kind))
    versions, before = entered_versions(cup), shown_tables(cup, entered_versions(cup))
    game = cup.games.done().filter(ladder=LADDER).earliest("id")
    annul_one(game)
    cup = Tournament.objects.get(pk=cup.pk)
    after = shown_tables(cup, versions)
    assert after == rated_tables(cup, versions)
    assert after[0].crosstable.games == before[0].crosstable.games - 1
    assert after[0].ratings != before[0].ratings
    assert after[1] == before[1]


def test_after_an_annulment_the_tables_are_stored_again_at_once(client: Client) -> None:
    cup, now = event("swiss"), timezone.now()
    decide_games(cup)
    assert refresh_tables(now) == 0
    annul_one(cup.games.done().earliest("id"))
    assert refresh_tables(now) == 1
    assert refresh_tables(now) == 0
    cup, versions = Tournament.objects.get(pk=cup.pk), entered_versions(cup)
    stored = shown_tables(cup, versions)
    assert stored == rated_tables(cup, versions)
    assert stored[0].met[0].annulled == 1
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/tournaments/{cup.slug}/")
    assert not any("GROUP BY" in query["sql"] for query in queries)


def test_an_annulment_that_is_taken_back_gives_the_tables_as_before() -> None:
    cup = decide_games(event("round-robin"))
    versions, before = entered_versions(cup), shown_tables(cup, entered_versions(cup))
    annul_one(cup.games.done().earliest("id"))
    refresh_tables(timezone.now())
    count_again(cup.games.all(), timezone.now())
    assert shown_tables(Tournament.objects.get(pk=cup.pk), versions) == before


@pytest.mark.parametrize("is_over", [False, True])
def test_the_page_of_a_large_tournament_tells_the_time_of_its_tables_until_annulled_games_leave_them(
    client: Client, monkeypatch: pytest.MonkeyPatch, *, is_over: bool
) -> None:
    monkeypatch.setattr(stored_tables, "AT_ONCE", 1)
    cup, now = event("round-robin"), timezone.now()
    for _ in range(2):
        play_one(cup)
    if is_over:
        decide_games(cup)
    refresh_tables(now)
    assert "will be computed again" not in client.get(f"/tournaments/{cup.slug}/").content.decode()
    (before, *_) = shown_tables(cup, entered_versions(cup))
    annul_one(cup.games.done().filter(ladder=LADDER).earliest("id"))
    assert "will be computed again soon" in client.get(f"/tournaments/{cup.slug}/").content.decode()
    cup, versions = Tournament.objects.get(pk=cup.pk), entered_versions(cup)
    assert shown_tables(cup, versions)[0] == before
    assert refresh_tables(now) == 1, "at once, although the tables were stored a moment ago"
    cup = Tournament.objects.get(pk=cup.pk)
    assert shown_tables(cup, versions)[0].crosstable.games == before.crosstable.games - 1


def test_no_page_computes_the_missing_tables_of_a_large_tournament_but_files_are_complete(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = decide_games(event("knock-out"))
    address = f"/tournaments/{cup.slug}/"
    TournamentTables.objects.all().delete()
    whole, file = client.get(address).content.decode(), client.get(f"{address}standings.csv").content
    assert "The tables are being computed." not in whole
    monkeypatch.setattr(stored_tables, "AT_ONCE", 1)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(address).content.decode()
    assert "The tables are being computed." in page
    assert not any("GROUP BY" in query["sql"] for query in queries)
    assert client.get(f"{address}standings.csv").content == file
    refresh_tables(timezone.now())
    assert client.get(address).content.decode().count("<table") == whole.count("<table")


def test_games_of_a_withdrawn_version_count_for_its_opponents_in_stored_tables() -> None:
    cup = event("round-robin")
    versions = entered_versions(cup)
    withdraw(versions[-1], "it lost 5 games in a row")
    tend()
    decide_games(cup)
    assert (cup.state, cup.games.filter(state=Game.State.HALTED).count()) == (Tournament.State.FINISHED, 16)
    (table, *_) = shown_tables(cup, versions)
    assert TournamentTables.objects.get(tournament=cup).games_done == cup.games_done
    assert table == rated_tables(cup, versions)[0]
    last = next(row for row in table.crosstable.rows if row.player == versions[-1].pk)
    assert (last.score.games, last.score.defaults, last.score.not_played) == (0, 8, 8)


def test_tables_of_tournaments_that_ended_before_are_stored_later() -> None:
    cup = decide_games(event("knock-out"))
    TournamentTables.objects.all().delete()
    assert refresh_tables(timezone.now()) == 1
    versions: list[BotVersion] = entered_versions(cup)
    cup = Tournament.objects.get(pk=cup.pk)
    assert shown_tables(cup, versions) == rated_tables(cup, versions)


def test_tables_that_cannot_be_computed_do_not_stop_those_of_other_tournaments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, cup = decide_games(event("knock-out")), decide_games(event("round-robin"))
    TournamentTables.objects.all().delete()

    def fail_for_one(tournament: Tournament, versions: list[BotVersion]) -> list[StandingsTable]:
        if tournament == broken:
            raise ValueError("broken")
        return rated_tables(tournament, versions)

    monkeypatch.setattr(stored_tables, "rated_tables", fail_for_one)
    assert refresh_tables(timezone.now()) == 1
    assert TournamentTables.objects.get().tournament == cup
