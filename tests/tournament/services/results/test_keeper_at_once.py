"""The record keeper and the dispatcher called several times at once, with a database in a file."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import transaction

from tests.support.schedule import FakeBroker, make_event, make_tournament, make_workers, play_short
from tests.support.threads import at_once
from tournament.models import Attempt, Game, GameRecord, Ladder, LadderRating, RatingEvent, Tournament
from tournament.services.dispatch import dispatch
from tournament.services.results import keeper, storing
from tournament.services.results.rebuilding import rebuild
from tournament.services.schedule import rounds

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def worker(transactional_db: None) -> None:
    make_workers()


def test_every_report_delivered_three_times_at_once_is_recorded_once(queues: FakeBroker) -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    outcomes: Counter[object] = Counter()
    while dispatch.fill_buffer():
        for job in queues.take():
            for report in play_short(job):
                results = at_once(*[lambda report=report: keeper.record(report)] * 3)
                outcomes.update(getattr(r, "reason", type(r).__name__) for r in results)
    assert outcomes.pop("Recorded") == 12
    assert set(outcomes) <= {"repeat", "late"}
    assert sum(outcomes.values()) == 24
    check_consistent(tournament)


def test_different_games_reported_at_once_get_each_their_number(queues: FakeBroker) -> None:
    tournament = make_tournament(bots=3, pairs=2, ladders=["dogon-kulei"])
    while dispatch.fill_buffer():
        reports = [report for job in queues.take() for report in play_short(job)]
        results = at_once(*[lambda report=report: keeper.record(report) for report in reports])
        assert all(isinstance(result, keeper.Recorded) for result in results), results
    check_consistent(tournament)


def test_two_dispatchers_at_once_claim_each_game_once(queues: FakeBroker) -> None:
    make_tournament(bots=3, pairs=4, ladders=["dogon-kulei"])
    results = at_once(*[dispatch.fill_buffer] * 3)
    claimed = Game.objects.filter(state=Game.State.CLAIMED)
    sent = [game.attempt for job in queues.take() for game in job.games]
    assert sum(results) == claimed.count() == len(sent) == len(set(sent))
    assert {str(game.attempt) for game in claimed} == set(sent)
    assert Attempt.objects.count() == len(sent)


def test_a_failed_transaction_leaves_nothing_and_the_report_can_come_again(
    queues: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament(ladders=["dogon-kulei"])
    dispatch.fill_buffer()
    (job,) = queues.take()
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


def test_jobs_are_sent_only_when_their_claims_are_stored(queues: FakeBroker) -> None:
    make_tournament(ladders=["dogon-kulei"])
    with transaction.atomic():
        dispatch.fill_buffer()
        assert queues.jobs == []
        transaction.set_rollback(True)
    assert queues.jobs == []
    assert not Attempt.objects.exists()
    dispatch.fill_buffer()
    assert len(queues.jobs) == 1


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


def test_a_round_asked_for_several_times_at_once_is_made_once(queues: FakeBroker) -> None:
    tournament = make_event(Tournament.Kind.SWISS, bots=6, rounds=3, ladders=["dogon-kulei"])
    for number in range(1, 4):
        while dispatch.fill_buffer():
            for job in queues.take():
                for report in play_short(job):
                    keeper.record(report)
        assert sorted(at_once(*[lambda: rounds.advance(tournament.pk)] * 4)) == [False, False, False, True]
        assert tournament.pairings.count() == 3 * min(number + 1, 3)
    check_consistent(tournament)
