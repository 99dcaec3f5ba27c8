"""Measures the sandbox's cost: an engine's start, a message and its answer, and a turn with a stop after it.

    python -m workers.sandbox.entrance -- python -m benchmarks.sandbox

The engine is ``cat``, which answers every line with the same line. The levels of the sandbox are measured in
turn, so that other work of the machine affects all of them alike; the figures are medians. Root needs
``workers.sandbox.entrance``, which continues as another user.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from workers.engine.launch import plan_launch
from workers.engine.process import REAPER, EngineProcess
from workers.engine.sandbox_probe import probe
from workers.jobs import EngineSpec
from workers.sandbox.levels import describe
from workers.sandbox.sandbox import Sandbox

CAT = EngineSpec("cat", "", ("/usr/bin/cat",))
PYTHON = EngineSpec("python", "", ("python3", "-S", "-c", "for line in open(0): print(line, end='')"))
LINE = b"position startpos moves a1 b1 c1\n"
PATIENCE_NS = 30 * 10**9


@dataclass(slots=True)
class MeasuredLevel:
    """Measurements at one level of the sandbox, in microseconds; None is no sandbox."""

    name: str
    sandbox: Sandbox | None
    starts: list[float] = field(default_factory=list)
    python_starts: list[float] = field(default_factory=list)
    messages: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    clocked: list[float] = field(default_factory=list)
    """The part of a turn that is on the engine's clock: from ``go`` to the answer."""

    def measure(self, messages: int) -> None:
        self.python_starts.append(self._lifetime(PYTHON, 1, 1)[0])
        start, message, turn, clocked = self._lifetime(CAT, messages, messages)
        self.starts.append(start)
        self.messages.append(message)
        self.turns.append(turn)
        self.clocked.append(clocked)

    def _lifetime(self, spec: EngineSpec, messages: int, turns: int) -> tuple[float, float, float, float]:
        """The time to the first answer; then medians: a message, a turn, and the part of it on the clock."""
        began = time.perf_counter_ns()
        process = EngineProcess(plan_launch(spec, None, self.sandbox))
        try:
            _exchange(process)
            start = (time.perf_counter_ns() - began) / 1000
            message = statistics.median(_exchange(process) for _ in range(messages))
            whole, clocked = zip(*(_turn(process) for _ in range(turns)), strict=True)
        finally:
            process.kill()
        return start, message, statistics.median(whole), statistics.median(clocked)

    def row(self) -> str:
        start, python, message, turn, clocked = map(
            statistics.median, (self.starts, self.python_starts, self.messages, self.turns, self.clocked)
        )
        starts = f"{start / 1000:.1f} | {python / 1000:.1f}"
        return f"| {self.name} | {starts} | {message:.1f} | {turn:.1f} | {clocked:.1f} |"


def _exchange(process: EngineProcess) -> float:
    """Writes a line and reads the answer; returns the microseconds."""
    began = time.perf_counter_ns()
    process.write(LINE, time.monotonic_ns() + PATIENCE_NS)
    process.read_line(time.monotonic_ns() + PATIENCE_NS)
    process.end_move()
    return (time.perf_counter_ns() - began) / 1000


def _turn(process: EngineProcess) -> tuple[float, float]:
    """A turn of a game: the engine is continued, answers, is stopped, and its processor time is read.

    Returns the microseconds of all of it, and those of the exchange alone.
    """
    began = time.perf_counter_ns()
    process.wake()
    clocked = _exchange(process)
    process.rest()
    process.cpu_ns()
    return (time.perf_counter_ns() - began) / 1000, clocked


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sandbox", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=25, help="starts of each kind (25)")
    parser.add_argument("--messages", type=int, default=400, help="messages to each engine (400)")
    options = parser.parse_args()
    verdict, sandbox = probe("benchmark")
    print("\n".join(describe(verdict)), file=sys.stderr)
    levels = [MeasuredLevel("no sandbox", None)]
    if sandbox is not None:
        levels.append(MeasuredLevel("level B", Sandbox(sandbox.tools, None)))
        if sandbox.parent is not None:
            levels.append(MeasuredLevel(f"level A, cgroup v{sandbox.parent.version}", sandbox))
    for _ in range(options.rounds):
        for level in levels:
            level.measure(options.messages)
    REAPER.close()
    load = Path("/proc/loadavg").read_text().split()[0]
    messages = options.rounds * options.messages
    print(f"{options.rounds} starts and {messages} messages of each; load {load} at the end\n")
    print(
        "| | start of `cat`, ms | start of Python, ms | a message, µs | a turn, µs | of it on the clock, µs |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for level in levels:
        print(level.row())
    return 0


if __name__ == "__main__":
    sys.exit(main())
