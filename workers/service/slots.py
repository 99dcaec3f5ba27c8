"""The state that the processes of one worker share: a few numbers in shared memory.

The worker's main process forks its slots. ``SLOTS`` is made before, so all of them share its memory.
"""

from __future__ import annotations

import enum
import hashlib
import mmap
from collections.abc import Iterable

MOST_SLOTS = 1024
STOPPED_JOBS = 1024
"""So many of the latest stopped jobs are remembered, for jobs that begin after the command to stop them."""
_STATES, _GAMES, _VOIDS, _JOBS, _STOPPED, _PIDS, _BEATS = (3 + MOST_SLOTS * number for number in range(7))
_LATEST = 3 + MOST_SLOTS * 7
"""Offsets in the shared memory; at ``_LATEST`` is the count of stopped jobs, followed by the jobs."""


class SlotState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    HELD = 2
    """The slot cannot play; it tests itself again at intervals."""


class Slots:
    """Each number has one writer: the worker's main process or one slot."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 8 * (_LATEST + 1 + STOPPED_JOBS))).cast("Q")

    @property
    def is_stopping(self) -> bool:
        """Whether the worker stops: running games must be returned."""
        return self._numbers[0] != 0

    @property
    def is_barred(self) -> bool:
        """Whether the site bars this worker: running games must be returned and no others begun."""
        return self._numbers[1] != 0

    @property
    def admissions(self) -> int:
        """How often the site has admitted this worker; each slot repeats its self-test after each."""
        return self._numbers[2]

    def stop(self) -> None:
        self._numbers[0] = 1

    def bar(self) -> None:
        self._numbers[1] = 1

    def admit(self) -> None:
        self._numbers[2] += 1
        self._numbers[1] = 0

    def enter(self, slot: int, state: SlotState) -> None:
        self._numbers[_STATES + slot] = state

    def begin_job(self, slot: int, job: str) -> None:
        """Note the job that a slot plays from now on; "" for none."""
        number = _number_of(job) if job else 0
        self._numbers[_STOPPED + slot] = 0
        self._numbers[_JOBS + slot] = number
        # In this order: ``stop_jobs`` either finds the job at its slot, or is found here.
        if number and number in self._numbers[_LATEST + 1 :].tolist():
            self._numbers[_STOPPED + slot] = number

    def stop_jobs(self, jobs: Iterable[str]) -> None:
        """Stop these jobs, also if a slot begins one of them later."""
        for number in map(_number_of, jobs):
            self._numbers[_LATEST + 1 + self._numbers[_LATEST] % STOPPED_JOBS] = number
            self._numbers[_LATEST] += 1
            for slot in range(MOST_SLOTS):
                if self._numbers[_JOBS + slot] == number:
                    self._numbers[_STOPPED + slot] = number

    def is_job_stopped(self, slot: int) -> bool:
        """Whether the job that a slot plays must stop; cheap enough to call at every move."""
        stopped = self._numbers[_STOPPED + slot]
        return stopped != 0 and stopped == self._numbers[_JOBS + slot]

    def count_game(self, slot: int, *, void: bool) -> None:
        self._numbers[(_VOIDS if void else _GAMES) + slot] += 1

    def begin_beat(self, slot: int, pid: int) -> None:
        """Note the process of a slot."""
        self._numbers[_PIDS + slot] = pid

    def beat(self, slot: int) -> None:
        """Note that the process of a slot runs."""
        self._numbers[_BEATS + slot] += 1

    def beats_of(self, pid: int) -> int | None:
        """How often the slot of a process has noted that it runs; None if it has no slot."""
        pids = self._numbers[_PIDS:_BEATS].tolist()
        return self._numbers[_BEATS + pids.index(pid)] if pid in pids else None

    def number_in(self, state: SlotState) -> int:
        """The number of slots in ``state``, which is ``BUSY`` or ``HELD``: unused slots count as ``IDLE``."""
        return sum(number == state for number in self._numbers[_STATES:_GAMES])

    @property
    def games(self) -> int:
        """Games played by all slots, without void games."""
        return sum(self._numbers[_GAMES:_VOIDS])

    @property
    def voids(self) -> int:
        return sum(self._numbers[_VOIDS:_JOBS])


def _number_of(job: str) -> int:
    """A number from 1 to 2^64 - 1 for a job: 64 bits of a hash, which no two current jobs share."""
    return int.from_bytes(hashlib.blake2b(job.encode(), digest_size=8).digest()) or 1


SLOTS = Slots()
