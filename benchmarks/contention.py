"""Measures the fair clock: on an idle core, on a busy one, and against engines that try to gain by it.

    python -m workers.sandbox.entrance -- python -m benchmarks.contention

- ``idle``: how much less than wall time is charged where nothing else runs.
- ``busy``: a match at 0.03 s a move beside busy loops; no game may be lost on time.
- ``hostile``: what engines are charged that use threads, children and sleep in all the wrong ways.

Root needs ``workers.sandbox.entrance``, which continues as another user. Needs a C compiler.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measuring import Broken, describe_machine, head, parser_of, pinned, row
from benchmarks.overhead import draw_line
from benchmarks.strength import play
from engines import bots
from engines.rules.history import History
from engines.rules.registry import find_game
from engines.timecontrol import TimeControl
from workers.engine.child import REAPER
from workers.engine.fair_clock import find_clock_method
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer
from workers.engine.sandbox_probe import probe
from workers.game.referee import EngineMove, GameSetup, MoveRequest, PlayedGame, play_game
from workers.jobs import EngineSpec
from workers.sandbox.levels import describe
from workers.sandbox.sandbox import Sandbox

LADDER: Final = "dogon-kulei"
SOURCE: Final = Path(__file__).parent / "engines" / "evader.c"
C_BOT: Final = Path(bots.__file__).parent / "languages" / "dogon.c"
LOOP: Final = ("sh", "-c", "while :; do :; done")
LOOPS_A_CORE: Final = 4
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
    steps: int


class Watched:
    """A player that keeps the times of its moves."""

    def __init__(self, player: UgiPlayer) -> None:
        self._player = player
        self.moves: list[Move] = []
        self.prepare = player.prepare
        self.finish = player.finish

    def fast_channel(self) -> None:
        """Every answer is looked at here."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        choice = self._player.choose(turn)
        if choice.charge is None or choice.note is None:
            raise Broken("the clock is not fair here")
        times = (choice.charge.wall_ns / 1e6, choice.used_ns / 1e6)
        self.moves.append(Move(*times, choice.note.nodes or 0))
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
    options = parser.parse_args(arguments)
    verdict, sandbox = probe("benchmark")
    print(*describe_machine(), *(f"- {line}" for line in describe(verdict)), sep="\n")
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
                for line in PARTS[part](rig):
                    print(line, flush=True)
        except Broken as why:
            print(why, file=sys.stderr)
            return 1
        finally:
            REAPER.close()
    return 0


@contextmanager
def busy_loops(count: int, cores: Sequence[int]) -> Iterator[None]:
    """Busy loops on each core.

    Each has a session of its own: some kernels give all of a session one share of a core (``sched(7)``).
    """
    loops = []
    try:
        for core in count * list(cores):
            with pinned(frozenset({core})):
                loops.append(subprocess.Popen(LOOP, start_new_session=True))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure_idle(rig: Rig) -> Iterator[str]:
    yield head("a move takes, ms", "moves", "not charged, ms: median", "most", texts=0)
    with pinned(frozenset(_cores()[-1:])):
        for think_ms in IDLE_MS:
            moves = [move for how in HONEST for move in rig.play(how, think_ms)[0]]
            free = [move.wall - move.charged for move in moves]
            yield row(think_ms, len(moves), f"{statistics.median(free):.3f}", f"{max(free):.3f}")


def measure_busy(rig: Rig) -> Iterator[str]:
    """A bot in C against itself, a game on each core."""
    cores = _cores()[-2:]
    subprocess.run(("cc", "-O2", "-o", rig.folder / "dogon", C_BOT), check=True)
    engine = ("-engine", "cmd=./dogon", f"dir={rig.folder}", "tc=0.03/move", f"timemargin={MARGIN_MS}")
    words = [*engine, "name=One", *engine, "name=Two", "-game", LADDER, "-sandbox", "-openings", "random:4"]
    words += ["-rounds", "100", "-plylimit", "12", "-concurrency", str(len(cores))]
    words += ["-cpus", ",".join(map(str, cores)), "-records", str(rig.folder / "busy.pgn")]
    with busy_loops(LOOPS_A_CORE, cores):
        last = {event["event"]: event for event in play(words)}
    rows = last["table"]["rows"]
    yield head("busy loops a core", "games", "forfeited", "left out", texts=0)
    games = sum(rows[0][name] for name in ("wins", "draws", "losses"))
    yield row(LOOPS_A_CORE, games, sum(one["forfeits"] for one in rows), last["ended"]["left_out"])


def measure_hostile(rig: Rig) -> Iterator[str]:
    columns = ("wall, ms", "charged", "steps a charged ms", "ended by")
    yield head("engine", "core", *columns, texts=2)
    core = _cores()[-1:]
    with pinned(frozenset(core)):
        for title, loops in (("idle", 0), ("busy", LOOPS_A_CORE)):
            with busy_loops(loops, core):
                for how in (*HONEST, *HOSTILE):
                    yield _hostile_row(rig, how, title)


def _hostile_row(rig: Rig, how: str, title: str) -> str:
    moves, played = rig.play(how, THINK_MS)
    wall, charged = (sum(move.wall for move in moves), sum(move.charged for move in moves))
    steps = sum(move.steps for move in moves) / charged
    end = f"{played.termination} {played.evidence}".strip()
    return row(how, title, f"{wall / len(moves):.1f}", f"{charged / len(moves):.1f}", f"{steps:.0f}", end)


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


PARTS: Final = {"idle": measure_idle, "busy": measure_busy, "hostile": measure_hostile}

if __name__ == "__main__":
    sys.exit(main())
