"""A tournament's tables as its page draws them: crosstables, rounds, brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engines.rules.registry import GAMES
from tournament.arithmetic.standings import Criterion, GameScore, StandingsRow
from tournament.forms import isolated
from tournament.models import BotVersion, Tournament
from tournament.services.results.ratings import tournament_table
from tournament.services.schedule.tables import ORDERS, StandingsTable, tables_of
from workers.pairing.knockout import KnockoutMatch
from workers.pairing.results import find_byes

MOST_FOLDED = 10_000
"""Games of a tournament whose ratings are computed while its page is asked for."""
HEADINGS = {
    Criterion.BUCHHOLZ: ("Buch.", "Buchholz: the points of those met"),
    Criterion.SONNEBORN_BERGER: (
        "SB",
        "Sonneborn-Berger: the points of those beaten, half of those drawn with",
    ),
    Criterion.MATCHES: ("Won", "matches won, byes included"),
}
"""Criteria that have a column of their own, with what the column is called and means."""


@dataclass(frozen=True, slots=True)
class CrosstableCell:
    """One player against another; ``tone`` is the class that colours it."""

    points: str
    games: int
    tone: str


@dataclass(frozen=True, slots=True)
class CrossRow:
    """One line of a crosstable; the cell against oneself is None."""

    version: BotVersion
    rank: int
    points: str
    score: GameScore
    byes: int
    criteria: list[str]
    performance: int | None
    rating: float | None
    cells: list[CrosstableCell | None]

    @property
    def name(self) -> str:
        return isolated(self.version)


@dataclass(frozen=True, slots=True)
class MeetingSide:
    """One player of a meeting; without a version nobody yet, ``tone`` as in ``CrosstableCell``."""

    version: BotVersion | None
    seed: int | None
    points: str
    tone: str


@dataclass(frozen=True, slots=True)
class MeetingRow:
    """Two players of a round, or one who rests; ``note`` is what else there is to say."""

    first: MeetingSide
    second: MeetingSide | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class RoundOf:
    """A round of one ladder."""

    name: str
    meetings: list[MeetingRow]


@dataclass(frozen=True, slots=True)
class Cross:
    """A ladder's tables; without its meetings only the standings are shown."""

    code: str
    name: str
    headings: list[tuple[str, str]]
    rows: list[CrossRow]
    with_meetings: bool
    rounds: list[RoundOf] = field(default_factory=list)
    """Of a Swiss: the one that is asked for; of a knock-out: all, they are its bracket."""
    made: Sequence[int] = ()
    """Numbers of the rounds a Swiss has had so far."""


def crosses(
    tournament: Tournament, versions: Sequence[BotVersion], *, with_meetings: bool, round_number: int = 0
) -> list[Cross]:
    """All ladders' tables; of a Swiss with this round, or the latest for 0."""
    return [
        _cross(tournament, table, with_meetings=with_meetings, round_number=round_number)
        for table in tables_of(tournament, versions)
        if table.ladder in GAMES
    ]


def _cross(tournament: Tournament, table: StandingsTable, *, with_meetings: bool, round_number: int) -> Cross:
    with_meetings = with_meetings and not tournament.is_staged
    order = [row.player for row in table.crosstable.rows] if with_meetings else []
    columns = [criterion for criterion in ORDERS[tournament.kind] if criterion in HEADINGS]
    ratings = _ratings(tournament, table.ladder)
    rows = [
        CrossRow(
            table.versions[row.player],
            row.rank,
            format_points(row.points),
            row.score,
            row.byes,
            [_criterion(row, criterion) for criterion in columns],
            row.performance,
            ratings.get(row.player),
            [None if other == row.player else _cell(row.versus.get(other)) for other in order],
        )
        for row in table.crosstable.rows
    ]
    rounds = _bracket(table) if table.bracket else _swiss_round(table, round_number)
    made = sorted({one.round for one in table.met})
    headings = [HEADINGS[criterion] for criterion in columns]
    return Cross(table.ladder, GAMES[table.ladder].name, headings, rows, with_meetings, rounds, made)


def _criterion(row: StandingsRow, criterion: Criterion) -> str:
    if criterion is Criterion.MATCHES:
        return str(row.matches)
    value = row.buchholz if criterion is Criterion.BUCHHOLZ else row.sonneborn_berger
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _ratings(tournament: Tournament, code: str) -> dict[int, float]:
    """mu - 3 sigma over this tournament's games alone, by version; none for a huge one."""
    if tournament.games_total > MOST_FOLDED:
        return {}
    return {pk: standing.rating.conservative for pk, standing in tournament_table(tournament, code).items()}


def _cell(score: GameScore | None) -> CrosstableCell:
    if score is None or not score.games + score.given_up:
        return CrosstableCell("", 0, "")
    return CrosstableCell(format_points(score.points), score.games + score.given_up, _tone(score.share))


def _tone(share: float) -> str:
    return "draw" if share == 0.5 else "win" if share > 0.5 else "loss"


def _swiss_round(table: StandingsTable, number: int) -> list[RoundOf]:
    """The round of that number, or the latest; none before the first and where there is no such round."""
    number = number or max((one.round for one in table.met), default=0)
    drawn = [one for one in table.met if one.round == number]
    if not drawn:
        return []
    meetings = [
        _meeting(table, one.first, one.second, one.first_points, one.second_points)
        for one in sorted(drawn, key=lambda one: one.first)
    ]
    for seed, rounds in find_byes(len(table.versions), table.met).items():
        if number in rounds:
            meetings.append(MeetingRow(MeetingSide(table.seeded(seed), seed, "", ""), None, "bye"))
    return [RoundOf(f"Round {number}", meetings)]


def _bracket(table: StandingsTable) -> list[RoundOf]:
    return [
        RoundOf(_round_name(len(drawn), number), [_match(table, match) for match in drawn])
        for number, drawn in enumerate(table.bracket, start=1)
    ]


def _round_name(matches: int, number: int) -> str:
    return {1: "Final", 2: "Semi-finals", 4: "Quarter-finals"}.get(matches, f"Round {number}")


def _match(table: StandingsTable, match: KnockoutMatch) -> MeetingRow:
    if match.is_bye and match.first is not None:
        return MeetingRow(MeetingSide(table.seeded(match.first), match.first, "", "win"), None, "bye")
    played = match.first_points + match.second_points > 0
    first, second = (
        MeetingSide(
            None if seed is None else table.seeded(seed),
            seed,
            format_points(points) if played else "",
            "" if match.winner is None else "win" if seed == match.winner else "loss",
        )
        for seed, points in ((match.first, match.first_points), (match.second, match.second_points))
    )
    return MeetingRow(
        first, second, "level to the end: the better seed goes on" if match.by_last_resort else ""
    )


def _meeting(table: StandingsTable, first: int, second: int, mine: float, theirs: float) -> MeetingRow:
    games = mine + theirs
    sides = [
        MeetingSide(
            table.seeded(seed),
            seed,
            format_points(points) if games else "",
            _tone(points / games) if games else "",
        )
        for seed, points in ((first, mine), (second, theirs))
    ]
    return MeetingRow(sides[0], sides[1])


def format_points(points: float) -> str:
    """``3``, ``3½``, ``½``."""
    whole, half = divmod(round(points * 2), 2)
    return f"{whole or ''}½" if half else str(whole)
