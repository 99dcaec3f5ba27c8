"""One player's clock, by the rules of PROTOCOL.md. Arithmetic only: the caller measures time.

All times are in nanoseconds of a monotonic clock.
"""

from __future__ import annotations

from typing import Final

from engines.timecontrol import TimeControl

NS_PER_MS: Final = 1_000_000


class GameClock:
    """One player's clock. ``left_ns`` starts at the base time; None if the control has no clock.

    The flag of each move falls only after a margin, also with a fixed time per move. The margin is not
    added to the clock.
    """

    left_ns: int | None
    allowance_ns: int | None
    """The longest time the next move may take, margin included; None if no flag can fall."""

    def __init__(self, control: TimeControl, margin_ms: int) -> None:
        self._increment_ns = control.increment_ms * NS_PER_MS
        self._margin_ns = margin_ms * NS_PER_MS
        self._move_allowance_ns = (
            None if control.move_ms is None else control.move_ms * NS_PER_MS + self._margin_ns
        )
        self.left_ns = None if control.base_ms is None else control.base_ms * NS_PER_MS
        self.allowance_ns = self._allowance_ns()

    @property
    def left_ms(self) -> int | None:
        """Rounded down, so that an engine never receives more time than it has."""
        return None if self.left_ns is None else self.left_ns // NS_PER_MS

    def charge(self, used_ns: int) -> None:
        """Subtract a move's time, down to zero at most; then add the increment."""
        if self.left_ns is not None:
            self.left_ns = max(0, self.left_ns - used_ns) + self._increment_ns
            self.allowance_ns = self._allowance_ns()

    def _allowance_ns(self) -> int | None:
        if self.left_ns is None:
            return self._move_allowance_ns
        allowance_ns = self.left_ns + self._margin_ns
        if self._move_allowance_ns is None:
            return allowance_ns
        return min(allowance_ns, self._move_allowance_ns)
