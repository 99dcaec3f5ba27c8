"""The results of games, their sums, and the table of a match. Pure.

Elo has an interval that also holds for few games.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engines.arithmetic.intervals import EloInterval, interval
from engines.arithmetic.statistics import Pentanomial, Wdl
from engines.records import Fault, Termination
from engines.rules.base import Result, Side
from workers.match.plan import pair_key

HALF_POINTS = {Result.BLACK_WINS: 0, Result.DRAW: 1, Result.WHITE_WINS: 2}
"""The points of White, in half points."""


class GameResult(NamedTuple):
    """One game with a result; ``white`` and ``black`` are the engines' names.

    ``has_moves`` is whether an engine chose a move. ``line`` identifies the start and the moves: two games
    with the same one are copies; empty if unknown.
    """

    key: str
    ladder: str
    white: str
    black: str
    result: Result
    termination: str
    fault: str
    has_moves: bool = True
    line: str = ""

    @property
    def is_void(self) -> bool:
        return self.termination == Termination.VOID

    @property
    def culprit(self) -> str | None:
        """The name of the engine that forfeited the game, or None."""
        if self.fault == Fault.WHITE:
            return self.white
        return self.black if self.fault == Fault.BLACK else None

    @property
    def is_failed_start(self) -> bool:
        """Whether an engine crashed or stalled before any engine chose a move."""
        is_ours = self.termination in (Termination.CRASH, Termination.STALL)
        return is_ours and self.culprit is not None and not self.has_moves

    @property
    def has_fault(self) -> bool:
        """Whether the game is void or a forfeit."""
        return self.is_void or self.culprit is not None

    def half_points(self, name: str) -> int:
        points = HALF_POINTS[self.result]
        return points if name == self.white else 2 - points


def line_of(fen: str | None, tokens: Iterable[str]) -> str:
    """As ``GameResult.line``: a digest of the start and the moves of a game; None is the initial position."""
    text = f"{fen or ''}\n{' '.join(tokens)}"
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


class Scores:
    """The sums of a match's games, which may be added in any order. ``names`` are those of the engines."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.forfeits: Counter[tuple[str, str]] = Counter()
        """The number of forfeits, by ladder and engine."""
        self.copies: Counter[str] = Counter()
        """The number of games of each ladder that are copies of an earlier game of the same engines."""
        self._lines: set[tuple[str, frozenset[str], str]] = set()
        self._games: Counter[tuple[str, str, Side, int]] = Counter()
        """The number of games by ladder, engine, its colour and its half points."""
        self._pairs: Counter[tuple[str, str, int]] = Counter()
        """The number of pairs by ladder, engine and its half points."""
        self._halves: dict[str, GameResult] = {}

    def add(self, game: GameResult) -> int | None:
        """Count a game; if it completes its pair, returns the half points (0 to 4) of the engine named first.

        None if it does not.
        """
        for side, name in ((Side.WHITE, game.white), (Side.BLACK, game.black)):
            self._games[game.ladder, name, side, game.half_points(name)] += 1
        if game.culprit is not None:
            self.forfeits[game.ladder, game.culprit] += 1
        line = (game.ladder, frozenset((game.white, game.black)), game.line)
        if game.line and game.has_moves:
            self.copies[game.ladder] += line in self._lines
            self._lines.add(line)
        key = pair_key(game.key)
        other = self._halves.pop(key, None)
        if other is None:
            self._halves[key] = game
            return None
        one, two = sorted((game.white, game.black), key=self.names.index)
        points = game.half_points(one) + other.half_points(one)
        self._pairs[game.ladder, one, points] += 1
        self._pairs[game.ladder, two, 4 - points] += 1
        return points

    def games(self, ladders: Sequence[str], name: str, side: Side) -> Wdl:
        """The games of ``name`` with this colour, from its own side."""
        return Wdl(*(sum(self._games[code, name, side, points] for code in ladders) for points in range(3)))

    def pairs(self, ladders: Sequence[str], name: str) -> Pentanomial:
        """The complete pairs of ``name`` against all others."""
        return Pentanomial(*(sum(self._pairs[code, name, points] for code in ladders) for points in range(5)))


# The table

_NOTHING: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class TableRow:
    """One engine against all opponents; ``white`` and ``black`` are its games by colour, from its side."""

    name: str
    white: Wdl
    black: Wdl
    pairs: Pentanomial
    forfeits: int
    is_withdrawn: bool
    points: float
    """Those of its games; in a Swiss also those of byes and of games that were not played."""

    @property
    def games(self) -> Wdl:
        return _sum([self.white, self.black])

    @property
    def interval(self) -> EloInterval:
        return interval(self.counts)

    @property
    def counts(self) -> Pentanomial | Wdl:
        """The pairs if there are any, else the games."""
        return self.pairs if self.pairs.games else self.games


def rank_rows(
    scores: Scores,
    ladders: Sequence[str],
    withdrawn: Sequence[str] = (),
    earned: Mapping[str, float] = _NOTHING,
    points: Mapping[str, float] = _NOTHING,
) -> list[TableRow]:
    """A row for each engine, sorted by its share of points; ties are in the order of the engines.

    ``earned`` orders them first, ``points`` replaces those of their games, both by name.
    """
    rows = [
        TableRow(
            name=name,
            white=(white := scores.games(ladders, name, Side.WHITE)),
            black=(black := scores.games(ladders, name, Side.BLACK)),
            pairs=scores.pairs(ladders, name),
            forfeits=sum(scores.forfeits[ladder, name] for ladder in ladders),
            is_withdrawn=name in withdrawn,
            points=points.get(name, points_of(_sum([white, black]))),
        )
        for name in scores.names
    ]
    return sorted(rows, key=lambda row: (-earned.get(row.name, 0), -share(row.games)))


def points_of(games: Wdl) -> float:
    return games.wins + games.draws / 2


def share(games: Wdl) -> float:
    """The share of the points, from 0 to 1; 0.5 without games."""
    return points_of(games) / games.games if games.games else 0.5


TITLES = tuple(" ,engine,games,points,score,Elo,low,high,LOS,draws,LL-LD-DD-WD-WW,white,forfeits".split(","))
NAME = TITLES.index("engine")


def format_table(rows: Sequence[TableRow]) -> Iterator[str]:
    """The table as lines of text.

    ``low`` and ``high`` are the ends of a 95 % interval; ``white`` is the score in the games with White.
    """
    cells = [TITLES, *(_cells(rank, row) for rank, row in enumerate(rows, 1))]
    widths = [max(len(line[column]) for line in cells) for column in range(len(TITLES))]
    for line in cells:
        columns = enumerate(zip(line, widths, strict=True))
        yield "  ".join(cell.ljust(w) if at == NAME else cell.rjust(w) for at, (cell, w) in columns).rstrip()
    white = _sum([row.white for row in rows])
    if white.games:
        yield f"White scored {share(white):.1%} of {white.games} games."


FORFEIT_SHARE = 0.05
"""The least share of the games at which forfeits are mentioned."""


def remarks(scores: Scores, ladders: Sequence[str], rows: Sequence[TableRow]) -> Iterator[str]:
    """Sentences on what makes the table's numbers less meaningful than they look."""
    games = sum(row.games.games for row in rows) // 2
    forfeits = {row.name: row.forfeits for row in rows if row.forfeits}
    total = sum(forfeits.values())
    if total and total >= FORFEIT_SHARE * games:
        by_engine = ", ".join(f"{name} {count}" for name, count in forfeits.items())
        yield f"{total} of {games} games are forfeits ({by_engine}): the table shows faults, not strength."
    copies = sum(scores.copies[ladder] for ladder in ladders)
    if copies:
        yield (
            f"Copies of other games: {copies} of {games}, {games - copies} distinct. "
            "The interval is too narrow; use more openings."
        )


def _sum(parts: Sequence[Wdl]) -> Wdl:
    return Wdl(*(sum(cells) for cells in zip(*(part.cells for part in parts), strict=True)))


def _cells(rank: int, row: TableRow) -> tuple[str, ...]:
    games = row.games
    name = f"{row.name} (withdrawn)" if row.is_withdrawn else row.name
    if not games.games:
        return (str(rank), name, "0", f"{row.points:.1f}" if row.points else "", *[""] * (len(TITLES) - 4))
    found = row.interval
    return (
        str(rank),
        name,
        str(games.games),
        f"{row.points:.1f}",
        f"{share(games):.1%}",
        f"{found.elo:+.1f}",
        f"{found.low:+.1f}",
        f"{found.high:+.1f}",
        f"{found.los:.1%}",
        f"{games.draws / games.games:.1%}",
        "-".join(map(str, row.pairs.cells)) if row.pairs.games else "",
        f"{share(row.white):.1%}" if row.white.games else "",
        str(row.forfeits),
    )
