"""The tables of a tournament's page: its crosstables, with the opponents of a gauntlet's challenger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from engines.arithmetic.standings import Criterion, GameScore, StandingsRow, format_points
from engines.rules.registry import GAMES
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Tournament
from tournament.sentences import isolated
from tournament.views.exports import TableLinks, table_links
from tournament.views.sorting import Sorting
from tournament.views.tournaments.meetings import (
    MeetingAddresses,
    RoundOf,
    bracket,
    swiss_rounds,
    tone_of,
)

CROSS_SORTED = {"bot": "name", "points": "-standing", "performance": "-performance", "rating": "-rating"}
"""The columns by which a crosstable can be sorted."""


@dataclass(frozen=True, slots=True)
class CrosstableCell:
    """One player's result against another.

    ``tone`` is the CSS class of the colour; ``address`` lists the games, "" if there are none.
    """

    points: str
    games: int
    tone: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class CrossRow:
    """One row of a crosstable; the player's cell against itself is None."""

    version: BotVersion
    rank: int
    number: int
    """That of its column, from 1, which stays when the rows are sorted; of a challenger 0."""
    points: str
    of: int
    """The number of games that the points are from, those included that were not played."""
    score: GameScore
    byes: int
    criteria: list[str]
    performance: int | None
    rating: float | None
    cells: list[CrosstableCell | None]
    games: str
    """The address of the list of the player's games."""

    @property
    def drawn_cells(self) -> SafeString:
        """The cells as HTML; not a template, which takes twenty times as long for ten thousand cells."""
        return mark_safe("".join(map(_draw_cell, self.cells)))  # safe: numbers, classes, our addresses

    @property
    def totals(self) -> SafeString:
        """The cells after the meetings: points, criteria, games, performance, rating."""
        return _draw_totals(self, self.points)

    @property
    def totals_of(self) -> SafeString:
        """The same with the number of games after the points."""
        return _draw_totals(self, f"{self.points} of {self.of}")

    @property
    def totals_against(self) -> SafeString:
        """The same with a link to the games of the first cell, if it has one."""
        points = f"{self.points} of {self.of}"
        address = self.cells[0].address if self.cells and self.cells[0] else ""
        return _draw_totals(self, _link(address, points) if address else points)

    @property
    def name(self) -> str:
        return isolated(self.version)

    @property
    def standing(self) -> int:
        """Higher for a better place in the standings."""
        return -self.number

    @property
    def is_withdrawn(self) -> bool:
        return self.version.state == BotVersion.State.WITHDRAWN


@dataclass(frozen=True, slots=True)
class Cross:
    """The tables of one ladder; the crosstable is shown only with ``with_meetings``."""

    sorting: Sorting

    code: str
    name: str
    headings: list[tuple[str, str]]
    rows: list[CrossRow]
    columns: list[str]
    """The names of the players, by the numbers of the rows."""
    with_meetings: bool
    challenger: CrossRow | None = None
    """The challenger of a gauntlet: ``rows`` are then its opponents, each with one cell, the result
    against it."""
    rounds: list[RoundOf] = field(default_factory=list)
    """The requested round of a Swiss, or all rounds of a knock-out (its bracket)."""
    made: Sequence[int] = ()
    """The numbers of the rounds drawn so far."""
    files: Sequence[TableLinks] = ()
    details: Any = None
    """What the template of the format needs besides."""


def crosses(
    tournament: Tournament,
    tables: Sequence[StandingsTable],
    sorting: Sorting,
    *,
    with_meetings: bool,
    round_number: int = 0,
) -> list[Cross]:
    """The tables of all ladders; for a Swiss with this round, 0 for the latest."""
    return [
        _cross(tournament, table, sorting, with_meetings=with_meetings, round_number=round_number)
        for table in tables
        if table.ladder in GAMES
    ]


def _cross(
    tournament: Tournament,
    table: StandingsTable,
    sorting: Sorting,
    *,
    with_meetings: bool,
    round_number: int,
) -> Cross:
    with_meetings = with_meetings and not tournament.format.is_staged
    columns = [criterion for criterion in tournament.format.order if criterion.heading]
    layout = _CrossRows(table, columns, MeetingAddresses(tournament.slug, table.ladder))
    shown = tournament.format.ranked_rows(table.crosstable, list(table.versions))
    challenger = next((row for rank, row in shown if rank is None), None)
    ranked = [(rank, row) for rank, row in shown if rank is not None]
    against = [row.player for _, row in ranked] if with_meetings else []
    opponents = against if challenger is None else [challenger.player]
    rows = [layout.row(row, rank, number, opponents) for number, (rank, row) in enumerate(ranked, 1)]
    return Cross(
        sorting,
        table.ladder,
        GAMES[table.ladder].name,
        [(criterion.heading, criterion.meaning) for criterion in columns],
        sorting.of_rows(rows),
        [row.name for row in rows],
        with_meetings,
        None if challenger is None else layout.row(challenger, 0, 0, against),
        bracket(table, layout.meetings)
        if table.bracket
        else swiss_rounds(table, layout.meetings, round_number),
        sorted({one.round for one in table.met}),
        _files(tournament, table),
        tournament.format.details(table),
    )


def _files(tournament: Tournament, table: StandingsTable) -> list[TableLinks]:
    names = ["standings", "crosstable", *(["pairings"] if tournament.format.is_staged else [])]
    return [
        table_links(name.title(), f"tournament-{name}", tournament.slug, ladder=table.ladder)
        for name in names
    ]


@dataclass(frozen=True, slots=True)
class _CrossRows:
    """Lays out the rows of one ladder's crosstable."""

    table: StandingsTable
    columns: Sequence[Criterion]
    meetings: MeetingAddresses

    def row(self, row: StandingsRow, rank: int, number: int, opponents: Sequence[int]) -> CrossRow:
        """A player's row, with one cell for each of these opponents."""
        return CrossRow(
            self.table.versions[row.player],
            rank,
            number,
            format_points(row.points),
            row.score.total,
            row.score,
            row.byes,
            [_criterion(row, criterion) for criterion in self.columns],
            row.performance,
            self.table.ratings.get(row.player),
            [None if other == row.player else self._cell(row, other) for other in opponents],
            self.meetings.of(self.table.versions[row.player]),
        )

    def _cell(self, row: StandingsRow, other: int) -> CrosstableCell:
        versions = self.table.versions
        return _cell(row.versus.get(other), self.meetings.between(versions[row.player], versions[other]))


def _draw_cell(cell: CrosstableCell | None) -> str:
    if cell is None:
        return '<td class="self" aria-hidden="true"></td>\n'
    games, points = cell.games, cell.points
    if not games:
        return '<td class="quiet">·</td>\n'
    text = f'{points}<span class="unseen"> of {games}</span>'
    if cell.address:
        text = _link(cell.address, text)
    of = f"of {games} game" if games == 1 else f"of {games} games"
    return f'<td class="{cell.tone}" title="{of}">{text}</td>\n'


def _link(address: str, text: str) -> str:
    return f'<a href="{address.replace("&", "&amp;")}">{text}</a>'


def _draw_totals(row: CrossRow, points: str) -> SafeString:
    score = row.score
    games = "\n".join(
        f'<span class="{kind}">{_link(f"{row.games}&result={result}", str(count)) if count else 0}</span>'
        for kind, result, count in (
            ("win", "won", score.wins),
            ("draw", "draw", score.draws),
            ("loss", "lost", score.losses),
        )
    )
    if score.not_played:
        title = "not played: half a point for both players, or a point for the opponent of a withdrawn bot"
        games += f'\n<span class="quiet" title="{title}">+{score.not_played}</span>'
    if row.byes:
        title = "a bye earns all points of a meeting"
        games += f'\n<span class="quiet" title="{title}">{row.byes} bye{"" if row.byes == 1 else "s"}</span>'
    performance = "" if row.performance is None else f"{row.performance:+d}"
    rating = "" if row.rating is None else f"{row.rating:.2f}"
    cells = "".join(f"<td>{text}</td>\n" for text in (*row.criteria, games, performance, rating))
    return mark_safe(f'<td class="total">{points}</td>\n{cells}')  # safe: numbers and our addresses


def _criterion(row: StandingsRow, criterion: Criterion) -> str:
    return f"{criterion.value_of(row, ()):.2f}".rstrip("0").rstrip(".")


def _cell(score: GameScore | None, address: str) -> CrosstableCell:
    if score is None or not score.total:
        return CrosstableCell("", 0, "")
    return CrosstableCell(
        format_points(score.points), score.total, tone_of(score.share), address if score.games else ""
    )
