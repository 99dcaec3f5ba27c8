"""Measures the match runner's cost of a move, compared with engines and pipes alone; prints Markdown tables.

Engines in C that answer at once play one fixed line against themselves in ``python -m workers match``:
every move is refereed and clocked, every game recorded. The same line in a bare loop over raw pipes
(``benchmarks.bare``), measured between the matches, is the lower bound of this machine at that moment.

    nice -n -15 python -m benchmarks.overhead --ladder dualma --games 1000
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.machine import describe_machine
from benchmarks.output import head, parser_of, row
from benchmarks.runs import (
    Bench,
    Broken,
    Setup,
    compile_engine,
    time_bare,
    time_match,
    time_start,
)
from engines.rules.registry import GAMES

ROUNDS: Final = 5
"""The number of measurements of each kind, in turn; medians are printed."""
LEAST_GAMES: Final = 220
"""Fewer games are reported in too few groups."""
INFOS: Final = 10
"""Lines of ``info`` before an answer, in the part that measures them."""
START_GAMES: Final = 110


@dataclass(frozen=True, slots=True)
class Part:
    """One table: ``rows`` measures one ladder on two cores, in runs of a number of games."""

    columns: tuple[str, ...]
    rows: Callable[[Bench, Sequence[int], int], Iterator[tuple[str, ...]]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.games < LEAST_GAMES:
        parser.error(f"--games must be at least {LEAST_GAMES}")
    cores = sorted(os.sched_getaffinity(0))[-2:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = compile_engine(folder)
        benches = [Bench(GAMES[code], engine, folder) for code in options.ladder or GAMES]
        print(*describe_machine(), sep="\n")
        try:
            for part in options.part or PARTS:
                for line in _table(PARTS[part], benches, cores, options.games):
                    print(line, flush=True)
        except Broken as why:
            print(why, file=sys.stderr)
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("overhead", __doc__)
    parser.add_argument("--ladder", action="append", choices=GAMES, help="only this ladder; may be repeated")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this table; may be repeated")
    parser.add_argument("--games", type=int, default=550, help="of each run (%(default)s)")
    return parser


def _table(part: Part, benches: Sequence[Bench], cores: Sequence[int], games: int) -> Iterator[str]:
    yield ""
    yield head("ladder", *part.columns)
    for bench in benches:
        for cells in part.rows(bench, cores, games):
            yield row(bench.game.code, *cells)


def measure_moves(
    bench: Bench, cores: Sequence[int], games: int, infos: int = 0
) -> Iterator[tuple[str, ...]]:
    """One game at a time; the match's own process, its slot and the engines share one core."""
    alone = frozenset(cores[-1:])
    bare, compiled, pure = _medians(
        lambda: time_bare(bench, cores[-1], games, infos),
        lambda: time_match(bench, Setup(alone, infos=infos), games),
        lambda: time_match(bench, Setup(alone, pure=True, infos=infos), games),
    )
    compared = [f"{seconds / bare:.2f}" for seconds in (compiled, pure)]
    times = [_us(seconds, bench) for seconds in (bare, compiled, pure)]
    yield str(bench.plies), times[0], times[1], compared[0], times[2], compared[1]


def measure_infos(bench: Bench, cores: Sequence[int], games: int) -> Iterator[tuple[str, ...]]:
    """The same with engines that send ``info`` lines before each move, in the bare loop too."""
    return measure_moves(bench, cores, games, INFOS)


def measure_two(bench: Bench, cores: Sequence[int], games: int) -> Iterator[tuple[str, ...]]:
    """Two games at a time, each on a core of its own, and one at a time with both cores."""
    both = frozenset(cores)
    one, two = _medians(
        lambda: time_match(bench, Setup(both), games),
        lambda: time_match(bench, Setup(both, at_a_time=2), games),
    )
    yield f"{1 / one:.0f}", f"{1 / two:.0f}", f"{one / two:.2f}"


def measure_start(bench: Bench, cores: Sequence[int], games: int) -> Iterator[tuple[str, ...]]:
    """The time that restarting both engines adds to a game, in addition to their own start and end."""
    alone = frozenset(cores[-1:])
    kept, restarted, start = _medians(
        lambda: time_match(bench, Setup(alone), START_GAMES),
        lambda: time_match(bench, Setup(alone, restart="on"), START_GAMES),
        lambda: time_start(bench, cores[-1], START_GAMES),
    )
    added, own = (restarted - kept) * 1e3, 2 * start * 1e3
    yield f"{added:.2f}", f"{own:.2f}", f"{added - own:.2f}"


def _us(seconds: float, bench: Bench) -> str:
    """A game's time as microseconds a move."""
    return f"{seconds / bench.plies * 1e6:.1f}"


def _medians(*measures: Callable[[], float]) -> list[float]:
    """The median of each measurement; they take turns."""
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [statistics.median(figures) for figures in zip(*rounds, strict=True)]


MOVE_COLUMNS: Final = ("compiled rules", "over bare", "pure rules", "over bare")
PARTS: Final = {
    "moves": Part(("plies", "bare, µs a move", *MOVE_COLUMNS), measure_moves),
    "infos": Part(("plies", f"bare with {INFOS} info lines, µs a move", *MOVE_COLUMNS), measure_infos),
    "two": Part(("games a second, one at a time", "two at a time", "ratio"), measure_two),
    "start": Part(
        ("restarting both, ms a game", "both engines' own start and end", "beyond that"), measure_start
    ),
}

if __name__ == "__main__":
    sys.exit(main())
