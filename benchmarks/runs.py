"""The runs compared by ``benchmarks.overhead``: matches, the bare loop, and an engine's own start."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.lines import PLIES, draw_line
from engines.records import RecordError, Termination, read_records
from engines.rules.registry import Variant

ROOT: Final = Path(__file__).parents[1]
ENGINE_SOURCE: Final = Path(__file__).parent / "engines" / "fixed_line.c"
WARM_UP: Final = 11
"""One of so many parts of a run is its beginning, which is not measured."""
TIME_CONTROL: Final = "10+0.1"

_GAME = re.compile(r" *\d+/\d+  ")
"""The beginning of a line about a game."""


class Broken(Exception):
    """A run that did not play the expected games, so that its time means nothing."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The compiled engine and its line on one ladder; ``folder`` is for files of the runs."""

    game: Variant
    engine: Path
    folder: Path

    @property
    def line(self) -> Path:
        path = self.folder / f"{self.game.code}.line"
        if not path.exists():
            path.write_text(" ".join(draw_line(self.game)))
        return path

    @property
    def plies(self) -> int:
        return len(self.line.read_text().split())

    def command(self, infos: int = 0) -> tuple[str, ...]:
        return (str(self.engine), str(self.line), *((str(infos),) if infos else ()))


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of a match. ``cores`` are for all its processes, including its own."""

    cores: frozenset[int]
    at_a_time: int = 1
    restart: str = "off"
    pure: bool = False
    infos: int = 0


def compile_engine(folder: Path) -> Path:
    """Compile the engine; raises ``subprocess.CalledProcessError`` without a C compiler."""
    program = folder / ENGINE_SOURCE.stem
    subprocess.run(("cc", "-O2", "-o", program, ENGINE_SOURCE), check=True)
    return program


def time_match(bench: Bench, setup: Setup, games: int) -> float:
    """Seconds for a game in ``python -m workers match``, from its processes to the record file."""
    records = bench.folder / "match.pgn"
    records.unlink(missing_ok=True)
    command, *arguments = bench.command(setup.infos)
    engine = ("-engine", f"cmd={command}", *(f"arg={word}" for word in arguments))
    match = ("match", *engine, "name=One", *engine, "name=Two", "-game", bench.game.code, "-tc", TIME_CONTROL)
    terms = ("-openings", "none", "-plylimit", str(PLIES), "-games", "2", "-rounds", str(games // 2))
    conduct = ("-records", str(records), "-concurrency", str(setup.at_a_time), "-restart", setup.restart)
    environment = {**os.environ, **({"DUARENA_PURE": "1"} if setup.pure else {})}
    argv = (sys.executable, "-m", "workers", *match, *terms, *conduct)
    seconds = _time_games(argv, environment, setup.cores, games)
    _check_records(records, games, bench.plies)
    return seconds


def time_bare(bench: Bench, core: int, games: int, infos: int = 0) -> float:
    """Seconds for a game in the bare loop."""
    argv = (sys.executable, "-m", "benchmarks.bare", str(bench.line), str(games), *bench.command(infos))
    return _time_games(argv, os.environ, frozenset({core}), games)


def time_start(bench: Bench, core: int, times: int) -> float:
    """Seconds for the engine itself: start, handshake and quit."""
    taken = []
    with pinned(frozenset({core})):
        for _ in range(times):
            begun = time.monotonic()
            with subprocess.Popen(
                bench.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            ) as engine:
                engine.communicate(b"ugi\nisready\nquit\n")
            taken.append(time.monotonic() - begun)
    return statistics.median(taken)


def _time_games(
    argv: Sequence[str], environment: os._Environ[str] | dict[str, str], cores: frozenset[int], games: int
) -> float:
    """Seconds for a game: the mean of a run, without its beginning."""
    with pinned(cores):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(environment), cwd=ROOT)
    assert process.stdout is not None
    ends = [time.monotonic() for line in process.stdout if _GAME.match(line)]
    if process.wait() or len(ends) != games:
        raise Broken(f"{len(ends)} of {games} games, exit code {process.returncode}: {' '.join(argv)}")
    return seconds_a_game(ends)


def seconds_a_game(ends: Sequence[float]) -> float:
    """Seconds for a game, from the times at which games were reported; without the beginning of the run.

    A match reports quick games together. Therefore the measurement begins at the end of such a group, which
    is before the longest gap, and ends with the last game. A part of a group would count games without their
    time.
    """
    size = len(ends) // WARM_UP
    begin = max(range(size, 2 * size + 1), key=lambda game: ends[game + 1] - ends[game])
    return (ends[-1] - ends[begin]) / (len(ends) - 1 - begin)


def _check_records(path: Path, games: int, plies: int) -> None:
    """Check that every game is recorded, and ended by the rules of the game or the match."""
    with path.open() as file:
        read = list(read_records(file, str(path)))
    ends = {Termination.RULES, Termination.REPETITION, Termination.PLY_LIMIT}
    for record in read:
        if isinstance(record, RecordError):
            raise Broken(str(record))
        if record.header("Termination") not in ends or len(record.moves) != plies:
            raise Broken(f"{record.source and record.source.at()}: not the expected line")
    if len(read) != games:
        raise Broken(f"{path} holds {len(read)} games of {games}")


@contextmanager
def pinned(cores: frozenset[int]) -> Iterator[None]:
    """Processes that are started inside run only on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
