"""Measures the sandbox's cost: an engine's start, a message and its answer, a turn, and the turns of games.

    python -m workers.sandbox.entrance -- python -m benchmarks.sandbox

Most is measured with ``cat``, which answers every line with the same line; the turns of games with an engine
in C that answers at once, by the referee. The levels of the sandbox are measured in turn, so that other work
of the machine affects all of them alike; the figures are medians. The last column compares with no sandbox in
the same run. Root needs ``workers.sandbox.entrance``, which continues as another user.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.lines import PLIES
from benchmarks.runs import Bench, compile_engine
from engines.records import Fault
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer
from workers.engine.process import REAPER, EngineProcess
from workers.engine.sandbox_probe import probe
from workers.game.referee import GameSetup, play_game
from workers.jobs import EngineSpec
from workers.sandbox.levels import describe
from workers.sandbox.sandbox import Sandbox

CAT = EngineSpec("cat", "", ("/usr/bin/cat",))
PYTHON = EngineSpec("python", "", ("python3", "-S", "-c", "for line in open(0): print(line, end='')"))
LINE = b"position startpos moves a1 b1 c1\n"
PATIENCE_NS = 30 * 10**9
CONTROL = TimeControl(base_ms=600_000)
LADDER = "dualma"
MARGIN_MS = 50
GAMES = 12
"""Games of each level in a round; the first is left out, because the engines start with it."""


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
    games: list[float] = field(default_factory=list)
    """The time of a turn in whole games."""

    def measure(self, messages: int, bench: Bench) -> None:
        self.games += _turns_of_games(bench, self.sandbox)
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

    def row(self, bare: MeasuredLevel) -> str:
        start, python, message, turn, clocked = map(
            statistics.median, (self.starts, self.python_starts, self.messages, self.turns, self.clocked)
        )
        starts = f"{start / 1000:.1f} | {python / 1000:.1f}"
        game, compared = (statistics.median(level.games) for level in (self, bare))
        in_games = f"{game:.1f} | {game - compared:+.1f} | {game / compared:.2f}"
        return f"| {self.name} | {starts} | {message:.1f} | {turn:.1f} | {clocked:.1f} | {in_games} |"


def _exchange(process: EngineProcess) -> float:
    """Writes a line and reads the answer; returns the microseconds."""
    began = time.perf_counter_ns()
    process.write(LINE, time.monotonic_ns() + PATIENCE_NS)
    process.read_line(time.monotonic_ns() + PATIENCE_NS)
    process.end_move()
    return (time.perf_counter_ns() - began) / 1000


def _turns_of_games(bench: Bench, sandbox: Sandbox | None) -> list[float]:
    """The microseconds of a turn, as the mean of each game, its preparation included."""
    spec = EngineSpec("Fixed line", "", (bench.engine.name, bench.line.name))
    players = [UgiPlayer(lambda: plan_launch(spec, bench.folder, sandbox), variant=LADDER) for _ in range(2)]
    taken: list[float] = []
    try:
        for _ in range(GAMES):
            setup = GameSetup(
                bench.game, History(bench.game, ply_limit=PLIES), (CONTROL, CONTROL), (MARGIN_MS, MARGIN_MS)
            )
            began = time.perf_counter_ns()
            played = play_game(setup, *players)
            taken.append((time.perf_counter_ns() - began) / 1000 / len(played.moves))
            if played.fault is not Fault.NONE:
                raise SystemExit(f"a game was not played: {played.evidence}")
    finally:
        for player in players:
            player.close()
    return taken[1:]


def _turn(process: EngineProcess) -> tuple[float, float]:
    """A turn of a game: the engine is continued, answers, is stopped, and its processor time is read.

    Returns the microseconds of all of it, and those of the exchange alone.
    """
    began = time.perf_counter_ns()
    process.wake()
    clocked = _exchange(process)
    process.rest()
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
    with tempfile.TemporaryDirectory(prefix="duarena-benchmark-") as name:
        bench = Bench(find_game(LADDER), compile_engine(Path(name)), Path(name))
        for _ in range(options.rounds):
            for level in levels:
                level.measure(options.messages, bench)
    REAPER.close()
    load = Path("/proc/loadavg").read_text().split()[0]
    messages, games = options.rounds * options.messages, options.rounds * (GAMES - 1)
    print(f"{options.rounds} starts, {messages} messages, {games} games of each; load {load} at the end\n")
    print(
        "| | start of `cat`, ms | start of Python, ms | a message, µs | a turn, µs | of it on the clock, µs"
        " | a turn in games, µs | more than without | ratio |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for level in levels:
        print(level.row(levels[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
