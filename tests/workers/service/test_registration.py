"""Heartbeats of a worker, and what it does with the site's answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.fake_door import TOKEN, FakeDoor
from tests.support.heartbeats import heartbeat_of
from workers.service.site import SiteDoor
from workers.service.slots import Slots, SlotState
from workers.service.worker import (
    HEARTBEAT_SECONDS,
    HOUR,
    WAITING_HEARTBEAT_SECONDS,
    GameRate,
    Registration,
    StatusLine,
)

IDENTITY = heartbeat_of(slots=4, speed="14.0")


class Registered:
    """A registration at a fake site, at a time of its own."""

    def __init__(self, door: FakeDoor) -> None:
        self.door, self.slots, self.now = door, Slots(), 0.0
        self.stops: list[int] = []
        self.answers: list[int] = []
        self.registration = Registration(
            IDENTITY,
            self.slots,
            SiteDoor(door.url, TOKEN),
            on_answer=lambda: self.answers.append(1),
            stop=lambda: self.stops.append(1),
        )

    def is_barred(self) -> bool:
        return self.slots.is_barred

    def wait(self, seconds: float) -> int:
        """Let this time pass; returns how many heartbeats were sent."""
        known, end = len(self.door.requests), self.now + seconds
        while self.now < end:
            self.registration.tick(self.now)
            self.now += 0.125
        return len(self.door.requests) - known


@pytest.fixture
def registered(door: FakeDoor) -> Registered:
    return Registered(door)


def test_heartbeats_come_every_second_until_the_worker_is_admitted_and_then_every_five(
    registered: Registered,
) -> None:
    registered.door.admits = False
    assert registered.wait(10 * WAITING_HEARTBEAT_SECONDS) == 10
    assert registered.is_barred()
    registered.door.admits = True
    registered.wait(WAITING_HEARTBEAT_SECONDS)
    assert not registered.is_barred()
    assert registered.wait(10 * HEARTBEAT_SECONDS) == 10


@pytest.mark.parametrize(
    "change", [lambda slots: slots.bar(), lambda slots: slots.set_trouble(2, "the canary died")]
)
def test_a_change_is_told_at_once(registered: Registered, change: Callable[[Slots], None]) -> None:
    registered.wait(1)
    change(registered.slots)
    assert registered.wait(0.5) >= 1


def test_a_heartbeat_has_the_state_of_all_slots(registered: Registered) -> None:
    slots = registered.slots
    slots.enter(0, SlotState.BUSY)
    slots.enter(1, SlotState.HELD)
    slots.set_trouble(1, "the canary died")
    slots.count_game(0, void=False, plies=9)
    slots.count_game(1, void=True, plies=9)
    registered.wait(0.1)
    beat = registered.door.heartbeats[-1]
    assert (beat.worker, beat.run, beat.slots) == (IDENTITY.worker, IDENTITY.run, 4)
    assert (beat.busy, beat.held, beat.games, beat.voids) == (1, 1, 1, 1)
    assert (beat.trouble, beat.stopping) == ("the canary died", False)


def test_a_worker_that_is_barred_and_admitted_again_repeats_its_self_tests(registered: Registered) -> None:
    registered.wait(1)
    assert registered.slots.admissions == 1
    registered.door.admits = False
    registered.wait(HEARTBEAT_SECONDS)
    assert registered.is_barred()
    registered.door.admits = True
    registered.wait(2)
    assert (registered.is_barred(), registered.slots.admissions) == (False, 2)


def test_a_site_that_is_away_is_logged_once_and_bars_nothing(
    registered: Registered, caplog: pytest.LogCaptureFixture
) -> None:
    registered.wait(1)
    registered.door.is_away = True
    assert registered.wait(4 * HEARTBEAT_SECONDS) >= 3
    assert not registered.is_barred()
    assert not registered.registration.does_answer
    assert len(registered.answers) == 1
    assert caplog.text.count("does not answer") == 1
    registered.door.is_away = False
    registered.wait(HEARTBEAT_SECONDS)
    assert registered.registration.does_answer


@pytest.mark.parametrize(
    ("refusal", "protocol", "status"), [((401, "It was revoked."), 3, 77), (None, 99, 78)]
)
def test_a_worker_that_the_site_never_takes_again_says_so_once_and_stops(
    registered: Registered,
    caplog: pytest.LogCaptureFixture,
    refusal: tuple[int, str] | None,
    protocol: int,
    status: int,
) -> None:
    registered.wait(1)
    registered.door.refusal, registered.door.protocol = refusal, protocol
    registered.wait(4 * HEARTBEAT_SECONDS)
    assert (registered.registration.status, registered.stops) == (status, [1])
    assert caplog.text.count("This worker ends and needs") == 1


def test_a_refusal_that_may_pass_is_logged_once(
    registered: Registered, caplog: pytest.LogCaptureFixture
) -> None:
    registered.door.refusal = (403, "Another worker has this name.")
    registered.wait(4 * HEARTBEAT_SECONDS)
    assert caplog.text.count("Another worker has this name.") == 1
    assert (registered.registration.status, registered.stops) == (0, [])


def test_games_per_hour_are_those_of_the_last_hour() -> None:
    rate = GameRate()
    assert rate.note(0, 0.0) == 0
    assert rate.note(10, 60.0) == 600
    for minute in range(2, 180):
        last = rate.note(10 * minute, 60.0 * minute)
    assert last == 600
    for minute in range(180, 300):
        last = rate.note(1790, 60.0 * minute)
    assert last == 0
    assert HOUR == 3600.0


def test_the_status_line_says_what_is_played_and_whether_the_site_answers(registered: Registered) -> None:
    line = StatusLine(registered.registration)
    assert line.line(0.0) == "0 of 4 slots play · 0 games · 0 moves a second · the site does not answer"
    registered.wait(1)
    registered.slots.enter(0, SlotState.BUSY)
    registered.slots.count_game(0, void=False, plies=12345)
    assert line.line(10.0) == "1 of 4 slots play · 1 games · 1,234 moves a second · the site answers"
    assert "· 0 moves a second ·" in line.line(20.0)
