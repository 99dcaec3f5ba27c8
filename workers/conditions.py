"""Under which conditions a game was played: the walls around its engines, and how fast the worker is."""

from __future__ import annotations

import re
import time

STEPS = 20_000
ROUNDS = 40
"""Of some milliseconds each; the best one counts."""

_WALLS = re.compile(r"level [AB], (freezer|SIGSTOP)")
_SPEED = re.compile(r"[0-9]{1,6}\.[0-9]")


def measure_speed() -> str:
    """Millions of steps of a fixed loop in a second of processor time, on this worker's Python.

    Says how two workers compare, or one at two times; others hardly move it. Takes a tenth of a second.
    """
    return f"{STEPS / min(_round() for _ in range(ROUNDS)) * 1e3:.1f}"


def condition_headers(walls: str, speed: str) -> tuple[tuple[str, str], ...]:
    """Headers of a record; what a worker of ours would not have said is left out."""
    told = (("Walls", walls, _WALLS), ("WorkerSpeed", speed, _SPEED))
    return tuple((name, word) for name, word, form in told if form.fullmatch(word))


def _round() -> int:
    """The nanoseconds of one."""
    began = time.thread_time_ns()
    number = 1
    for _ in range(STEPS):
        number = (number * 1103515245 + 12345) & 0x7FFFFFFF
    return time.thread_time_ns() - began
