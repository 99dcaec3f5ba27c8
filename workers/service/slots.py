"""The state that the processes of one worker share: numbers and short texts in shared memory.

The worker's main process forks its slots. ``SLOTS`` is made before, so all of them share its memory.
"""

from __future__ import annotations

import enum
import mmap

from workers.jobs import MOST_SLOTS

MOST_BYTES = 512
"""The longest text about a slot, in UTF-8."""
_STATES, _GAMES, _VOIDS, _PLIES, _PIDS, _BEATS, _END = (3 + MOST_SLOTS * number for number in range(7))
"""Offsets in the shared memory; before them are the three numbers of the worker."""


class SlotState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    HELD = 2
    """The slot cannot play; it tests itself again at intervals."""


class Slots:
    """Each number and text has one writer: the worker's main process or one slot."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 8 * _END)).cast("Q")
        self._troubles = mmap.mmap(-1, MOST_BYTES * MOST_SLOTS)

    @property
    def is_stopping(self) -> bool:
        """Whether the worker stops: running games must be returned."""
        return self._numbers[0] != 0

    @property
    def is_barred(self) -> bool:
        """Whether the site gives this worker no work now: running games must be returned, none begun."""
        return self._numbers[1] == self._numbers[2]

    @property
    def admissions(self) -> int:
        """How often the site has admitted this worker; each slot repeats its self-test after each."""
        return self._numbers[2]

    def stop(self) -> None:
        self._numbers[0] = 1

    def bar(self) -> None:
        """Bar the worker, as it is at its start; a slot may do it as well as the main process."""
        self._numbers[1] = self._numbers[2]

    def admit(self) -> None:
        if self.is_barred:
            self._numbers[2] += 1

    def enter(self, slot: int, state: SlotState) -> None:
        self._numbers[_STATES + slot] = state

    def count_game(self, slot: int, *, void: bool, plies: int) -> None:
        self._numbers[(_VOIDS if void else _GAMES) + slot] += 1
        self._numbers[_PLIES + slot] += plies

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

    def set_trouble(self, slot: int, why: str) -> None:
        """Note why a slot cannot play; "" if it can."""
        text = why.encode()[:MOST_BYTES]
        self._troubles[slot * MOST_BYTES : (slot + 1) * MOST_BYTES] = text.ljust(MOST_BYTES, b"\0")

    @property
    def trouble(self) -> str:
        """Why the first slot that cannot play cannot; empty if all can."""
        texts = self._troubles[:].rstrip(b"\0").lstrip(b"\0")[:MOST_BYTES]
        return texts.partition(b"\0")[0].decode(errors="ignore")

    @property
    def games(self) -> int:
        """Games played by all slots, without void games."""
        return sum(self._numbers[_GAMES:_VOIDS])

    @property
    def voids(self) -> int:
        return sum(self._numbers[_VOIDS:_PLIES])

    @property
    def plies(self) -> int:
        """Plies of all games played."""
        return sum(self._numbers[_PLIES:_PIDS])


SLOTS = Slots()
