"""Stored tables are those that the games give, and pages of large tournaments read them."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import LADDER, add_version, decide_games
from tests.support.schedule import make_event
from tournament.models import BotVersion, Game, Tournament, TournamentTables
from tournament.services.schedule import stored_tables
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.stored_tables import refresh_tables, shown_tables, store_tables
from tournament.services.schedule.tables import rated_tables

pytestmark = pytest.mark.django_db
Kind = Tournament.Kind
HOUR = datetime.timedelta(hours=1)


def event(kind: Tournament.Kind, bots: int = 5) -> Tournament:
    versions = [add_version(None, f"Bot {number}") for number in range(bots)]
    return make_event(kind, versions=versions, ladders=[LADDER, "duploline"], name="Cup")


def play_one(tournament: Tournament) -> None:
    game = tournament.games.filter(state=Game.State.WAITING).earliest("id")
    Game.objects.filter(pk=game.pk).update(
        state=Game.State.DONE, result="1-0", sequence=game.pk, termination="rules", finished_at=timezone.now()
    )
    count_finished(tournament.pk)
    tournament.refresh_from_db()


@pytest.mark.parametrize("kind", [Kind.ROUND_ROBIN, Kind.GAUNTLET, Kind.SWISS, Kind.KNOCK_OUT])
def test_the_stored_tables_of_every_format_are_those_of_its_games(kind: Tournament.Kind) -> None:
    cup = event(kind)
    decide_games(cup)
    assert cup.is_over
    versions = entered_versions(cup)
    assert TournamentTables.objects.filter(tournament=cup).exists()
    assert shown_tables(cup, versions) == rated_tables(cup, versions)


def test_without_meetings_only_the_results_against_single_opponents_are_missing() -> None:
    cup = event(Kind.ROUND_ROBIN)
    decide_games(cup)
    (whole, *_), (short, *_) = (
        shown_tables(cup, entered_versions(cup), with_meetings=flag) for flag in (True, False)
    )
    assert [row.score for row in short.crosstable.rows] == [row.score for row in whole.crosstable.rows]
    assert all(row.versus for row in whole.crosstable.rows)
    assert not any(row.versus for row in short.crosstable.rows)


def test_the_page_of_a_finished_tournament_reads_no_games_for_its_tables(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cup = event(Kind.SWISS)
    decide_games(cup)
    address = f"/tournaments/{cup.slug}/"
    client.get(address)
    with django_assert_max_num_queries(6) as queries:
        assert client.get(address).status_code == 200
    assert not any("COUNT(" in query["sql"] for query in queries)


def test_a_small_running_tournament_shows_every_game_at_once() -> None:
    cup = event(Kind.ROUND_ROBIN)
    store_tables(cup)
    play_one(cup)
    (table, *_) = shown_tables(cup, entered_versions(cup))
    assert table.crosstable.games == 1


def test_a_large_running_tournament_is_stored_again_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tables, "AT_ONCE", 1)
    cup, now = event(Kind.ROUND_ROBIN), timezone.now()
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
    cup, now = event(Kind.ROUND_ROBIN), timezone.now()
    play_one(cup)
    refresh_tables(now)
    play_one(cup)
    seen = client.get(f"/tournaments/{cup.slug}/").context["seen"]
    poll = f"/tournaments/{cup.slug}/?seen={seen}"
    assert client.get(poll, headers={"HX-Request": "true"}).status_code == 204
    refresh_tables(now + HOUR)
    assert client.get(poll, headers={"HX-Request": "true"}).status_code == 200


def test_tables_of_tournaments_that_ended_before_are_stored_later() -> None:
    cup = event(Kind.KNOCK_OUT)
    decide_games(cup)
    TournamentTables.objects.all().delete()
    assert refresh_tables(timezone.now()) == 1
    versions: list[BotVersion] = entered_versions(cup)
    cup = Tournament.objects.get(pk=cup.pk)
    assert shown_tables(cup, versions) == rated_tables(cup, versions)
