"""Measures the fair clock: on an idle core, on a busy one, and against engines that try to gain by it.

    python -m workers.sandbox.entrance -- python -m benchmarks.contention

- ``idle``: how much less than wall time is charged where nothing else runs.
- ``busy``: games of an engine against itself at 0.03 s a move beside busy loops or busy files, with the fair
  clock or without it, and what each slot lost of its core and its disk meanwhile, by the pressure information
  of a control group of version 2 that the user owns and this process is in.
- ``hostile``: what engines are charged that use threads, children and sleep in all the wrong ways.

Root needs ``workers.sandbox.entrance``, which continues as another user. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.lines import draw_line
from benchmarks.machine import describe_machine
from benchmarks.runs import ROOT, Broken, pinned
from engines.records import Fault, Termination
from engines.rules.base import Side
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl
from workers.engine import process
from workers.engine.child import REAPER
from workers.engine.fair_clock import find_clock_method
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer
from workers.engine.sandbox_probe import probe
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame, play_game
from workers.jobs import EngineSpec
from workers.sandbox.groups.hierarchies import read_memberships, read_mounts
from workers.sandbox.levels import describe
from workers.sandbox.sandbox import Sandbox
from workers.sandbox.withheld import parse_full_ns, run_delay_ns

LADDER: Final = "dogon-kulei"
SOURCE: Final = Path(__file__).parent / "engines" / "evader.c"
LOOPS: Final = 8
LOOP: Final = ("sh", "-c", "while :; do :; done")
WRITERS: Final = 6
FILE_MB: Final = 32
WRITER: Final = """
import os, sys
size, path = sys.argv[1:]
data, file = os.urandom(1 << 20), os.open(path, os.O_RDWR | os.O_CREAT)
while True:
    for place in range(int(size)):
        os.pwrite(file, data, place << 20)
        os.fsync(file)
"""
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
    parser.add_argument("--engine", choices=BUILDS, default="python", help="of the busy part (%(default)s)")
    parser.add_argument("--disk", action="store_true", help="beside busy files instead of busy loops")
    parser.add_argument("--without-fair-clock", action="store_true", help="busy games on wall time")
    parser.add_argument("--moves", type=Path, metavar="FILE", help="append the busy games as JSON lines")
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
        except Broken as why:
            print(why, file=sys.stderr)
            return 1
        finally:
            REAPER.close()
    return 0


@contextmanager
def busy_files(count: int) -> Iterator[None]:
    """Processes that write and sync files below the temporary folder without end, each one of ``FILE_MB``."""
    with tempfile.TemporaryDirectory(prefix="duarena-contention-files-") as folder:
        argv = (sys.executable, "-c", WRITER, str(FILE_MB))
        writers = [
            subprocess.Popen((*argv, f"{folder}/{number}"), start_new_session=True) for number in range(count)
        ]
        try:
            yield
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()


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
    yield "| a move takes | moves | not charged, ms: median | most |"
    yield "| ---: | ---: | ---: | ---: |"
    with pinned(frozenset(_cores()[-1:])):
        for think_ms in IDLE_MS:
            moves = [move for how in HONEST for move in rig.play(how, think_ms)[0]]
            free = [move.wall - move.charged for move in moves]
            yield f"| {think_ms} ms | {len(moves)} | {statistics.median(free):.3f} | {max(free):.3f} |"


def measure_busy(rig: Rig, options: argparse.Namespace) -> Iterator[str]:
    """Games of one engine against itself in a slot on each core, beside busy loops or busy files."""
    cores = _cores()[-2:]
    clock = "wall time" if options.without_fair_clock else "fair clock"
    began = os.getloadavg()[0]
    command, ladder = BUILDS[options.engine](rig.folder)
    spec = EngineSpec(options.engine, "", command)
    beside = busy_files(WRITERS) if options.disk else busy_loops(LOOPS, cores)
    shares = [len(range(number, options.games, len(cores))) for number in range(len(cores))]
    context = multiprocessing.get_context("spawn")  # each slot has a reaper and a sampler of its own
    with beside, ProcessPoolExecutor(len(cores), context) as pool:
        slots = [
            pool.submit(_play_slot, rig, Slot(core, spec, ladder, options.without_fair_clock), share)
            for core, share in zip(cores, shares, strict=True)
        ]
        games = [game for slot in slots for game in slot.result()]
    if options.moves is not None:
        with options.moves.open("a") as file:
            for game in games:
                file.write(json.dumps(asdict(game)) + "\n")
    ends = Counter(game.termination for game in games)
    late, void = ends.pop(Termination.TIME, 0), ends.pop(Termination.VOID, 0)
    faults = ends.total() - sum(ends[end] for end in _WHOLE)
    beside_words = f"{WRITERS} writers" if options.disk else f"{LOOPS} busy loops"
    yield "| engine | beside | clock | load | games | moves | lost on time | void | other faults |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    moves = sum(len(game.moves) for game in games)
    load = f"{began:.0f} to {os.getloadavg()[0]:.0f}"
    yield (
        f"| {options.engine} | {beside_words} | {clock} | {load} | {len(games)} | {moves} | {late} | {void} |"
        f" {faults} |"
    )
    yield "- games with a move that took longer than its time and margin by wall time: " + str(
        sum(any(move.wall > ALLOWED_MS for move in game.moves) for game in games)
    )
    cores_lost, disks_lost = (
        {number for number, game in enumerate(games) if any(lost[at] > MARGIN_MS for lost in _lost(game))}
        for at in range(2)
    )
    yield f"- games whose slot lost its core for longer than the margin in a move: {len(cores_lost)}"
    yield f"- the same, its disk: {len(disks_lost)}; core or disk: {len(cores_lost | disks_lost)}"
    for game in games:
        if game.termination not in _WHOLE:
            last = game.moves[-1] if game.moves else None
            yield f"- {game.termination}: {game.evidence}; {last}"


_WHOLE: Final = (Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT, Termination.RESIGNATION)


def _lost(game: SlotGame) -> list[tuple[float, float]]:
    return [(move.core_lost, move.disk_lost) for move in game.moves]


@dataclass(frozen=True, slots=True)
class Slot:
    """What a slot plays: an engine against itself."""

    core: int
    spec: EngineSpec
    ladder: str
    without_fair_clock: bool


@dataclass(frozen=True, slots=True)
class SlotMove:
    """One move in milliseconds; ``core_lost`` and ``disk_lost`` is how long nothing of its slot could go on.

    ``charged`` is None for a move that did not come, ``slot_waited`` how long the slot's own process waited
    for its core.
    """

    wall: float
    charged: float | None
    core_lost: float
    disk_lost: float
    slot_waited: float


@dataclass(frozen=True, slots=True)
class SlotGame:
    """How a game ended, and its moves."""

    termination: str
    evidence: str
    moves: tuple[SlotMove, ...]


class PressurePlayer:
    """A player that keeps for each of its moves what the control group ``group`` of its slot has lost."""

    def __init__(self, player: UgiPlayer, group: Path, moves: list[SlotMove]) -> None:
        self._player = player
        self._files = (group / "cpu.pressure", group / "io.pressure")
        self._moves = moves
        self.prepare = player.prepare
        self.finish = player.finish

    def line(self) -> None:
        """Every answer is looked at here."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        before, began_ns = self._lost_ns(), time.monotonic_ns()
        charged: float | None = None
        wall_ns = 0
        try:
            choice = self._player.choose(turn)
            charged = choice.used_ns / 1e6
            wall_ns = choice.used_ns if choice.charge is None else choice.charge.wall_ns
        finally:
            wall_ns = wall_ns or time.monotonic_ns() - began_ns
            lost = [(after - first) / 1e6 for first, after in zip(before, self._lost_ns(), strict=True)]
            self._moves.append(SlotMove(wall_ns / 1e6, charged, *lost))
        return choice

    def _lost_ns(self) -> tuple[int, int, int]:
        core, disk = (parse_full_ns(file.read_text()) for file in self._files)
        return core, disk, run_delay_ns("self")


def _play_slot(rig: Rig, slot: Slot, games: int) -> list[SlotGame]:
    """Play in this process, which becomes the slot; its engines are kept from game to game."""
    os.sched_setaffinity(0, {slot.core})
    group = _own_group(slot.core)
    if slot.without_fair_clock:
        setattr(process, "own_core", lambda: None)  # noqa: B010
    game = find_game(slot.ladder)
    players = [
        UgiPlayer(lambda: plan_launch(slot.spec, rig.folder, rig.sandbox), variant=slot.ladder)
        for _ in range(2)
    ]
    played = []
    try:
        for _ in range(games):
            moves: list[SlotMove] = []
            history = History(game, ply_limit=SLOT_PLIES)
            setup = GameSetup(game, history, (SLOT_CONTROL, SLOT_CONTROL), (MARGIN_MS, MARGIN_MS))
            white, black = (PressurePlayer(player, group, moves) for player in players)
            end = play_game(setup, white, black)
            played.append(SlotGame(end.termination, end.evidence, tuple(moves)))
            for side, player in zip(Side, players, strict=True):
                if end.fault in (Fault.of(side), Fault.INFRASTRUCTURE):
                    player.kill()
    finally:
        for player in players:
            player.close()
        REAPER.close()
    return played


def _own_group(core: int) -> Path:
    """Move this process to a control group of its own in its present one, which the user must own."""
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    own = dict(read_memberships(Path("/proc/self/cgroup").read_text()))
    group = mounts[""].folder_of(own[""]) / f"slot-{core}"
    group.mkdir(exist_ok=True)
    (group / "cgroup.procs").write_text(str(os.getpid()))
    return group


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
