"""What the processes of one worker tell each other: a few numbers in memory that they share.

The worker's own process forks its slots; made before that, ``SLOTS`` is the same memory in all of them.
"""

from __future__ import annotations

import enum
import mmap

MOST_SLOTS = 1024


class SlotState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    HELD = 2
    """It found itself unable to play, and tries again by itself."""


class Slots:
    """Each number has one writer: the worker's process, or the slot's own."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 8 * (3 + 3 * MOST_SLOTS))).cast("Q")

    @property
    def is_stopping(self) -> bool:
        """The worker was told to stop: games under way are to be given back."""
        return self._numbers[0] != 0

    @property
    def is_barred(self) -> bool:
        """The site wants no games of this worker: those under way are to be given back, others not begun."""
        return self._numbers[1] != 0

    @property
    def admissions(self) -> int:
        """How often the site has admitted this worker; after each a slot proves itself anew."""
        return self._numbers[2]

    def stop(self) -> None:
        self._numbers[0] = 1

    def bar(self) -> None:
        self._numbers[1] = 1

    def admit(self) -> None:
        self._numbers[2] += 1
        self._numbers[1] = 0

    def enter(self, slot: int, state: SlotState) -> None:
        self._numbers[3 + slot] = state

    def count_game(self, slot: int, *, void: bool) -> None:
        self._numbers[3 + MOST_SLOTS * (2 if void else 1) + slot] += 1

    def number_in(self, state: SlotState) -> int:
        """Slots in this state, of ``BUSY`` and ``HELD``."""
        return sum(number == state for number in self._numbers[3 : 3 + MOST_SLOTS])

    @property
    def games(self) -> int:
        """Played by all slots, without the void ones."""
        return sum(self._numbers[3 + MOST_SLOTS : 3 + 2 * MOST_SLOTS])

    @property
    def voids(self) -> int:
        return sum(self._numbers[3 + 2 * MOST_SLOTS :])


SLOTS = Slots()
