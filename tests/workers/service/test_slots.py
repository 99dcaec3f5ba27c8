"""The numbers that the processes of a worker share."""

from __future__ import annotations

from workers.service.slots import STOPPED_JOBS, Slots, SlotState


def test_a_job_that_is_stopped_stops_at_its_slot_alone() -> None:
    slots = Slots()
    slots.begin_job(0, "one")
    slots.begin_job(1, "two")
    slots.stop_jobs(["two", "three"])
    assert [slots.is_job_stopped(slot) for slot in (0, 1)] == [False, True]
    slots.begin_job(1, "four")
    assert not slots.is_job_stopped(1)


def test_a_job_that_begins_after_it_was_stopped_stops_at_once() -> None:
    slots = Slots()
    slots.stop_jobs(["one"])
    slots.stop_jobs(str(number) for number in range(STOPPED_JOBS - 1))
    slots.begin_job(0, "one")
    assert slots.is_job_stopped(0)
    slots.begin_job(0, "")
    assert not slots.is_job_stopped(0)


def test_only_the_latest_stopped_jobs_are_remembered() -> None:
    slots = Slots()
    slots.stop_jobs(["one"])
    slots.stop_jobs(str(number) for number in range(STOPPED_JOBS))
    slots.begin_job(0, "one")
    assert not slots.is_job_stopped(0)


def test_games_and_states_are_counted_over_all_slots() -> None:
    slots = Slots()
    slots.enter(0, SlotState.BUSY)
    slots.enter(1, SlotState.HELD)
    slots.begin_job(0, "one")
    slots.stop_jobs(["one"])
    slots.count_game(0, void=False)
    slots.count_game(1, void=False)
    slots.count_game(1, void=True)
    assert (slots.games, slots.voids) == (2, 1)
    assert (slots.number_in(SlotState.BUSY), slots.number_in(SlotState.HELD)) == (1, 1)
