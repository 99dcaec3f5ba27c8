"""A tournament's own ratings: those of its games, and computed on request only for small tournaments."""

from __future__ import annotations

import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.records import Fault, RecordOutcome, Termination
from engines.rules.base import Result
from tests.support.filled_site import LADDER, add_version, decide_games, set_done
from tests.support.parts import PART, seen_of
from tests.support.schedule import make_event
from tournament.models import Game, OwnRatings, Tournament
from tournament.services.annulments import annul, count_again
from tournament.services.schedule import own_ratings
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.own_ratings import rated_tables, refresh_ratings, store_ratings
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tournament_table

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)
WON = RecordOutcome(Result.WHITE_WINS, Termination.RULES, Fault.NONE)


def event(kind: str) -> Tournament:
    versions = [add_version(None, f"Bot {number}") for number in range(5)]
    return make_event(kind, versions=versions, ladders=[LADDER, "duploline"], name="Cup")


def play_one(tournament: Tournament) -> None:
    """White wins the next game."""
    game = tournament.games.filter(state=Game.State.WAITING).earliest("id")
    with rescored(Game.objects.filter(pk=game.pk)):
        set_done(game, WON, 20)
    count_finished(tournament.pk)


def annul_one(game: Game) -> None:
    annul(Game.objects.filter(pk=game.pk), "The clock was wrong.", timezone.now())


def shown(tournament: Tournament) -> tuple[int, dict[int, float]]:
    """The games and the ratings that the table of the first ladder shows."""
    cup = Tournament.objects.get(pk=tournament.pk)
    table = rated_tables(cup, entered_versions(cup))[0]
    return table.crosstable.games, table.ratings


def computed(tournament: Tournament) -> dict[int, float]:
    """Those that the games of the first ladder give."""
    table = tournament_table(tournament, tournament.ladders[0])
    return {pk: standing.rating.conservative for pk, standing in table.items()}


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_the_ratings_of_a_finished_tournament_are_stored_and_those_of_its_games(kind: str) -> None:
    cup = decide_games(event(kind))
    assert OwnRatings.objects.get(tournament=cup).games_done == cup.games_done
    assert shown(cup)[1] == computed(cup) != {}


def test_the_page_of_a_finished_tournament_reads_no_games_for_its_tables(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = decide_games(event("swiss"))
    monkeypatch.setattr(own_ratings, "tournament_table", None)
    address = f"/tournaments/{cup.slug}/"
    client.get(address)
    with django_assert_max_num_queries(7) as queries:
        assert client.get(address).status_code == 200
    assert not any("COUNT(" in query["sql"] for query in queries)


def test_a_small_running_tournament_rates_every_game_at_once() -> None:
    cup = event("round-robin")
    store_ratings(cup)
    play_one(cup)
    assert shown(cup) == (1, computed(cup))


def test_ratings_of_a_large_running_tournament_wait_and_its_results_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_ratings, "AT_ONCE", 1)
    cup, now = event("round-robin"), timezone.now()
    assert refresh_ratings(now) == 0
    play_one(cup)
    assert refresh_ratings(now) == 1
    first = computed(cup)
    play_one(cup)
    assert shown(cup) == (2, first)
    assert refresh_ratings(now) == 0
    assert refresh_ratings(now + HOUR) == 1
    assert shown(cup) == (2, computed(cup))
    assert computed(cup) != first
    assert refresh_ratings(now + 2 * HOUR) == 0


def test_a_poll_gets_the_ratings_that_were_stored_since(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_ratings, "AT_ONCE", 1)
    cup, now = event("round-robin"), timezone.now()
    play_one(cup)
    refresh_ratings(now)
    play_one(cup)
    seen = seen_of(client.get(f"/tournaments/{cup.slug}/"))
    poll = f"/tournaments/{cup.slug}/?seen={seen}"
    assert client.get(poll, headers=PART).status_code == 204
    refresh_ratings(now + HOUR)
    assert client.get(poll, headers=PART).status_code == 200


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_an_annulled_game_leaves_results_and_ratings_at_once(kind: str) -> None:
    cup = decide_games(event(kind))
    games, ratings = shown(cup)
    annul_one(cup.games.done().filter(ladder=LADDER).earliest("id"))
    assert shown(cup) == (games - 1, computed(cup))
    assert computed(cup) != ratings


def test_annulled_games_leave_the_ratings_of_a_large_tournament_when_they_are_stored(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_ratings, "AT_ONCE", 1)
    cup, now = decide_games(event("swiss")), timezone.now()
    assert refresh_ratings(now) == 0
    games, ratings = shown(cup)
    annul_one(cup.games.done().filter(ladder=LADDER).earliest("id"))
    assert shown(cup) == (games - 1, ratings)
    assert refresh_ratings(now) == 1, "at once, although the ratings were stored a moment ago"
    assert refresh_ratings(now) == 0
    assert shown(cup) == (games - 1, computed(cup))
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/tournaments/{cup.slug}/")
    assert not any("GROUP BY" in query["sql"] for query in queries)
    count_again(cup.games.all(), now)
    refresh_ratings(now)
    assert shown(cup) == (games, ratings)


def test_no_page_computes_the_missing_ratings_of_a_large_tournament(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = decide_games(event("knock-out"))
    address = f"/tournaments/{cup.slug}/"
    OwnRatings.objects.all().delete()
    whole = client.get(address).content.decode()
    monkeypatch.setattr(own_ratings, "AT_ONCE", 1)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(address).content.decode()
    assert not any("GROUP BY" in query["sql"] for query in queries)
    assert page.count("<tr") == whole.count("<tr")
    assert shown(cup)[1] == {}
    assert refresh_ratings(timezone.now()) == 1

    assert shown(cup)[1] == computed(cup)


def test_ratings_that_cannot_be_computed_do_not_stop_those_of_other_tournaments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, cup = decide_games(event("knock-out")), decide_games(event("round-robin"))
    OwnRatings.objects.all().delete()

    def fail_for_one(tournament: Tournament, ladder: str) -> dict[int, float]:
        if tournament == broken:
            raise ValueError("broken")
        return {}

    monkeypatch.setattr(own_ratings, "tournament_table", fail_for_one)
    assert refresh_ratings(timezone.now()) == 1
    assert OwnRatings.objects.get().tournament == cup
