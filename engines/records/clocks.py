"""Checks the times of a record's moves against its time control."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engines.records.headers import Disagreement, side_controls, start_history
from engines.records.model import Record
from engines.rules.base import RulesError, Side
from engines.timecontrol import TimeControl, TimeControlError

MARGIN_HEADERS = ("WhiteMargin", "BlackMargin")
"""The milliseconds granted on each move, if they are not ``MARGIN_MS``."""
MARGIN_MS = 50
ROUNDING_MS = 0.5
"""The most that a recorded time differs from the true one."""
CLOCK_FIELD = "clock"
"""``Disagreement.field`` of a move that took longer than it could."""


def check_clocks(record: Record) -> Iterator[Disagreement]:
    """A disagreement for each move that took longer than its clock allowed.

    A move without a time counts as taking none. Nothing is reported if the headers do not name the clocks.
    """
    try:
        first = start_history(record).position.side
        controls = side_controls(record)
    except (RulesError, TimeControlError):
        return  # reported by the check of the headers
    clocks = [
        _Clock(control, _margin_ms(record, side), float(control.base_ms or 0))
        for side, control in zip(Side, controls, strict=True)
    ]
    for ply, move in enumerate(record.moves, 1):
        side = first if ply % 2 else first.other
        used_ms = None if move.note is None else move.note.ms
        allowed_ms = clocks[side].allowed_ms
        if allowed_ms is not None and used_ms is not None and used_ms > allowed_ms:
            yield Disagreement(
                CLOCK_FIELD,
                f"ply {ply}: the move took {used_ms / 1000:.3f} s, but the clock allowed "
                f"{allowed_ms / 1000:.3f} s, margin included",
                move.line,
            )
        if not move.book:
            clocks[side].charge(used_ms or 0)


@dataclass(slots=True)
class _Clock:
    """A player's clock; it may show a little more than the true one, because recorded times are rounded."""

    control: TimeControl
    margin_ms: int
    left_ms: float
    _moves: int = 0

    @property
    def allowed_ms(self) -> float | None:
        """The most that the next move can have taken; None if there is no flag."""
        limits = [] if self.control.move_ms is None else [float(self.control.move_ms)]
        limits += [] if self.control.base_ms is None else [self.left_ms + self._moves * ROUNDING_MS]
        return min(limits) + self.margin_ms + ROUNDING_MS if limits else None

    def charge(self, used_ms: int) -> None:
        self._moves += 1
        self.left_ms = max(0.0, self.left_ms - used_ms) + self.control.increment_ms


def _margin_ms(record: Record, side: Side) -> int:
    text = record.header(MARGIN_HEADERS[side])
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else MARGIN_MS
