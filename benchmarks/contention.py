"""Measures the fair clock: on an idle core, on a busy one, and against engines that try to gain by it.

    python -m workers.sandbox.entrance -- python -m benchmarks.contention

- ``idle``: how much less than wall time is charged where nothing else runs.
- ``busy``: games of the sample bots at 0.1 s a move beside busy loops, with the sandbox's fair clock and, for
  comparison, a tenth of them without a sandbox, where wall time is charged.
- ``hostile``: what engines are charged that use threads, children and sleep in all the wrong ways.

Root needs ``workers.sandbox.entrance``, which continues as another user. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.lines import draw_line
from benchmarks.machine import describe_machine
from benchmarks.runs import ROOT, Broken, pinned
from engines.records import RecordError, Termination, read_records
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl
from workers.engine.fair_clock import find_clock_method
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer
from workers.engine.process import REAPER
from workers.engine.sandbox_probe import probe
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame, play_game
from workers.jobs import EngineSpec
from workers.sandbox.levels import describe
from workers.sandbox.sandbox import Sandbox

LADDER: Final = "dogon-kulei"
SOURCE: Final = Path(__file__).parent / "engines" / "evader.c"
SAMPLES: Final = ("random_bot", "greedy_bot", "alphabeta_bot", "mcts_bot")
LOOPS: Final = 8
LOOP: Final = ("sh", "-c", "while :; do :; done")
GAMES: Final = 1000
THINK_MS: Final = 100
PLIES: Final = 24
CONTROL: Final = TimeControl(base_ms=600_000)
MARGIN_MS: Final = 50
IDLE_MS: Final = (2, 20, 200)
HOSTILE: Final = ("threads", "relay", "children", "ticks", "tocks")
HONEST: Final = ("honest", "sleeper")


@dataclass(frozen=True, slots=True)
class Move:
    """One move in milliseconds; ``steps`` is how much the engine says that it has computed."""

    wall: float
    charged: float
    cpu: float
    steps: int


class Watched:
    """A player that keeps the times of its moves."""

    def __init__(self, player: UgiPlayer) -> None:
        self._player = player
        self.moves: list[Move] = []
        self.prepare = player.prepare
        self.finish = player.finish

    def line(self) -> None:
        """Every answer is looked at here."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        choice = self._player.choose(turn)
        if choice.charge is None or choice.note is None:
            raise Broken("the clock is not fair here")
        self.moves.append(
            Move(
                choice.charge.wall_ns / 1e6,
                choice.used_ns / 1e6,
                choice.note.cpu_ms or 0,
                choice.note.nodes or 0,
            )
        )
        return choice


@dataclass(frozen=True, slots=True)
class Rig:
    """The sandbox and the compiled engine."""

    sandbox: Sandbox
    folder: Path

    def play(self, how: str, think_ms: int) -> tuple[list[Move], PlayedGame]:
        """The moves of an engine against one that sleeps for a moment, and how the game ended."""
        line = draw_line(find_game(LADDER))[:PLIES]
        players = [
            UgiPlayer(lambda spec=spec: plan_launch(spec, self.folder, self.sandbox), variant=LADDER)  # type: ignore[misc]
            for spec in (
                EngineSpec(how, "", ("evader", how, str(think_ms), *line)),
                EngineSpec("opponent", "", ("evader", "sleeper", "2", *line)),
            )
        ]
        game = find_game(LADDER)
        setup = GameSetup(game, History(game, ply_limit=PLIES), (CONTROL, CONTROL), (MARGIN_MS, MARGIN_MS))
        white = Watched(players[0])
        try:
            return white.moves, play_game(setup, white, players[1])
        finally:
            for player in players:
                player.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contention", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--games", type=int, default=GAMES, help="of the busy part (%(default)s)")
    parser.add_argument(
        "--level-b", action="store_true", help="without control groups; not for the busy part"
    )
    options = parser.parse_args(arguments)
    verdict, sandbox = probe("benchmark")
    print(*describe_machine(), *(f"- {line}" for line in describe(verdict)), sep="\n")
    if sandbox is not None and options.level_b:
        sandbox = Sandbox(sandbox.tools, None)
    print(f"- {find_clock_method(sandbox, is_pinned=True).sentence}", flush=True)
    if sandbox is None:
        return 1
    with tempfile.TemporaryDirectory(prefix="duarena-contention-") as name:
        rig = Rig(sandbox, Path(name))
        rig.folder.chmod(0o755)
        subprocess.run(("cc", "-O1", "-pthread", "-o", rig.folder / "evader", SOURCE), check=True)
        try:
            for part in options.part or PARTS:
                print()
                for line in PARTS[part](rig, options.games):
                    print(line, flush=True)
        except Broken as why:
            print(why, file=sys.stderr)
            return 1
        finally:
            REAPER.close()
    return 0


@contextmanager
def busy_loops(count: int, cores: Sequence[int]) -> Iterator[None]:
    """Busy loops, spread over the cores.

    Each has a session of its own: some kernels give all of a session one share of a core (``sched(7)``).
    """
    loops = []
    try:
        for number in range(count):
            with pinned(frozenset({cores[number % len(cores)]})):
                loops.append(subprocess.Popen(LOOP, start_new_session=True))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure_idle(rig: Rig, games: int) -> Iterator[str]:
    yield "| a move takes | moves | not charged, ms: median | most |"
    yield "| ---: | ---: | ---: | ---: |"
    with pinned(frozenset(_cores()[-1:])):
        for think_ms in IDLE_MS:
            moves = [move for how in HONEST for move in rig.play(how, think_ms)[0]]
            free = [move.wall - move.charged for move in moves]
            yield f"| {think_ms} ms | {len(moves)} | {statistics.median(free):.3f} | {max(free):.3f} |"


def measure_busy(rig: Rig, games: int) -> Iterator[str]:
    cores = _cores()[-2:]
    beside = f"beside {LOOPS} busy loops on {len(cores)} cores"
    yield f"| {beside} | games | moves | time forfeits | void | other faults |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    with busy_loops(LOOPS, cores), pinned(frozenset(cores)):
        for title, words, count in (
            ("fair clock", ("-sandbox",), games),
            ("wall time", (), max(games // 10, 12)),
        ):
            counts, moves = _play_match(rig.folder / f"{title.replace(' ', '-')}.pgn", words, count)
            late, void = counts.pop(Termination.TIME, 0), counts.pop(Termination.VOID, 0)
            whole = sum(counts[end] for end in _WHOLE)
            yield (
                f"| {title} | {counts.total() + late + void} | {moves} | {late} | {void} |"
                f" {counts.total() - whole} |"
            )


_WHOLE: Final = (Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT, Termination.RESIGNATION)


def _play_match(records: Path, words: Sequence[str], games: int) -> tuple[Counter[str], int]:
    """How the games of a round robin of the sample bots ended, and the number of their moves."""
    bots = [word for name in SAMPLES for word in ("-engine", f"cmd=python3 -m engines.bots.{name}")]
    meetings = len(SAMPLES) * (len(SAMPLES) - 1)
    rounds = -(-games // meetings)
    match = ("match", *bots, "-game", LADDER, "-tc", f"{THINK_MS / 1000:g}/move", "-rounds", str(rounds))
    argv = (sys.executable, "-m", "workers", *match, "-concurrency", "2", "-records", str(records), *words)
    subprocess.run(argv, check=False, cwd=ROOT, stdout=subprocess.DEVNULL)
    counts: Counter[str] = Counter()
    moves = 0
    with records.open() as file:
        for record in read_records(file, str(records)):
            if isinstance(record, RecordError):
                raise Broken(str(record))
            counts[record.header("Termination")] += 1
            moves += len(record.moves)
    return counts, moves


def measure_hostile(rig: Rig, games: int) -> Iterator[str]:
    core = _cores()[-1:]
    yield "| engine | core | wall, ms | charged | own processor time | steps a charged ms | ended by |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- |"
    with pinned(frozenset(core)):
        for title, loops in (("idle", 0), ("busy", LOOPS // 2)):
            with busy_loops(loops, core):
                for how in (*HONEST, *HOSTILE):
                    yield _hostile_row(rig, how, title)


def _hostile_row(rig: Rig, how: str, title: str) -> str:
    moves, played = rig.play(how, THINK_MS)
    wall, charged, cpu = (
        statistics.mean(times)
        for times in zip(*((move.wall, move.charged, move.cpu) for move in moves), strict=True)
    )
    steps = sum(move.steps for move in moves) / sum(move.charged for move in moves)
    end = f"{played.termination} {played.evidence}".strip()
    return f"| {how} | {title} | {wall:.1f} | {charged:.1f} | {cpu:.1f} | {steps:.0f} | {end} |"


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


PARTS: Final = {"idle": measure_idle, "busy": measure_busy, "hostile": measure_hostile}

if __name__ == "__main__":
    sys.exit(main())
