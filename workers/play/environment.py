"""The environment of a game, for its record: the sandbox of the engines, their clock, the worker's speed."""

from __future__ import annotations

import re
import time

from workers.sandbox.withheld import PRESSURE, RUN_DELAY

STEPS = 20_000
ROUNDS = 40
"""Rounds of some milliseconds each; the fastest one counts."""

_SANDBOX = re.compile(r"level [AB], (freezer|SIGSTOP)")
_SPEED = re.compile(r"[0-9]{1,6}\.[0-9]")
_CLOCK = re.compile(f"{PRESSURE}|{RUN_DELAY}")


def measure_speed() -> str:
    """Millions of steps of a fixed loop per second of processor time, in this worker's Python.

    Compares two workers, or one worker at two times; other processes hardly affect it. Takes a tenth
    of a second.
    """
    return f"{STEPS / min(_round() for _ in range(ROUNDS)) * 1e3:.1f}"


def environment_headers(sandbox: str, speed: str, clock: str = "") -> tuple[tuple[str, str], ...]:
    """Record headers for the sandbox, speed and clock of a worker; unknown values are left out."""
    headers = (("Walls", sandbox, _SANDBOX), ("WorkerSpeed", speed, _SPEED), ("Clock", clock, _CLOCK))
    return tuple((name, value) for name, value, pattern in headers if pattern.fullmatch(value))


def _round() -> int:
    """The processor time of one round in nanoseconds."""
    began = time.thread_time_ns()
    number = 1
    for _ in range(STEPS):
        number = (number * 1103515245 + 12345) & 0x7FFFFFFF
    return time.thread_time_ns() - began
