"""Measures the fair clock: on an idle core, on a busy one, and against engines that try to gain by it.

    python -m workers.sandbox.entrance -- python -m benchmarks.contention

- ``idle``: how much less than wall time is charged where nothing else runs.
- ``busy``: games of an engine against itself at 0.03 s a move beside busy loops, with the fair clock or on
  wall time; "late" are those with a move that took longer than its time and margin by wall time.
- ``hostile``: what engines are charged that use threads, children and sleep in all the wrong ways.

Root needs ``workers.sandbox.entrance``, which continues as another user. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.lines import draw_line
from benchmarks.machine import describe_machine
from benchmarks.output import head, parser_of, row
from benchmarks.runs import ROOT, pinned
from engines.records import Fault, MoveNote, Termination
from engines.rules.base import Side
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl
from workers.engine import process
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
LOOPS: Final = 8
LOOP: Final = ("sh", "-c", "while :; do :; done")
LANGUAGES: Final = ROOT / "engines" / "bots" / "languages"
GAMES: Final = 1000
THINK_MS: Final = 100
PLIES: Final = 24
CONTROL: Final = TimeControl(base_ms=600_000)
SLOT_PLIES: Final = 8
SLOT_CONTROL: Final = TimeControl(move_ms=30)
MARGIN_MS: Final = 50
ALLOWED_MS: Final = 80
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
        wall_ns = choice.charge.wall_ns if choice.charge else choice.used_ns
        note = choice.note or MoveNote()
        self.moves.append(Move(wall_ns / 1e6, choice.used_ns / 1e6, note.cpu_ms or 0, note.nodes or 0))
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
    parser = parser_of("contention", __doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--games", type=int, default=GAMES, help="of the busy part (%(default)s)")
    parser.add_argument("--engine", choices=BUILDS, default="python", help="of the busy part (%(default)s)")
    parser.add_argument("--without-fair-clock", action="store_true", help="busy games on wall time")
    parser.add_argument("--level-b", action="store_true", help="without control groups")
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
                for line in PARTS[part](rig, options):
                    print(line, flush=True)
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


def measure_idle(rig: Rig, options: argparse.Namespace) -> Iterator[str]:
    yield head("a move takes", "moves", "not charged, ms: median", "most")
    with pinned(frozenset(_cores()[-1:])):
        for think_ms in IDLE_MS:
            moves = [move for how in HONEST for move in rig.play(how, think_ms)[0]]
            free = [move.wall - move.charged for move in moves]
            yield row(f"{think_ms} ms", len(moves), f"{statistics.median(free):.3f}", f"{max(free):.3f}")


def measure_busy(rig: Rig, options: argparse.Namespace) -> Iterator[str]:
    """Games of one engine against itself in a slot on each core, beside busy loops."""
    cores = _cores()[-2:]
    command, ladder = BUILDS[options.engine](rig.folder)
    spec = EngineSpec(options.engine, "", command)
    shares = [len(range(number, options.games, len(cores))) for number in range(len(cores))]
    context = multiprocessing.get_context("spawn")  # each slot has a reaper and a sampler of its own
    with busy_loops(LOOPS, cores), ProcessPoolExecutor(len(cores), context) as pool:
        slots = [
            pool.submit(_play_slot, rig, spec, ladder, core, share, options.without_fair_clock)
            for core, share in zip(cores, shares, strict=True)
        ]
        games = [game for slot in slots for game in slot.result()]
    ends = Counter(end for end, _ in games)
    faults = ends.total() - sum(ends[end] for end in (Termination.TIME, Termination.VOID, *_WHOLE))
    late = sum(longest > ALLOWED_MS for _, longest in games)
    yield head(
        "engine", "clock", "games", "lost on time", "void", "other faults", "late by wall time", texts=2
    )
    clock = "wall time" if options.without_fair_clock else "fair clock"
    yield row(options.engine, clock, len(games), ends[Termination.TIME], ends[Termination.VOID], faults, late)


_WHOLE: Final = (Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT, Termination.RESIGNATION)


def _play_slot(
    rig: Rig, spec: EngineSpec, ladder: str, core: int, games: int, without_fair_clock: bool
) -> list[tuple[Termination, float]]:
    """Play in this process, which becomes the slot; how each game ended, and its longest move in ms."""
    os.sched_setaffinity(0, {core})
    if without_fair_clock:
        setattr(process, "own_core", lambda: None)  # noqa: B010
    game = find_game(ladder)
    players = [
        UgiPlayer(lambda: plan_launch(spec, rig.folder, rig.sandbox), variant=ladder) for _ in range(2)
    ]
    played = []
    try:
        for _ in range(games):
            history = History(game, ply_limit=SLOT_PLIES)
            setup = GameSetup(game, history, (SLOT_CONTROL, SLOT_CONTROL), (MARGIN_MS, MARGIN_MS))
            white, black = map(Watched, players)
            end = play_game(setup, white, black)
            played.append(
                (end.termination, max((move.wall for move in (*white.moves, *black.moves)), default=0.0))
            )
            for side, player in zip(Side, players, strict=True):
                if end.fault in (Fault.of(side), Fault.INFRASTRUCTURE):
                    player.kill()
    finally:
        for player in players:
            player.close()
        REAPER.close()
    return played


def _build_python(folder: Path) -> tuple[tuple[str, ...], str]:
    return ("python3", "-m", "engines.bots.alphabeta_bot"), "duovallis"


def _build_java(folder: Path) -> tuple[tuple[str, ...], str]:
    source = LANGUAGES / "Duovallis.java"
    subprocess.run(("javac", "--release", "11", "-d", folder / "classes", source), check=True)
    return ("java", "-Xmx128m", "-cp", "classes", "Duovallis"), "duovallis"


def _build_c(folder: Path) -> tuple[tuple[str, ...], str]:
    subprocess.run(("cc", "-O2", "-o", folder / "dogon", LANGUAGES / "dogon.c"), check=True)
    return ("dogon",), "dogon-kulei"


BUILDS: Final = {"python": _build_python, "java": _build_java, "c": _build_c}


def measure_hostile(rig: Rig, options: argparse.Namespace) -> Iterator[str]:
    core = _cores()[-1:]
    yield head(
        "engine", "core", "wall, ms", "charged", "own processor time", "steps a charged ms", "ended by"
    )
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
    return row(how, title, f"{wall:.1f}", f"{charged:.1f}", f"{cpu:.1f}", f"{steps:.0f}", end)


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


PARTS: Final = {"idle": measure_idle, "busy": measure_busy, "hostile": measure_hostile}

if __name__ == "__main__":
    sys.exit(main())
