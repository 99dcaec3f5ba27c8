"""The sums from which tables are computed are always those of the games."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.rules.base import Result
from tests.support.filled_site import LADDER, add_version, decide_games
from tests.support.meeting_scores import check_scores, recounted
from tests.support.schedule import (
    Deal,
    make_event,
    make_user,
    make_version,
    play_short,
    record_all,
    record_short,
    void,
)
from tournament.models import BotVersion, Game, MeetingScore, Tournament
from tournament.services.annulments import annul, count_again
from tournament.services.calendar import tend
from tournament.services.halted import HaltedAct, settle
from tournament.services.results.rebuilding import rebuild
from tournament.services.results.withdrawal import reinstate, withdraw
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tables_of
from tournament.services.schedule.tournaments import cancel, continue_cancelled, extend

pytestmark = pytest.mark.django_db
KINDS = ["round-robin", "gauntlet", "swiss", "knock-out"]
RESULTS = [Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS]
Act = Callable[[Tournament, random.Random], object]


def event(kind: str, **terms: Any) -> Tournament:
    """Of five bots of different owners."""
    versions = [make_version(f"Bot {n}", owner=make_user(f"owner{n}"), games=[LADDER]) for n in range(5)]
    return make_event(kind, versions=versions, ladders=[LADDER], name="Cup", **terms)


def annul_some(cup: Tournament, chance: random.Random) -> None:
    done = list(cup.games.done().values_list("pk", flat=True))
    chosen = chance.sample(done, min(3, len(done)))
    annul(Game.objects.filter(pk__in=chosen), "The clock was wrong.", timezone.now())


def count_some_again(cup: Tournament, chance: random.Random) -> None:
    annulled = list(cup.games.filter(annulled=True, sequence__isnull=False).values_list("pk", flat=True))
    chosen = chance.sample(annulled, len(annulled) // 2)
    count_again(Game.objects.filter(pk__in=chosen), timezone.now())


def halt_one(cup: Tournament, chance: random.Random) -> None:
    """Three workers void a game that waits."""
    waiting = list(cup.games.filter(state=Game.State.WAITING)[:1])
    for game in waiting:
        Game.objects.filter(pk=game.pk).update(voids=2)


def settle_one(cup: Tournament, chance: random.Random) -> None:
    halted = list(cup.games.filter(state=Game.State.HALTED, fault="").values_list("pk", flat=True))
    for pk in halted[:1]:
        settle(pk, chance.choice(list(HaltedAct)))


def withdraw_one(cup: Tournament, chance: random.Random) -> None:
    if BotVersion.objects.filter(state=BotVersion.State.WITHDRAWN).count() < 2:
        withdraw(chance.choice(entered_versions(cup)), "it lost 5 games in a row")


def reinstate_one(cup: Tournament, chance: random.Random) -> None:
    for version in BotVersion.objects.filter(state=BotVersion.State.WITHDRAWN)[:1]:
        reinstate(version)


ACTS: tuple[Act, ...] = (
    annul_some, annul_some, count_some_again, halt_one, settle_one, withdraw_one, reinstate_one,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_after_anything_that_happens_to_games_the_sums_are_theirs(deal: Deal, kind: str, seed: int) -> None:
    chance = random.Random(f"{kind} {seed}")
    cup = event(kind, pairs=2, **({"rounds": 4} if kind == "swiss" else {}))
    for _ in range(25):
        reports = [one for job in deal() for one in play_short(job, lambda *_: chance.choice(RESULTS))]
        chance.shuffle(reports)
        record_all([void(one) if chance.random() < 0.2 else one for one in reports])
        check_scores()
        chance.choice(ACTS)(cup, chance)
        check_scores()
        tend()
        check_scores()
    assert any(numbers.total() for numbers in recounted().values())
    before = list(MeetingScore.objects.order_by("id").values())
    rebuild(LADDER)
    assert list(MeetingScore.objects.order_by("id").values()) == before


def test_a_cancelled_tournament_that_is_played_on_and_extended_keeps_its_sums(deal: Deal) -> None:
    cup = event("round-robin")
    record_short(deal()[:3])
    cancel(cup)
    check_scores()
    continue_cancelled(cup)
    extend(cup, 1)
    while jobs := deal():
        record_short(jobs)
    check_scores()
    (table,) = tables_of(cup, entered_versions(cup))
    assert table.crosstable.games == 40


def test_the_table_of_a_round_robin_is_one_query_of_a_row_for_each_two_players(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    cup = decide_games(event("round-robin", pairs=7))
    versions = entered_versions(cup)
    cup = Tournament.objects.get(pk=cup.pk)
    with django_assert_num_queries(1):
        (table,) = tables_of(cup, versions)
    assert (table.crosstable.games, MeetingScore.objects.count()) == (140, 10)


def test_a_meeting_of_a_round_has_a_row_before_its_games_are_over() -> None:
    cup = event("swiss", rounds=3)
    (table,) = tables_of(cup, entered_versions(cup))
    assert [(one.round, one.games) for one in table.met] == [(1, 0), (1, 0)]
    assert not any(row.versus for row in table.crosstable.rows)


def test_games_of_a_withdrawn_version_count_for_its_opponents() -> None:
    versions = [add_version(None, f"Bot {number}") for number in range(5)]
    cup = make_event("round-robin", versions=versions, ladders=[LADDER, "duploline"], name="Cup")
    withdraw(versions[-1], "it lost 5 games in a row")
    tend()
    decide_games(cup)
    check_scores()
    assert (Tournament.objects.get(pk=cup.pk).state, cup.games.filter(state=Game.State.HALTED).count()) == (
        Tournament.State.FINISHED,
        16,
    )
    (table, _) = tables_of(cup, versions)
    last = next(row for row in table.crosstable.rows if row.player == versions[-1].pk)
    assert (last.score.games, last.score.defaults, last.score.not_played) == (0, 8, 8)
