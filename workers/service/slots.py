"""The state that the processes of one worker share: numbers and short texts in shared memory.

The worker's main process forks its slots. ``SLOTS`` is made before, so all of them share its memory.
"""

from __future__ import annotations

import ctypes
import enum
import mmap

from workers.jobs import MAX_SLOTS

MAX_BYTES = 512
"""The longest text about a slot, in UTF-8."""


class SlotState(enum.IntEnum):
    IDLE = 0
    BUSY = 1
    HELD = 2
    """The slot cannot play; it tests itself again at intervals."""


class _Slot(ctypes.Structure):
    """``plies`` are those of all games played."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("state", "games", "voids", "plies")),
        ("trouble", ctypes.c_char * MAX_BYTES),
    )


class _Worker(ctypes.Structure):
    """``barred_at`` is the number of admissions at which the worker was barred."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("is_stopping", "barred_at", "admissions")),
        ("slots", _Slot * MAX_SLOTS),
    )


class Slots:
    """Each number and text has one writer: the worker's main process or one slot."""

    def __init__(self) -> None:
        self._worker = _Worker.from_buffer(mmap.mmap(-1, ctypes.sizeof(_Worker)))

    @property
    def is_stopping(self) -> bool:
        """Whether the worker stops: running games must be released."""
        return bool(self._worker.is_stopping)

    @property
    def is_barred(self) -> bool:
        """Whether the site gives this worker no work now: running games must be released, none begun."""
        return bool(self._worker.barred_at == self._worker.admissions)

    @property
    def admissions(self) -> int:
        """How often the site has admitted this worker; each slot repeats its self-test after each."""
        return int(self._worker.admissions)

    def stop(self) -> None:
        self._worker.is_stopping = 1

    def bar(self) -> None:
        """Bar the worker, as it is at its start; a slot may do it as well as the main process."""
        self._worker.barred_at = self._worker.admissions

    def admit(self) -> None:
        if self.is_barred:
            self._worker.admissions += 1

    def enter(self, slot: int, state: SlotState) -> None:
        self._worker.slots[slot].state = state

    def count_game(self, slot: int, *, void: bool, plies: int) -> None:
        counts = self._worker.slots[slot]
        counts.voids += void
        counts.games += not void
        counts.plies += plies

    def number_in(self, state: SlotState) -> int:
        """The number of slots in ``state``, which is ``BUSY`` or ``HELD``: unused slots count as ``IDLE``."""
        return sum(slot.state == state for slot in self._worker.slots)

    def set_trouble(self, slot: int, why: str) -> None:
        """Note why a slot cannot play; "" if it can."""
        self._worker.slots[slot].trouble = why.encode()[:MAX_BYTES]

    @property
    def trouble(self) -> str:
        """Why the first slot that cannot play cannot; empty if all can."""
        troubles = (slot.trouble.decode(errors="ignore") for slot in self._worker.slots)
        return next(filter(None, troubles), "")

    @property
    def games(self) -> int:
        """Games played by all slots, without void games."""
        return sum(slot.games for slot in self._worker.slots)

    @property
    def voids(self) -> int:
        return sum(slot.voids for slot in self._worker.slots)

    @property
    def plies(self) -> int:
        """Plies of all games played."""
        return sum(slot.plies for slot in self._worker.slots)


SLOTS = Slots()
