"""The record keeper and asks for work, several at once, with a database in a file."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.schedule import ask, make_event, make_tournament, make_workers, play_short, take_all
from tests.support.threads import at_once
from tournament.models import Attempt, Game, GameRecord, Ladder, LadderRating, RatingEvent, Tournament
from tournament.services.results import keeper, storing
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule import rounds
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db(transaction=True)


def take_jobs() -> list[GameJob]:
    return [job for batch in take_all() for job in batch.jobs]


@pytest.fixture(autouse=True)
def worker(transactional_db: None) -> None:
    make_workers()


def test_every_report_delivered_three_times_at_once_is_recorded_once() -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    outcomes: Counter[object] = Counter()
    while jobs := take_jobs():
        for job in jobs:
            for report in play_short(job):
                results = at_once(*[lambda report=report: keeper.record(report)] * 3)
                outcomes.update(getattr(r, "reason", type(r).__name__) for r in results)
    assert outcomes.pop("Recorded") == 12
    assert set(outcomes) <= {"repeat", "late"}
    assert sum(outcomes.values()) == 24
    check_consistent(tournament)


def test_different_games_reported_at_once_get_each_their_number() -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    while jobs := take_jobs():
        reports = [report for job in jobs for report in play_short(job)]
        results = at_once(*[lambda report=report: keeper.record(report) for report in reports])
        assert all(isinstance(result, keeper.Recorded) for result in results), results
    check_consistent(tournament)


def test_slots_that_ask_at_once_claim_each_game_once() -> None:
    make_tournament(bots=3, pairs=4, ladders=["dogon-kulei"])
    batches = at_once(*[lambda slot=slot: ask(slot=slot) for slot in range(4)])
    claimed = Game.objects.filter(state=Game.State.CLAIMED)
    taken = [game.attempt for batch in batches if batch for job in batch.jobs for game in job.games]
    assert claimed.count() == len(taken) == len(set(taken)) > 0
    assert {str(game.attempt) for game in claimed} == set(taken)
    assert Attempt.objects.count() == len(taken)


def test_a_failed_transaction_leaves_nothing_and_the_report_can_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tournament = make_tournament(ladders=["dogon-kulei"])
    (job,) = take_jobs()
    first, second = play_short(job)
    with monkeypatch.context() as patch:
        patch.setattr(storing, "count_finished", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            keeper.record(first)
    assert not GameRecord.objects.exists()
    assert not RatingEvent.objects.exists()
    for report in (first, second):
        assert isinstance(keeper.record(report), keeper.Recorded)
    check_consistent(tournament)


def check_consistent(tournament: Tournament) -> None:
    """Every game has one result, one record and its number; ratings equal a rebuild to the bit."""
    tournament.refresh_from_db()
    total = tournament.games_total
    assert (tournament.state, tournament.games_done) == (Tournament.State.FINISHED, total)
    assert GameRecord.objects.count() == total
    numbers = Game.objects.order_by("sequence").values_list("sequence", flat=True)
    assert list(numbers) == list(range(1, total + 1))
    assert Ladder.objects.get(pk="dogon-kulei").sequence == total
    assert sum(LadderRating.objects.values_list("games", flat=True)) == RatingEvent.objects.count()
    assert not any(one.changed for one in rebuild())


def test_a_round_asked_for_several_times_at_once_is_made_once() -> None:
    tournament = make_event(Tournament.Kind.SWISS, bots=6, rounds=3, ladders=["dogon-kulei"])
    for number in range(1, 4):
        while jobs := take_jobs():
            for job in jobs:
                for report in play_short(job):
                    keeper.record(report)
        assert sorted(at_once(*[lambda: rounds.advance(tournament.pk)] * 4)) == [False, False, False, True]
        assert tournament.pairings.count() == 3 * min(number + 1, 3)
    check_consistent(tournament)
