"""The table of a match: ranks, points, and Elo with an interval that also holds for few games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engines.rules.base import Side
from workers.intervals import EloInterval, interval
from workers.match.results import Scores
from workers.statistics import Counts, Pentanomial, Wdl


@dataclass(frozen=True, slots=True)
class TableRow:
    """One engine against all opponents; ``white`` and ``black`` are its games by colour, from its side."""

    name: str
    white: Wdl
    black: Wdl
    pairs: Pentanomial
    forfeits: int
    is_withdrawn: bool

    @property
    def games(self) -> Wdl:
        return _sum([self.white, self.black])

    @property
    def counts(self) -> Counts:
        """The counts for the Elo estimate: pairs if there are any, else games."""
        return self.pairs if self.pairs.games else self.games

    @property
    def interval(self) -> EloInterval:
        return interval(self.counts)


def rank_rows(scores: Scores, ladders: Sequence[str], withdrawn: Sequence[str] = ()) -> list[TableRow]:
    """A row for each engine, sorted by its share of points; ties are in the order of the engines."""
    rows = [
        TableRow(
            name=name,
            white=scores.games(ladders, name, Side.WHITE),
            black=scores.games(ladders, name, Side.BLACK),
            pairs=scores.pairs(ladders, name),
            forfeits=sum(scores.forfeits[ladder, name] for ladder in ladders),
            is_withdrawn=name in withdrawn,
        )
        for name in scores.names
    ]
    return sorted(rows, key=lambda row: -share(row.games))


def points(games: Wdl) -> float:
    return games.wins + games.draws / 2


def share(games: Wdl) -> float:
    """The share of the points, from 0 to 1; 0.5 without games."""
    return points(games) / games.games if games.games else 0.5


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
"""From this share of the games on, forfeits are mentioned."""


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
        return (str(rank), name, "0", *[""] * (len(TITLES) - 3))
    found = row.interval
    return (
        str(rank),
        name,
        str(games.games),
        f"{points(games):.1f}",
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
