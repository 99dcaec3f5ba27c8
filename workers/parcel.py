"""A parcel played: the jobs of one message, one after another.

An engine that plays in the next job too keeps its process; a new game is announced to it like any other.
Knows no queue: reports and progress go to functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from workers.jobs import EngineSpec, GameJob, JobGame
from workers.runner import Desk, Line, Seat, Stopped, Worker, report_of

LONGEST_SECONDS = 20.0
"""No further job of a parcel begins after this: engines slower than was thought hold up no others."""


def play_parcel(
    jobs: Sequence[GameJob], worker: Worker, line: Line, clock: Callable[[], float] = time.monotonic
) -> tuple[JobGame, ...]:
    """Play all games in order; returns those not played, because the worker was told to stop or it grew late.

    A game that is void or forfeited costs no other. Leaves no engine behind, whatever is raised.
    """
    late = clock() + LONGEST_SECONDS
    seats = _Seats(worker)
    try:
        for number, job in enumerate(jobs):
            if number and clock() > late:
                return _games(jobs[number:])
            if left := _play(job, seats, worker, line):
                return left + _games(jobs[number + 1 :])
    finally:
        seats.clear(at_once=line.is_stopping())
    return ()


def _play(job: GameJob, seats: _Seats, worker: Worker, line: Line) -> tuple[JobGame, ...]:
    """Play a job's games; returns those not played because the worker was told to stop."""
    desk = Desk(job, seats.take(job), worker, line.on_progress, line.is_stopping)
    for number, game in enumerate(job.games):
        try:
            line.on_report(report_of(desk.play(game), worker))
        except Stopped:
            return job.games[number:]
    return ()


def _games(jobs: Sequence[GameJob]) -> tuple[JobGame, ...]:
    return tuple(game for job in jobs for game in job.games)


class _Seats:
    """Both engines of a job, those of the job before where they are the same."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._taken: list[tuple[tuple[EngineSpec, str], Seat]] = []

    def take(self, job: GameJob) -> tuple[Seat, Seat]:
        """In the order of the job's engines, which may be twice the same; who has no part in it leaves."""
        leaving, taken = list(self._taken), []
        for spec in job.engines:
            key = spec, job.game
            place = next((place for place in leaving if place[0] == key), None)
            if place is None:
                place = key, Seat(*key, self._worker)
            else:
                leaving.remove(place)
            taken.append(place)
        self._taken = taken
        _end([seat for _, seat in leaving])
        (_, one), (_, two) = taken
        return one, two

    def clear(self, *, at_once: bool) -> None:
        _end([seat for _, seat in self._taken], at_once=at_once)


def _end(seats: Sequence[Seat], *, at_once: bool = False) -> None:
    """End engines, each even though another cannot be."""
    with ExitStack() as stack:
        for seat in seats:
            stack.callback(seat.kill if at_once else seat.close)
