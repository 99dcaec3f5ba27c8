"""The numbers and texts that the processes of a worker share."""

from __future__ import annotations

from workers.service.slots import MOST_BYTES, Slots, SlotState


def test_a_worker_is_barred_until_it_is_admitted_and_counts_its_admissions() -> None:
    slots = Slots()
    assert slots.is_barred
    for _ in range(2):
        slots.admit()
    assert (slots.is_barred, slots.admissions) == (False, 1)
    for _ in range(2):
        slots.bar()
    assert slots.is_barred
    slots.admit()
    assert (slots.is_barred, slots.admissions) == (False, 2)


def test_games_plies_and_states_are_counted_over_all_slots() -> None:
    slots = Slots()
    slots.enter(0, SlotState.BUSY)
    slots.enter(1, SlotState.HELD)
    slots.count_game(0, void=False, plies=30)
    slots.count_game(1, void=False, plies=12)
    slots.count_game(1, void=True, plies=1)
    assert (slots.games, slots.voids, slots.plies) == (2, 1, 43)
    assert (slots.number_in(SlotState.BUSY), slots.number_in(SlotState.HELD)) == (1, 1)


def test_the_trouble_of_the_first_slot_that_has_one_is_known() -> None:
    slots = Slots()
    assert slots.trouble == ""
    slots.set_trouble(7, "ü" * MOST_BYTES)
    slots.set_trouble(8, "another")
    assert slots.trouble == "ü" * (MOST_BYTES // 2)
    slots.set_trouble(7, "")
    assert slots.trouble == "another"
    slots.set_trouble(8, "")
    assert slots.trouble == ""
