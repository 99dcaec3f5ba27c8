"""Which worker gets which batch, and what happens to the batches of a worker that gets none any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.support.schedule import FakeBroker, make_tournament, make_version, make_worker, play_all, word_of
from tournament.models import Attempt, BotVersion, Exam, Game, Keeper, Worker
from tournament.services.calendar import sweep
from tournament.services.dispatch import dispatch, workers
from tournament.services.dispatch.batches import LONG_SECONDS, GameBatch
from tournament.services.dispatch.dispatch import look_at_rooms
from tournament.services.dispatch.leases import LEASE, keeper_started
from tournament.services.dispatch.recalls import take_back_stranded
from tournament.services.dispatch.rooms import (
    BATCHES_AHEAD_A_SLOT,
    OVERTAKEN_SECONDS,
    Room,
    assign,
    has_place,
)
from tournament.services.results import keeper
from workers.jobs import GameJob

Deal = Callable[[], list[GameJob]]
SHORT, LONG = GameBatch(1, (1,), 2.0), GameBatch(2, (2,), LONG_SECONDS + 1)


def assigned(batches: Sequence[GameBatch], *rooms: Room) -> list[str]:
    return [worker for _, worker in assign(batches, rooms)]


def test_the_worker_with_the_fewest_jobs_a_slot_gets_the_next_batch() -> None:
    assert assigned([SHORT] * 4, Room("east", 1), Room("west", 1)) == ["east", "west"] * 2
    assert assigned([SHORT] * 3, Room("east", 1), Room("west", 2)) == ["east", "west", "west"]
    assert assigned([SHORT] * 2, Room("east", 2, jobs=4), Room("west", 2)) == ["west", "west"]


def test_a_worker_gets_four_short_batches_a_slot() -> None:
    assert assigned([SHORT] * 9, Room("east", 2)) == ["east"] * 8
    assert assigned([SHORT], Room("east", 2, jobs=8)) == []


def test_a_long_batch_goes_to_a_free_slot_and_nothing_waits_behind_it() -> None:
    assert assigned([LONG] * 3, Room("east", 1), Room("west", 1)) == ["east", "west"]
    assert assigned([LONG], Room("east", 1, jobs=1), Room("west", 2, jobs=1)) == ["west"]
    assert assigned([SHORT], Room("east", 1, jobs=1, long=1)) == []
    assert assigned([SHORT] * 5, Room("east", 2, jobs=1, long=1)) == ["east"] * 4


def test_a_long_batch_without_a_place_does_not_hold_back_short_ones() -> None:
    assert assigned([SHORT, LONG, SHORT], Room("east", 1)) == ["east", "east"]
    assert assigned([LONG, SHORT], Room("east", 1, jobs=1, long=1), Room("west", 2, jobs=3)) == ["west"]


def places(now: datetime, *rooms: Room) -> tuple[bool, bool]:
    """Whether there is a place for a long batch, and then for a short one."""
    return has_place(LONG, rooms, now), has_place(SHORT, rooms, now)


def test_a_long_batch_is_not_overtaken_for_ever() -> None:
    now, later = timezone.now(), timezone.now() + timedelta(seconds=OVERTAKEN_SECONDS + 1)
    assert places(now, Room("east", 2, jobs=3)) == (False, True)
    assert places(now + timedelta(seconds=OVERTAKEN_SECONDS / 2), Room("east", 2, jobs=3)) == (False, True)
    assert places(later, Room("east", 2, jobs=3)) == (False, False)
    assert places(later, Room("east", 2, jobs=1)) == (True, True)
    assert places(later, Room("east", 2, jobs=3)) == (False, True)  # its next batch waits from now on


def test_only_the_worker_that_is_free_first_is_kept_for_a_long_batch() -> None:
    now, later = timezone.now(), timezone.now() + timedelta(seconds=OVERTAKEN_SECONDS)
    rooms = [Room("east", 1, jobs=4), Room("west", 2, jobs=3), Room("south", 1, jobs=1, long=1)]
    assert not has_place(LONG, rooms, now)
    assert not has_place(LONG, rooms, later)
    assert [room.worker for room in rooms if room.is_reserved] == ["west"]
    assert [room.left for room in rooms] == [0, 0, 0]
    assert not has_place(GameBatch(7, (7,), LONG_SECONDS + 1), rooms, later)
    assert sum(room.is_reserved for room in rooms) == 1


@pytest.mark.django_db
def test_only_workers_that_get_jobs_have_room() -> None:
    make_worker(3, name="east", held=1)
    make_worker(name="held", held=2)
    make_worker(name="stopped", state=Worker.State.STOPPED)
    make_worker(name="aside", set_aside="others run uploads")
    make_worker(name="quarantined", quarantined_at=timezone.now())
    make_worker(name="checker", queue="validation")
    assert look_at_rooms("games")[0] == [Room("east", 2)]


@pytest.mark.django_db
def test_a_game_that_lasts_takes_the_room_of_its_slot(deal: Deal) -> None:
    """Also if it was not expected to last."""
    make_worker(1, name="east")
    make_tournament(pairs=30)
    first, *_ = deal()
    assert look_at_rooms("games")[0] == [Room("east", 1, jobs=4)]
    keeper.progress(word_of(first.games[0]))
    begun = timezone.now() - timedelta(seconds=LONG_SECONDS + 1)
    Attempt.objects.filter(started_at__isnull=False).update(started_at=begun)
    assert look_at_rooms("games")[0] == [Room("east", 1, jobs=4, long=1)]


@pytest.mark.django_db
def test_a_job_of_many_games_that_lasts_takes_the_room_of_its_slot(deal: Deal) -> None:
    """Also if each of its games is short."""
    make_worker(1, name="east")
    make_tournament(pairs=30)
    first, *_ = deal()
    keeper.progress(word_of(first.games[0]))
    begun = timezone.now() - timedelta(seconds=LONG_SECONDS + 1)
    Attempt.objects.filter(started_at__isnull=False).update(started_at=begun)
    keeper.record(next(play_all(first)))
    keeper.progress(word_of(first.games[1]))
    assert look_at_rooms("games")[0] == [Room("east", 1, jobs=4, long=1)]


@pytest.mark.django_db
def test_a_compliance_check_takes_a_slot_of_its_worker_from_validation_games() -> None:
    make_worker(2, name="checker", queue="validation")
    version = make_version(state=BotVersion.State.VALIDATING)
    now = timezone.now()
    Exam.objects.create(version=version, sent_at=now, assigned="checker")
    assert look_at_rooms("validation")[0] == [Room("checker", 2, jobs=1, long=1)]
    Exam.objects.update(ended_at=now, end="done")
    assert look_at_rooms("validation")[0] == [Room("checker", 2)]


@pytest.mark.django_db
def test_without_a_worker_games_wait_until_one_registers(queues: FakeBroker, deal: Deal) -> None:
    make_tournament(pairs=30)
    assert dispatch.fill_buffer() == dispatch.top_up() == 0
    make_worker(1, name="east")
    assert len(deal()) == BATCHES_AHEAD_A_SLOT
    assert set(queues.queues) == {"games.east"}


@pytest.mark.django_db
def test_what_is_queued_for_a_lost_worker_is_sent_to_another_at_once(deal: Deal) -> None:
    """What it has begun waits for its lease."""
    now = timezone.now()
    keeper_started(now - 2 * LEASE)
    Keeper.objects.update(seen_at=now)
    make_worker(1, name="east")
    make_tournament(pairs=4)
    begun, *_ = deal()
    keeper.progress(word_of(begun.games[0]))
    make_worker(1, name="west", seen_at=now + timedelta(seconds=25))
    assert sweep(now=now + timedelta(seconds=25)) == 0
    assert Worker.objects.get(name="east").state == Worker.State.LOST
    still = Attempt.objects.filter(ended_at=None)
    assert {str(job) for job in still.values_list("job", flat=True)} == {begun.job}
    assert not Game.objects.exclude(lost=0, voids=0).exists()
    assert len(deal()) == 3
    assert set(still.exclude(job=begun.job).values_list("assigned", flat=True)) == {"west"}


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"state": "stopped"}, {"set_aside": "others run uploads"}])
def test_what_is_queued_for_a_worker_that_gets_no_jobs_waits_again(
    deal: Deal, change: dict[str, str]
) -> None:
    make_tournament(pairs=4)
    deal()
    assert take_back_stranded() == 0
    Worker.objects.update(**change)
    assert take_back_stranded() == 8
    assert set(Game.objects.values_list("state", flat=True)) == {Game.State.WAITING}


@pytest.mark.django_db
def test_a_quarantined_worker_s_queue_is_emptied_at_once(
    deal: Deal, queues: FakeBroker, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_tournament(pairs=4)
    queues.jobs = deal()
    with django_capture_on_commit_callbacks(execute=True):
        workers.quarantine(Worker.objects.get(), "it smells", timezone.now())
    assert queues.jobs == []
    assert not Attempt.objects.filter(ended_at=None).exists()


@pytest.mark.django_db
def test_a_batch_of_another_worker_can_neither_be_reported_nor_released(deal: Deal) -> None:
    make_worker(name="east")
    make_tournament()
    (job,) = deal()
    Attempt.objects.update(assigned="west")
    stolen = list(play_all(job))
    Attempt.objects.update(assigned="east")
    assert keeper.record_all(stolen) == [keeper.IgnoredReport("foreign")] * 2
    assert all(isinstance(outcome, keeper.Recorded) for outcome in keeper.record_all(list(play_all(job))))
