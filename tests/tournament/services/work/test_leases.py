"""Leases: which are renewed, which end, and when none ends."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest
from django.utils import timezone

from tests.support.schedule import FakeBroker, make_tournament, play_all, word_of
from tournament.models import Attempt, Game, Keeper, Tournament, Worker
from tournament.services.calendar import sweep
from tournament.services.dispatch.attempts import give_back
from tournament.services.dispatch.leases import LEASE, keeper_started
from tournament.services.results import keeper
from workers.jobs import MAX_LOST, GameJob, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Deal = Callable[[], list[GameJob]]
STEP = datetime.timedelta(seconds=5)


class Sweeper:
    """Sweeps every five seconds from now on, by a clock of its own, which is the site's."""

    def __init__(self) -> None:
        self.now = timezone.now()
        keeper_started(self.now - 2 * LEASE)

    def run(self, seconds: float) -> int:
        """How many leases were ended meanwhile."""
        end, lost = self.now + datetime.timedelta(seconds=seconds), 0
        while self.now < end:
            self.now += STEP
            Worker.objects.update(seen_at=self.now)
            lost += sweep(now=self.now)
        return lost


@pytest.fixture
def sweeper(monkeypatch: pytest.MonkeyPatch) -> Sweeper:
    sweeper = Sweeper()
    monkeypatch.setattr(timezone, "now", lambda: sweeper.now)
    return sweeper


def attempt_of(game: JobGame) -> Attempt:
    return Attempt.objects.get(pk=game.attempt)


def test_a_game_whose_worker_fell_silent_is_given_back(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament()
    (job,) = deal()
    queues.lengths["games.host"] = 1
    keeper.progress(word_of(job.games[0]))
    assert sweeper.run(25) == 0
    assert sweeper.run(15) == 2  # the second game waits for the same worker
    for told in job.games:
        game = Game.objects.get(key=told.key)
        assert (game.state, game.lost, game.voids) == (Game.State.WAITING, 1, 0)
        assert attempt_of(told).end == Attempt.End.LOST
    assert len(deal()) == 1


def test_every_word_renews_the_lease_of_the_whole_job(deal: Deal, sweeper: Sweeper) -> None:
    make_tournament()
    (job,) = deal()
    keeper.progress(word_of(job.games[0]))
    Attempt.objects.update(lease_until=timezone.now() + datetime.timedelta(seconds=1))
    keeper.progress(word_of(job.games[0]))
    assert all(attempt_of(game).lease_until > timezone.now() + LEASE / 2 for game in job.games)  # type: ignore[operator]
    first, _ = play_all(job)
    Attempt.objects.update(lease_until=timezone.now())
    keeper.record(first)
    assert attempt_of(job.games[1]).lease_until > timezone.now() + LEASE / 2  # type: ignore[operator]


def test_a_queued_job_waits_as_long_as_the_queue_holds_any(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament()
    deal()
    queues.lengths["games.host"] = 1
    assert sweeper.run(1200) == 0


def test_what_a_queue_lost_is_given_back_a_lease_after_the_keeper_s_start(deal: Deal) -> None:
    make_tournament()
    deal()
    started = timezone.now() + STEP
    keeper_started(started)
    Worker.objects.update(seen_at=started + LEASE)
    assert sweep(now=started + LEASE - STEP) == 0
    assert sweep(now=started + LEASE) == 2


def test_a_queued_job_is_lost_when_the_queue_has_been_empty_for_a_lease(deal: Deal, sweeper: Sweeper) -> None:
    make_tournament()
    deal()
    assert sweeper.run(30) == 0
    assert sweeper.run(15) == 2


def test_a_queued_job_is_lost_when_a_later_one_has_long_been_played(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament(pairs=2)
    first, second = deal()
    queues.lengths["games.host"] = 1
    keeper.progress(word_of(second.games[0]))
    sent = timezone.now() + datetime.timedelta(seconds=1)
    Attempt.objects.filter(job=second.job).update(sent_at=sent, lease_until=sent + 10 * LEASE)
    assert sweeper.run(30) == 0
    assert sweeper.run(10) == 2
    assert attempt_of(first.games[0]).end == Attempt.End.LOST
    assert attempt_of(second.games[0]).end == Attempt.End.OPEN


def test_an_earlier_job_being_played_says_nothing_of_a_later_one(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament(pairs=2)
    first, _ = deal()
    queues.lengths["games.host"] = 1
    keeper.progress(word_of(first.games[0]))
    Attempt.objects.filter(job=first.job).update(lease_until=timezone.now() + 1000 * LEASE)
    assert sweeper.run(600) == 0


def test_no_lease_ends_before_the_keeper_has_run_for_one(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament()
    (job,) = deal()
    queues.lengths["games.host"] = 1
    keeper.progress(word_of(job.games[0]))
    sweeper.now += 4 * LEASE
    keeper_started(sweeper.now)
    assert sweeper.run(25) == 0
    assert sweeper.run(10) == 2


def test_a_keeper_that_stood_still_counts_as_started_anew(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament()
    (job,) = deal()
    queues.lengths["games.host"] = 1
    sweeper.run(5)
    keeper.progress(word_of(job.games[0]))
    sweeper.now += 4 * LEASE
    assert sweeper.run(30) == 0
    assert sweeper.run(10) == 2


def test_a_sweep_waits_for_the_reports_queued_before_it(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament()
    (job,) = deal()
    keeper.progress(word_of(job.games[0]))
    queues.lengths = {"records": 3, "games.host": 1}
    assert sweeper.run(60) == 0
    (*_, as_of) = queues.sweeps
    assert as_of == sweeper.now
    Attempt.objects.filter(pk=job.games[0].attempt).update(lease_until=sweeper.now + LEASE)
    assert sweep(sweeper.now, now=sweeper.now + STEP) == 1
    assert attempt_of(job.games[0]).end == Attempt.End.OPEN  # renewed by what was queued
    assert attempt_of(job.games[1]).end == Attempt.End.LOST


def test_the_keeper_is_as_late_as_the_oldest_message_that_it_has_not_handled(
    sweeper: Sweeper, queues: FakeBroker
) -> None:
    sweeper.run(5)
    quiet = sweeper.now
    queues.lengths = {"records": 3}
    sweeper.run(60)
    assert Keeper.objects.get().lag(sweeper.now) == sweeper.now - quiet
    sweep(quiet + STEP, now=sweeper.now)
    assert Keeper.objects.get().lag(sweeper.now) == sweeper.now - quiet - STEP


def test_the_tenth_lost_lease_halts_the_game(deal: Deal, sweeper: Sweeper) -> None:
    tournament = make_tournament()
    lost = 0
    while deal():
        lost += sweeper.run(45)
    assert lost == 2 * MAX_LOST
    games = Game.objects.values_list("state", "lost", "evidence").distinct()
    assert list(games) == [
        (Game.State.HALTED, 10, "given up after 10 attempts whose workers did not report the end")
    ]
    tournament.refresh_from_db()
    assert tournament.state == Tournament.State.HALTED


def test_an_attempt_ends_once(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    attempt = attempt_of(job.games[0])
    assert give_back(attempt, Attempt.End.LOST, timezone.now())
    assert not give_back(attempt, Attempt.End.LOST, timezone.now())
    assert Game.objects.get(key=job.games[0].key).lost == 1


def test_a_clock_put_back_keeps_no_lost_game_waiting(
    deal: Deal, sweeper: Sweeper, queues: FakeBroker
) -> None:
    make_tournament(pairs=2)
    begun, queued = deal()
    keeper.progress(word_of(begun.games[0]))
    sweeper.run(5)
    sweeper.now -= datetime.timedelta(hours=1)
    assert sweeper.run(30) == 0
    assert sweeper.run(15) == 4
    for game in (*begun.games, *queued.games):
        assert attempt_of(game).end == Attempt.End.LOST
