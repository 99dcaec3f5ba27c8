"""The state that the processes of one worker share: a few numbers in shared memory.

The worker's main process forks its slots. ``SLOTS`` is made before, so all of them share its memory.
"""

from __future__ import annotations

import enum
import mmap

MOST_SLOTS = 1024


class SlotState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    HELD = 2
    """The slot cannot play; it tests itself again at intervals."""


class Slots:
    """Each number has one writer: the worker's main process or one slot."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 8 * (3 + 3 * MOST_SLOTS))).cast("Q")

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
        self._numbers[3 + slot] = state

    def count_game(self, slot: int, *, void: bool) -> None:
        self._numbers[3 + MOST_SLOTS * (2 if void else 1) + slot] += 1

    def number_in(self, state: SlotState) -> int:
        """The number of slots in ``state``, which is ``BUSY`` or ``HELD``: unused slots count as ``IDLE``."""
        return sum(number == state for number in self._numbers[3 : 3 + MOST_SLOTS])

    @property
    def games(self) -> int:
        """Games played by all slots, without void games."""
        return sum(self._numbers[3 + MOST_SLOTS : 3 + 2 * MOST_SLOTS])

    @property
    def voids(self) -> int:
        return sum(self._numbers[3 + 2 * MOST_SLOTS :])


SLOTS = Slots()
