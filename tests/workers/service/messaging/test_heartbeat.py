"""A worker's heartbeats, and the effects of its processes and of the site's decisions."""

from __future__ import annotations

import os
from typing import Any

import pytest

from workers.service.messaging.heartbeat import HEARTBEAT_SECONDS, HOUR, GameRate, Heartbeat, Trouble, name_of
from workers.service.registration import Identity, Registration
from workers.service.slots import Slots, SlotState

IDENTITY = Identity("players@east", "cellar", "games", "0.1", 2, "20.0", "A", "")


@pytest.fixture
def sent() -> list[Heartbeat]:
    return []


@pytest.fixture
def registration(sent: list[Heartbeat]) -> Registration:
    return Registration(IDENTITY, Slots(), sent.append)


def test_a_heartbeat_survives_serialization(registration: Registration) -> None:
    beat = registration.heartbeat(0.0)
    assert Heartbeat.from_json(beat.to_json()) == beat
    trouble = Trouble("players@east/1", "the canary game ended in stall")
    assert Trouble.from_json(trouble.to_json()) == trouble


def test_a_worker_sends_frequent_heartbeats_until_it_is_admitted(
    registration: Registration, sent: list[Heartbeat]
) -> None:
    for second in range(4):
        registration.tick(float(second))
    assert [beat.admitted for beat in sent] == [False] * 4
    assert registration.decide(registration.run, True, "")
    for second in range(4, 4 + 2 * HEARTBEAT_SECONDS):
        registration.tick(float(second))
    assert [beat.admitted for beat in sent[4:]] == [True] * 2


def test_a_worker_that_stops_sends_a_heartbeat_at_once(
    registration: Registration, sent: list[Heartbeat]
) -> None:
    registration.decide(registration.run, True, "")
    registration.tick(0.0)
    registration.slots.stop()
    registration.tick(0.1)
    registration.tick(0.2)
    assert [beat.stopping for beat in sent] == [False, True]


def test_a_decision_for_another_run_or_without_a_change_is_ignored(registration: Registration) -> None:
    assert not registration.decide("another run", True, "")
    assert not registration.decide(registration.run, False, "")
    assert not registration.is_admitted


def test_a_worker_that_is_barred_has_its_slots_give_their_games_back(registration: Registration) -> None:
    slots = registration.slots
    registration.decide(registration.run, True, "")
    assert (slots.admissions, slots.is_barred) == (1, False)
    registration.decide(registration.run, False, "quarantined")
    assert slots.is_barred
    registration.decide(registration.run, True, "")
    assert (slots.admissions, slots.is_barred) == (2, False)


def test_the_notes_of_a_slot_are_visible_to_the_worker_s_process() -> None:
    slots = Slots()
    if (child := os.fork()) == 0:
        slots.enter(1, SlotState.HELD)
        slots.count_game(1, void=False)
        slots.count_game(1, void=True)
        os._exit(0)
    os.waitpid(child, 0)
    slots.enter(0, SlotState.BUSY)
    slots.count_game(0, void=False)
    assert (slots.number_in(SlotState.BUSY), slots.number_in(SlotState.HELD)) == (1, 1)
    assert (slots.games, slots.voids) == (2, 1)


@pytest.mark.parametrize(
    ("counts", "pace"),
    [
        ([(0.0, 0)], 0),
        ([(0.0, 0), (36.0, 2)], 200),
        ([(0.0, 5), (36.0, 5)], 0),
        ([(0.0, 0), (HOUR, 100), (2 * HOUR, 150)], 50),
    ],
)
def test_the_pace_is_that_of_the_last_hour(counts: list[Any], pace: int) -> None:
    kept = GameRate()
    assert [kept.note(games, now) for now, games in counts][-1] == pace


def test_a_report_s_worker_has_the_worker_s_name_in_it() -> None:
    assert name_of("players@east/4711") == "players@east"
    assert name_of("east") == "east"
