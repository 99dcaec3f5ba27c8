"""Whose games come next: owners share the slots by the time that they have used."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    all_drawn,
    ask,
    begin_game,
    charge,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    open_door,
    play_short,
    post,
    record,
    start_validation,
)
from tournament import tasks
from tournament.caches import cache
from tournament.models import Attempt, Game, Job, Keeper, SlotUse, Tournament, User, Worker
from tournament.services import calendar
from tournament.services.fair_share import (
    exhausted,
    is_exhausted,
    used_by_owner,
    used_today,
)
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import pause, set_priority
from tournament.services.work.leases import LEASE, door_is_open
from workers.jobs import Batch

pytestmark = pytest.mark.django_db
NOW = timezone.now
MONSTER, QUICK = "999999+999999", "0.05/move"


@pytest.fixture(autouse=True)
def any_length(settings: Settings) -> None:
    settings.MAX_GAME_MINUTES = 0


@pytest.fixture
def worker() -> Worker:
    return make_worker(4)


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture
def bob() -> User:
    return make_user("bob")


def tournament_of(owner: User | None, name: str, time_control: str = "1+0.1", pairs: int = 100) -> Tournament:
    versions = [make_version(f"{name} one"), make_version(f"{name} two")]
    return make_tournament(owner=owner, name=name, versions=versions, pairs=pairs, time_control=time_control)


def take(worker: Worker, slots: Sequence[int]) -> list[Batch]:
    """What each of these slots gets that gets something."""
    return [batch for slot in slots if (batch := ask(worker, slot))]


def name_of(batch: Batch) -> str:
    return batch.jobs[0].games[0].key.partition("/")[0]


def names(batches: Sequence[Batch]) -> Counter[str]:
    return Counter(map(name_of, batches))


def finish(batch: Batch, seconds: float = 1.0) -> None:
    """Record a batch whose games took so long."""
    now = NOW()
    for job in batch.jobs:
        for report in play_short(job, all_drawn):
            start = (now - datetime.timedelta(seconds=seconds)).isoformat()
            timed = replace(report, started=start, finished=now.isoformat())
            assert isinstance(record(timed), keeper.Recorded)


def let_run(batches: Sequence[Batch], seconds: float) -> datetime.datetime:
    """Let slots have begun the first game of each batch so long ago; returns the time now."""
    now = NOW()
    for batch in batches:
        begin_game(batch.jobs[0].games[0])
        since = now - datetime.timedelta(seconds=seconds)
        Job.objects.filter(pk=batch.job).update(taken_at=since, lease_until=now + datetime.timedelta(hours=1))
        Attempt.objects.filter(pk=batch.jobs[0].games[0].attempt).update(started_at=since)
    return now


# Owners


@pytest.mark.slow
def test_an_owner_with_two_games_plays_at_once_beside_one_with_twenty_thousand(
    worker: Worker, ada: User, bob: User
) -> None:
    large = make_tournament(owner=ada, bots=5, pairs=1000, name="Large")
    while Game.objects.filter(tournament=large).count() < 20_000:
        calendar.tend()
    for batch in take(worker, range(4)):
        finish(batch, 60.0)
    tournament_of(bob, "Small", pairs=1)
    first, second = take(worker, [0, 1])
    assert (name_of(first), name_of(second)) == ("small", "large")


def test_equal_owners_get_equal_time_whatever_the_length_of_their_games(
    worker: Worker, ada: User, bob: User
) -> None:
    tournament_of(ada, "Slow")
    tournament_of(bob, "Quick")
    found = Counter[str]()
    for _ in range(20):
        (batch,) = take(worker, [0])
        found[name_of(batch)] += 1
        finish(batch)
        charge({ada.pk: 39.0} if name_of(batch) == "slow" else {bob.pk: 10.0}, NOW())
    assert found == {"slow": 4, "quick": 16}


def test_many_tournaments_give_an_owner_no_larger_share(worker: Worker, ada: User, bob: User) -> None:
    for number in range(5):
        tournament_of(ada, f"Many {number}")
    tournament_of(bob, "One")
    found = names(take(worker, list(range(10))))
    assert found["one"] == 5
    assert [found[f"many-{number}"] for number in range(5)] == [1] * 5


def test_the_owner_with_the_least_time_of_today_is_next_and_yesterday_is_no_debt(
    worker: Worker, ada: User, bob: User
) -> None:
    tournament_of(ada, "Old")
    tournament_of(bob, "Young")
    charge({ada.pk: 30_000.0}, NOW() - datetime.timedelta(days=1))
    assert names(take(worker, range(4))) == {"old": 2, "young": 2}
    charge({ada.pk: 5000.0}, NOW())
    assert names(take(worker, range(4, 8))) == {"young": 4}


def test_the_site_takes_its_turn_as_owners_do(worker: Worker, ada: User) -> None:
    tournament_of(None, "Ladder")
    tournament_of(ada, "Mine")
    charge({None: 500.0}, NOW())
    assert names(take(worker, range(4))) == {"mine": 4}
    charge({ada.pk: 1000.0}, NOW())
    assert names(take(worker, range(4, 8))) == {"ladder": 4}


def test_a_slot_s_time_counts_from_the_start_of_its_job_beside_what_was_charged(
    worker: Worker, ada: User, bob: User
) -> None:
    tournament_of(ada, "Mine")
    tournament_of(bob, "Yours")
    charge({ada.pk: 1000.0, bob.pk: 1100.0}, NOW())
    (batch,) = take(worker, [0])
    let_run([batch], 200.0)
    assert names(take(worker, [1])) == {"yours": 1}
    finish(batch)
    assert names(take(worker, [2])) == {"yours": 1}
    assert used_today(ada, NOW()) == pytest.approx(1200 / 3600, abs=0.01)


def test_reports_that_are_not_recorded_count_for_their_owner(worker: Worker, ada: User, bob: User) -> None:
    """The record keeper may be away: whoever is served meanwhile does not stay the least served."""
    tournament_of(ada, "Mine")
    tournament_of(bob, "Yours")
    found = Counter[str]()
    for _ in range(8):
        (batch,) = take(worker, [0])
        found[name_of(batch)] += 1
        Job.objects.held().update(taken_at=NOW() - datetime.timedelta(seconds=10))
        post(batch.job, reports=tuple(report for job in batch.jobs for report in play_short(job)))
    assert found == {"mine": 4, "yours": 4}
    assert not Keeper.objects.exists()


# Long games


@pytest.mark.parametrize("time_control", ["depth=1", "nodes=1", "5000+0;nodes=1"])
def test_a_limit_of_nodes_or_depth_does_not_make_games_short(
    worker: Worker, ada: User, time_control: str
) -> None:
    tournament_of(ada, "Sleeper", time_control)
    assert len(take(worker, range(4))) == 3


def test_games_that_were_short_are_long_if_their_clocks_permit_it(worker: Worker, ada: User) -> None:
    tournament_of(ada, "Sleeper", "600+0", pairs=300)
    (batch,) = take(worker, [0])
    finish(batch, 0.01)
    cache.clear()
    batches = take(worker, range(4))
    assert len(batches) == 3
    assert len(batches[0].jobs) > 1


def test_a_monstrous_time_control_leaves_one_of_two_slots_free(ada: User, bob: User) -> None:
    worker = make_worker(2)
    monster = tournament_of(ada, "Monster", MONSTER)
    assert names(take(worker, [0, 1])) == {"monster": 1}
    assert ask(worker, 1) is None
    tournament_of(bob, "Quick", QUICK)
    assert names(take(worker, [1])) == {"quick": 1}
    pause(monster)
    assert not Attempt.objects.filter(game__tournament=monster, ended_at=None).exists()


def test_on_a_site_with_one_slot_a_monstrous_game_gets_it_and_others_make_up_for_it(
    ada: User, bob: User
) -> None:
    worker = make_worker(1)
    tournament_of(ada, "Monster", MONSTER)
    tournament_of(bob, "Quick", QUICK)
    found = []
    for _ in range(8):
        (batch,) = take(worker, [0])
        found.append(name_of(batch))
        finish(batch)
        charge({ada.pk: 3600.0} if name_of(batch) == "monster" else {bob.pk: 3.0}, NOW())
    assert found == ["monster"] + ["quick"] * 7


def test_nothing_that_has_begun_ends_for_an_owner_who_waits(ada: User, bob: User) -> None:
    worker = make_worker(2)
    sleeper = tournament_of(ada, "Sleeper", QUICK)
    let_run(take(worker, [0, 1]), 3600.0)
    set_priority(tournament_of(bob, "Urgent"), 5)
    tasks.tend()
    tasks.sweep()
    assert Attempt.objects.filter(game__tournament=sleeper, ended_at=None).count() == 4


# Hours a day


def test_an_owner_without_hours_left_waits_for_the_next_day(
    worker: Worker, ada: User, bob: User, settings: Settings
) -> None:
    settings.SLOT_HOURS = 2
    tournament_of(ada, "Mine")
    tournament_of(bob, "Yours")
    now = NOW()
    charge({ada.pk: 2 * 3600.0, bob.pk: 1800.0, None: 9999.0}, now)
    assert (used_today(ada, now), used_today(bob, now)) == (2.0, 0.5)
    assert exhausted(used_by_owner(now)) == {ada.pk}
    assert names(take(worker, range(4))) == {"yours": 4}
    assert exhausted(used_by_owner(now + datetime.timedelta(days=1))) == set()
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert exhausted(used_by_owner(now)) == set()


def test_a_game_that_still_runs_counts_against_today_s_hours(
    worker: Worker, ada: User, bob: User, settings: Settings
) -> None:
    settings.SLOT_HOURS = 2
    tournament_of(ada, "Mine")
    first, second = take(worker, range(2))
    now = let_run([first, second], 1800.0)
    assert used_today(ada, now) == pytest.approx(1.0)
    assert used_today(bob, now) == 0.0
    assert exhausted(used_by_owner(now)) == set()
    assert exhausted(used_by_owner(now + datetime.timedelta(minutes=30))) == {ada.pk}
    assert is_exhausted(ada, now + datetime.timedelta(minutes=30))
    charge({ada.pk: 3600.0}, now)
    assert exhausted(used_by_owner(now)) == {ada.pk}
    finish(second)
    assert used_today(ada, now) == pytest.approx(2.0, abs=0.01)


def test_hours_in_which_the_site_was_down_are_not_charged(worker: Worker, ada: User) -> None:
    tournament_of(ada, "Mine")
    (first,) = take(worker, [0])
    now = let_run([first], 60.0)
    Job.objects.update(lease_until=now + LEASE)
    open_door(now)
    back = now + datetime.timedelta(hours=20)
    most = (60.0 + LEASE.total_seconds()) / 3600.0
    assert used_today(ada, back) == pytest.approx(most)
    for step in range(1, 10):
        door_is_open(back + LEASE * step / 6)
        assert calendar.sweep(back + LEASE * step / 6) == (1 if step == 7 else 0)
    assert used_today(ada, back + LEASE * 2) == pytest.approx(most)


def test_validations_have_hours_of_their_own(ada: User, settings: Settings) -> None:
    settings.SLOT_HOURS, settings.VALIDATION_HOURS = 2, 1
    now = NOW()
    charge({ada.pk: 3600.0}, now, is_validation=True)
    charge({ada.pk: 900.0}, now)
    assert (used_today(ada, now), used_today(ada, now, is_validation=True)) == (0.25, 1.0)
    assert exhausted(used_by_owner(now)) == set()
    assert exhausted(used_by_owner(now, is_validation=True), is_validation=True) == {ada.pk}
    assert not is_exhausted(ada, now)
    settings.VALIDATION_HOURS = 0
    assert not is_exhausted(ada, now, is_validation=True)


def test_ladders_count_for_the_site_and_every_end_of_a_job_is_charged(worker: Worker, ada: User) -> None:
    mine = tournament_of(ada, "Mine")
    tournament_of(None, "Site")
    batches = take(worker, range(4))
    Job.objects.update(taken_at=NOW() - datetime.timedelta(hours=1))
    for batch in batches:
        if name_of(batch) == "site":
            finish(batch)
    used = SlotUse.objects.get()
    assert used.owner is None
    assert used.seconds == pytest.approx(2 * 3600, abs=60)
    pause(mine)
    assert set(Job.objects.values_list("owner", "end")) == {(None, "done"), (ada.pk, "done")}
    assert used_today(ada, NOW()) == pytest.approx(2, abs=0.02)


def test_a_validation_is_charged_as_such(ada: User) -> None:
    start_validation(make_version("Cy", owner=ada))
    (batch,) = take(make_worker(name="checker", takes="checks"), [0])
    Job.objects.update(taken_at=NOW() - datetime.timedelta(hours=1))
    finish(batch)
    assert used_today(ada, NOW(), is_validation=True) == pytest.approx(1, abs=0.02)
    assert used_today(ada, NOW()) == 0
