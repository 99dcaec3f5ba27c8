"""Time controls, as written in records and on the command line.

``60+0.5`` is a clock of 60 seconds with half a second added after each move,
``0.1/move`` a time for each move, ``nodes=5000`` and ``depth=4`` limits of the
search; several are joined by ``;`` and all apply. This module does not measure time.
"""

from __future__ import annotations

import re
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache

from engines.protocol.format import format_message
from engines.protocol.messages import Go
from engines.rules.base import quote

MAX_LIMIT = 999_999_999
"""The largest number of milliseconds, nodes or plies; eleven days on the clock."""

_SECONDS = r"(?:0|[1-9][0-9]{0,5})(?:\.[0-9]{1,3})?"
_CLOCK = re.compile(rf"({_SECONDS})\+({_SECONDS})")
_MOVE = re.compile(rf"({_SECONDS})/move")
_COUNT = re.compile(r"(nodes|depth)=([1-9][0-9]{0,8})")
_HINT = "write 60+0.5, 0.1/move, nodes=5000 or depth=4"
_HINTS = (
    (re.compile(_SECONDS), "write 60+0 for 60 seconds without an increment"),
    (re.compile(r"[0-9]+/[0-9.:+]+"), "a clock is for the whole game: write 60+0.5, or 0.1/move"),
    (re.compile(r"[0-9]+:.*"), "a clock is in seconds: write 90+1 for a minute and a half"),
    (re.compile(r"inf(inite)?"), "a game needs a limit: write nodes=5000 or depth=4"),
)
"""What to write for the time controls of other programs."""


class TimeControlError(ValueError):
    """A time control that is misspelled or impossible; the text is a sentence for users."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """At least one limit; None means no such limit. Raises ``TimeControlError`` for other values."""

    base_ms: int | None = None
    increment_ms: int = 0
    move_ms: int | None = None
    nodes: int | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        limits = {"clock": self.base_ms, "move time": self.move_ms, "nodes": self.nodes, "depth": self.depth}
        if all(limit is None for limit in limits.values()):
            raise TimeControlError("a time control needs at least one limit")
        for name, limit in limits.items():
            if limit == 0 and name == "clock" and self.increment_ms:
                each = f"{_format_seconds(self.increment_ms)}/move"
                raise TimeControlError(f"a clock of 0 seconds has no time for the first move: write {each}")
            if limit is not None and not 1 <= limit <= MAX_LIMIT:
                raise TimeControlError(f"the {name} of a time control must be over 0 and at most {MAX_LIMIT}")
        if not 0 <= self.increment_ms <= (0 if self.base_ms is None else MAX_LIMIT):
            raise TimeControlError(f"an increment of {self.increment_ms} ms does not fit the clock")

    @property
    def is_timed(self) -> bool:
        """Whether a flag can fall; it cannot under nodes or depth alone."""
        return self.base_ms is not None or self.move_ms is not None

    def times(self, factor: int) -> TimeControl:
        """The same limits ``factor`` times as large, each at most ``MAX_LIMIT``."""
        limits = {name: limit for name, limit in asdict(self).items() if limit is not None}
        return TimeControl(**{name: min(factor * limit, MAX_LIMIT) for name, limit in limits.items()})

    def is_within(self, least: TimeControl, most: TimeControl) -> bool:
        """Whether it has the same kinds of limits as these two, each from the one's to the other's."""
        return all(
            one == low if one is None or low is None else low <= one <= (high or 0)
            for one, low, high in zip(astuple(self), astuple(least), astuple(most), strict=True)
        )


@lru_cache(maxsize=256)
def parse_time_control(text: str) -> TimeControl:
    """Parse ``text``, its parts in any order; raises ``TimeControlError`` naming the offending part."""
    limits: dict[str, int] = {}
    for part in text.split(";"):
        for name, value in _parse_part(part, text).items():
            if name in limits:
                raise TimeControlError(
                    f"time control {quote(text)} gives {quote(part)} a second limit of its kind"
                )
            limits[name] = value
    return TimeControl(**limits)


def _parse_part(part: str, text: str) -> dict[str, int]:
    if clock := _CLOCK.fullmatch(part):
        return {"base_ms": _parse_seconds(clock[1]), "increment_ms": _parse_seconds(clock[2])}
    if move := _MOVE.fullmatch(part):
        return {"move_ms": _parse_seconds(move[1])}
    if count := _COUNT.fullmatch(part):
        return {count[1]: int(count[2])}
    hint = next((hint for form, hint in _HINTS if form.fullmatch(part)), _HINT)
    raise TimeControlError(f"cannot read {quote(part)} in time control {quote(text)}: {hint}")


def _parse_seconds(text: str) -> int:
    whole, _, fraction = text.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0"))


def format_time_control(control: TimeControl) -> str:
    """The canonical spelling of ``control``: clock, move time, nodes, depth."""
    parts = []
    if control.base_ms is not None:
        parts.append(f"{_format_seconds(control.base_ms)}+{_format_seconds(control.increment_ms)}")
    if control.move_ms is not None:
        parts.append(f"{_format_seconds(control.move_ms)}/move")
    if control.nodes is not None:
        parts.append(f"nodes={control.nodes}")
    if control.depth is not None:
        parts.append(f"depth={control.depth}")
    return ";".join(parts)


def _format_seconds(ms: int) -> str:
    fraction = f"{ms % 1000:03}".rstrip("0")
    return f"{ms // 1000}.{fraction}" if fraction else str(ms // 1000)


@lru_cache(maxsize=256)
def go_pattern(control: TimeControl, increments_ms: tuple[int, int] | None = None) -> str:
    """The ``go`` line under ``control``; with clocks, it has a ``%d`` each for p1's and p2's time left in ms.

    ``increments_ms`` are p1's and p2's, if they differ from the control's.
    """
    if control.base_ms is None:
        return format_message(Go(movetime_ms=control.move_ms, nodes=control.nodes, depth=control.depth))
    p1_inc_ms, p2_inc_ms = increments_ms or (control.increment_ms, control.increment_ms)
    line = format_message(
        Go(
            p1_inc_ms=p1_inc_ms,
            p2_inc_ms=p2_inc_ms,
            movetime_ms=control.move_ms,
            nodes=control.nodes,
            depth=control.depth,
        )
    )
    return line.replace("go", "go p1time %d p2time %d", 1)
