"""Measures the match runner's cost of a move, compared with engines and pipes alone; prints Markdown tables.

Engines in C that answer at once play one fixed line against themselves in ``python -m workers match``:
every move is refereed and clocked, every game recorded. The same line in a bare loop over raw pipes
(``benchmarks.bare``), measured between the matches, is the lower bound of this machine at that moment.

    nice -n -15 python -m benchmarks.overhead --ladder dualma --games 1000
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measuring import Broken, describe_machine, head, parser_of, pinned, row
from engines.records import RecordError, Termination, read_records
from engines.rules.history import History
from engines.rules.playout import Dice
from engines.rules.registry import GAMES, Variant

ROUNDS: Final = 5
"""The number of measurements of each kind, in turn; medians are printed."""
LEAST_GAMES: Final = 220
"""Fewer games are reported in too few groups."""
INFOS: Final = 10
"""Lines of ``info`` before an answer, in the part that measures them."""
ROOT: Final = Path(__file__).parents[1]
ENGINE_SOURCE: Final = Path(__file__).parent / "engines" / "fixed_line.c"
WARM_UP: Final = 11
"""One of so many parts of a run is its beginning, which is not measured."""
TIME_CONTROL: Final = "10+0.1"
PLIES: Final = 100
"""The ply limit of measured games."""
TRIES: Final = 32
"""The most draws of one move."""
SEEDS: Final = {"duovallis": 113, "dogon-kulei": 1972, "duploline": 450}
"""By ladder, seeds of long lines; in DuploLine a game has about 50 plies at most."""

_GAME = re.compile(r" *\d+/\d+  ")
"""The beginning of a line about a game."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("overhead", __doc__)
    parser.add_argument("--ladder", action="append", choices=GAMES, help="only this ladder; may be repeated")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this table; may be repeated")
    parser.add_argument("--games", type=int, default=550, help="of each run (%(default)s)")
    options = parser.parse_args(arguments)
    if options.games < LEAST_GAMES:
        parser.error(f"--games must be at least {LEAST_GAMES}")
    cores = sorted(os.sched_getaffinity(0))[-2:]
    with tempfile.TemporaryDirectory() as name:
        engine = compile_engine(Path(name))
        benches = [Bench(GAMES[code], engine, Path(name)) for code in options.ladder or GAMES]
        print(*describe_machine(), sep="\n")
        try:
            for columns, measure in (PARTS[part] for part in options.part or PARTS):
                print("", head("ladder", *columns), sep="\n", flush=True)
                for bench in benches:
                    print(row(bench.game.code, *measure(bench, cores, options.games)), flush=True)
        except Broken as why:
            print(why, file=sys.stderr)
            return 1
    return 0


def measure_moves(bench: Bench, cores: Sequence[int], games: int, infos: int = 0) -> Sequence[str]:
    """One game at a time; the match's own process, its slot and the engines share one core."""
    alone = cores[-1:]
    bare, compiled, pure = _medians(
        lambda: time_bare(bench, games, core=cores[-1], infos=infos),
        lambda: time_match(bench, games, cores=alone, infos=infos),
        lambda: time_match(bench, games, cores=alone, infos=infos, pure=True),
    )
    times = [f"{seconds / bench.plies * 1e6:.1f}" for seconds in (bare, compiled, pure)]
    return str(bench.plies), *times[:2], f"{compiled / bare:.2f}", times[2], f"{pure / bare:.2f}"


def measure_two(bench: Bench, cores: Sequence[int], games: int) -> Sequence[str]:
    """Two games at a time, each on a core of its own, and one at a time with both cores."""
    one, two = _medians(
        lambda: time_match(bench, games, cores=cores),
        lambda: time_match(bench, games, cores=cores, at_a_time=2),
    )
    return f"{1 / one:.0f}", f"{1 / two:.0f}", f"{one / two:.2f}"


def _medians(*measures: Callable[[], float]) -> list[float]:
    """The median of each measurement; they take turns."""
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [statistics.median(figures) for figures in zip(*rounds, strict=True)]


def draw_line(game: Variant) -> list[str]:
    """The moves of one random game, ``PLIES`` if possible: a move that would end it is drawn again."""
    dice = Dice(SEEDS.get(game.code, 1))
    history = History(game, ply_limit=PLIES)
    while not history.outcome.decided:
        position = history.position
        for _ in range(TRIES):
            token = position.move_at(dice.draw(position.count_moves()))
            if not position.play(token).outcome().decided:
                break
        history.play(token)
    return history.moves


class Bench:
    """The compiled engine and its line on one ladder; ``folder`` is for files of the runs."""

    def __init__(self, game: Variant, engine: Path, folder: Path) -> None:
        self.game, self.folder = game, folder
        moves = draw_line(game)
        self.plies = len(moves)
        self.line = folder / f"{game.code}.line"
        self.line.write_text(" ".join(moves))
        self._engine = engine

    def command(self, infos: int = 0) -> tuple[str, ...]:
        return (str(self._engine), str(self.line), str(infos))


def compile_engine(folder: Path) -> Path:
    """Compile the engine; raises ``subprocess.CalledProcessError`` without a C compiler."""
    program = folder / ENGINE_SOURCE.stem
    subprocess.run(("cc", "-O2", "-o", program, ENGINE_SOURCE), check=True)
    return program


def time_match(
    bench: Bench,
    games: int,
    *,
    cores: Sequence[int],
    at_a_time: int = 1,
    pure: bool = False,
    infos: int = 0,
) -> float:
    """Seconds for a game in ``python -m workers match``, from its processes to the record file.

    ``cores`` are for all its processes, including its own.
    """
    records = bench.folder / "match.pgn"
    records.unlink(missing_ok=True)
    command, *arguments = bench.command(infos)
    engine = ("-engine", f"cmd={command}", *(f"arg={word}" for word in arguments))
    match = ("match", *engine, "name=One", *engine, "name=Two", "-game", bench.game.code, "-tc", TIME_CONTROL)
    terms = ("-openings", "none", "-plylimit", str(PLIES), "-games", "2", "-rounds", str(games // 2))
    conduct = ("-records", str(records), "-concurrency", str(at_a_time))
    argv = (sys.executable, "-m", "workers", *match, *terms, *conduct)
    seconds = _time_games(argv, cores, games, {"DUARENA_PURE": "1"} if pure else {})
    _check_records(records, games, bench.plies)
    return seconds


def time_bare(bench: Bench, games: int, *, core: int, infos: int = 0) -> float:
    """Seconds for a game in the bare loop."""
    argv = (sys.executable, "-m", "benchmarks.bare", str(bench.line), str(games), *bench.command(infos))
    return _time_games(argv, [core], games, {})


def _time_games(argv: Sequence[str], cores: Sequence[int], games: int, settings: Mapping[str, str]) -> float:
    """Seconds for a game: the mean of a run, without its beginning."""
    with pinned(frozenset(cores)):
        process = subprocess.Popen(
            argv, stdout=subprocess.PIPE, text=True, env={**os.environ, **settings}, cwd=ROOT
        )
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


MOVE_COLUMNS: Final = ("plies", "bare, µs a move", "compiled rules", "over bare", "pure rules", "over bare")
PARTS: Final[Mapping[str, tuple[Sequence[str], Callable[..., Sequence[str]]]]] = {
    "moves": (MOVE_COLUMNS, measure_moves),
    "infos": (MOVE_COLUMNS, partial(measure_moves, infos=INFOS)),
    "two": (("games a second, one at a time", "two at a time", "ratio"), measure_two),
}
"""By the value of ``--part``: the columns of a table and what measures one ladder on two cores."""

if __name__ == "__main__":
    sys.exit(main())
