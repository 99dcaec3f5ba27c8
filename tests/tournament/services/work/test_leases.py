"""Leases: which are renewed, which end, and when none ends."""

from __future__ import annotations

import datetime

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support.jobs import wait_until
from tests.support.schedule import (
    ask,
    begin_game,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    post,
)
from tournament.models import (
    Attempt,
    BotVersion,
    ComplianceCheck,
    Door,
    Game,
    Job,
    Keeper,
    Tournament,
    Worker,
)
from tournament.services.calendar import sweep
from tournament.services.results import keeper
from tournament.services.uploads.validation import begin
from tournament.services.work import leases
from tournament.services.work.attempts import end_attempt
from tournament.services.work.leases import LEASE, door_is_open, leases_may_end, renew, start_door_clock
from workers.failures import MAX_LOST
from workers.jobs import Batch, JobGame

pytestmark = pytest.mark.django_db
STEP = datetime.timedelta(seconds=5)


class Site:
    """A site whose record keeper sweeps and whose door is noted every five seconds, by a clock of its own."""

    def __init__(self) -> None:
        self.now = timezone.now()
        Door.objects.create(pk=1, open_since=self.now - 2 * LEASE, seen_at=self.now)

    def run(self, seconds: float, *, is_open: bool = True) -> int:
        """How many jobs were lost meanwhile."""
        end, lost = self.now + datetime.timedelta(seconds=seconds), 0
        while self.now < end:
            self.now += STEP
            if is_open:
                door_is_open(self.now)
            Worker.objects.update(seen_at=self.now)
            lost += sweep(self.now)
        return lost


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site()
    monkeypatch.setattr(timezone, "now", lambda: site.now)
    return site


@pytest.fixture
def batch(site: Site) -> Batch:
    """Three pairs, which a slot has just taken."""
    make_tournament(pairs=3)
    make_worker(1)
    batch = ask()
    assert batch is not None
    return batch


def games_of(batch: Batch) -> list[JobGame]:
    return [game for job in batch.jobs for game in job.games]


def leases_of(batch: Batch) -> set[datetime.datetime | None]:
    return set(Job.objects.filter(pk=batch.job).values_list("lease_until", flat=True))


def seconds(number: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=number)


def test_games_of_a_slot_that_fell_silent_wait_again(site: Site, batch: Batch) -> None:
    begin_game(games_of(batch)[0])
    assert site.run(30) == 0
    assert site.run(10) == 1
    for told in games_of(batch):
        game = Game.objects.get(key=told.key)
        assert (game.state, game.lost, game.voids) == (Game.State.WAITING, 1, 0)
        assert Attempt.objects.get(pk=told.attempt).end == Attempt.End.LOST


def test_a_post_renews_the_lease_of_the_whole_job_once_a_third_is_used(site: Site, batch: Batch) -> None:
    (granted,) = leases_of(batch)
    begin_game(games_of(batch)[0])
    site.now += LEASE / 3 - seconds(1)
    with CaptureQueriesContext(connection) as made:
        renew(Job.objects.get(pk=batch.job), site.now)
    assert len(made) == 1
    assert leases_of(batch) == {granted}
    site.now += seconds(2)
    post(batch.job)
    assert leases_of(batch) == {site.now + LEASE}
    assert site.run(LEASE.total_seconds() - 1) == 0


def test_no_lease_is_renewed_beyond_the_latest_end_of_its_job(site: Site, batch: Batch) -> None:
    ends_by = site.now + 2 * LEASE
    Job.objects.update(ends_by=ends_by)
    lost = 0
    for _ in range(20):
        post(batch.job)
        lost += site.run(5)
    assert leases_of(batch) == {ends_by}
    assert lost == 1


def test_what_is_reported_needs_no_lease(site: Site, batch: Batch) -> None:
    """The record keeper may be away for long."""
    first, second = play_short(batch.jobs[0])
    post(batch.job, reports=(first,))
    assert site.run(600) == 1
    assert not keeper.record_inbox(60)
    assert Game.objects.get(key=first.key).state == Game.State.DONE
    assert Game.objects.get(key=second.key).lost == 1


def test_no_lease_ends_while_workers_cannot_reach_the_site_nor_for_one_lease_after(
    site: Site, batch: Batch
) -> None:
    assert site.run(600, is_open=False) == 0
    assert site.run(LEASE.total_seconds()) == 0
    assert site.run(5) == 1


def test_a_site_that_was_started_ends_no_lease_before_one_has_passed(site: Site, batch: Batch) -> None:
    Door.objects.all().delete()
    site.now += 10 * LEASE
    assert not leases_may_end(site.now)
    assert site.run(LEASE.total_seconds()) == 0
    assert site.run(5) == 1


def test_a_short_gap_of_one_of_several_processes_is_none(site: Site) -> None:
    opened = Door.objects.get().open_since
    for number in (4, 3.999, 8, 20, 19):  # their clocks are read before they write
        door_is_open(site.now + seconds(number))
    assert Door.objects.get().open_since == opened
    door_is_open(site.now + seconds(36))
    assert Door.objects.get().open_since == site.now + seconds(36)


def test_a_clock_set_back_keeps_no_lost_game_waiting(site: Site, batch: Batch) -> None:
    begin_game(games_of(batch)[0])
    site.run(5)
    site.now -= datetime.timedelta(hours=1)
    assert site.run(LEASE.total_seconds()) == 0
    assert site.run(10) == 1
    assert set(Attempt.objects.values_list("end", flat=True)) == {Attempt.End.LOST}


def test_the_tenth_lost_lease_halts_the_game(site: Site) -> None:
    tournament = make_tournament()
    make_worker(1)
    lost = 0
    while ask(holds=()):
        lost += site.run(45)
    assert lost == MAX_LOST
    games = Game.objects.values_list("state", "lost", "evidence").distinct()
    assert list(games) == [
        (Game.State.HALTED, 10, "given up after 10 attempts whose workers did not report the end")
    ]
    tournament.refresh_from_db()
    assert tournament.state == Tournament.State.HALTED


def test_a_check_of_a_slot_that_fell_silent_waits_again(site: Site) -> None:
    version = make_version("Cy", owner=make_user(), state=BotVersion.State.VALIDATING)
    assert begin(version, site.now)
    checker = make_worker(name="checker", takes="checks")
    batch = ask(checker)
    assert batch is not None
    for _ in range(10):
        site.run(10)
        post(batch.job)
    assert ComplianceCheck.objects.get(job__pk=batch.job).end == ComplianceCheck.End.OPEN
    assert site.run(30) == 0
    assert site.run(10) == 1
    assert ComplianceCheck.objects.get(job__pk=batch.job).end == ComplianceCheck.End.LOST
    assert ComplianceCheck.objects.filter(ended_at=None, job=None).count() == 1


def test_an_attempt_ends_once(site: Site, batch: Batch) -> None:
    attempt = Attempt.objects.get(pk=games_of(batch)[0].attempt)
    assert end_attempt(attempt, Attempt.End.VOID, site.now)
    assert not end_attempt(attempt, Attempt.End.VOID, site.now)
    assert Game.objects.get(pk=attempt.game_id).voids == 1


def test_the_sweep_notes_that_the_record_keeper_is_up(site: Site) -> None:
    site.run(10)
    assert Keeper.objects.get().seen_at == site.now


def test_each_http_process_notes_that_the_door_is_open_also_after_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[datetime.datetime] = []

    def note(now: datetime.datetime) -> None:
        noted.append(now)
        if len(noted) == 1:
            raise DatabaseError("the disk is full")

    monkeypatch.setattr(leases, "door_is_open", note)
    monkeypatch.setattr(
        leases, "store_counts", lambda: None
    )  # the database is closed to a thread that outlives the test
    monkeypatch.setattr(leases, "LEASE", seconds(0.06))
    stopped = start_door_clock()
    assert wait_until(lambda: len(noted) >= 3)
    stopped.set()
