"""The tables of a tournament's page: crosstables, rounds, brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engines.rules.registry import GAMES
from tournament.arithmetic.standings import Criterion, GameScore, StandingsRow
from tournament.forms import isolated
from tournament.models import BotVersion, Tournament
from tournament.services.results.ratings import tournament_table
from tournament.services.schedule.tables import ORDERS, StandingsTable, tables_of
from tournament.views.games.filters import games_address
from workers.pairing.knockout import KnockoutMatch
from workers.pairing.results import MeetingResult, find_byes

MOST_FOLDED = 10_000
"""The most games of a tournament whose ratings are computed for each request of its page."""
HEADINGS = {
    Criterion.BUCHHOLZ: ("Buch.", "Buchholz: the points of the opponents met"),
    Criterion.SONNEBORN_BERGER: (
        "SB",
        "Sonneborn-Berger: the points of the opponents beaten, half of those drawn with",
    ),
    Criterion.MATCHES: ("Won", "matches won, byes included"),
}
"""Criteria with a column of their own: its heading and meaning."""


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
    """One line of a crosstable; the player's cell against itself is None."""

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
    """One player of a meeting, without a version if not decided yet; ``tone`` as in ``CrosstableCell``."""

    version: BotVersion | None
    seed: int | None
    points: str
    tone: str


@dataclass(frozen=True, slots=True)
class MeetingRow:
    """Two players of a round, or one with a bye.

    ``note`` is an additional text; ``address`` lists the games, "" if none is played yet.
    """

    first: MeetingSide
    second: MeetingSide | None
    note: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class RoundOf:
    """A round of one ladder."""

    name: str
    meetings: list[MeetingRow]


@dataclass(frozen=True, slots=True)
class Cross:
    """The tables of one ladder; the crosstable is shown only with ``with_meetings``."""

    code: str
    name: str
    headings: list[tuple[str, str]]
    rows: list[CrossRow]
    with_meetings: bool
    rounds: list[RoundOf] = field(default_factory=list)
    """The requested round of a Swiss, or all rounds of a knock-out (its bracket)."""
    made: Sequence[int] = ()
    """The numbers of the rounds drawn so far."""


@dataclass(frozen=True, slots=True)
class _Meetings:
    """Addresses of the lists of games of one ladder of a tournament."""

    tournament: str
    ladder: str

    def between(self, one: BotVersion, other: BotVersion, round_number: int | None = None) -> str:
        return games_address(
            tournament=self.tournament,
            ladder=self.ladder,
            round=round_number,
            bot=one.bot.slug,
            version=one.number,
            opponent=other.bot.slug,
            opponent_version=other.number,
        )


def crosses(
    tournament: Tournament, versions: Sequence[BotVersion], *, with_meetings: bool, round_number: int = 0
) -> list[Cross]:
    """The tables of all ladders; for a Swiss with this round, 0 for the latest."""
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
    meetings = _Meetings(tournament.slug, table.ladder)
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
            [
                None
                if other == row.player
                else _cell(
                    row.versus.get(other), meetings.between(table.versions[row.player], table.versions[other])
                )
                for other in order
            ],
        )
        for row in table.crosstable.rows
    ]
    rounds = _bracket(table, meetings) if table.bracket else _swiss_round(table, meetings, round_number)
    made = sorted({one.round for one in table.met})
    headings = [HEADINGS[criterion] for criterion in columns]
    return Cross(table.ladder, GAMES[table.ladder].name, headings, rows, with_meetings, rounds, made)


def _criterion(row: StandingsRow, criterion: Criterion) -> str:
    if criterion is Criterion.MATCHES:
        return str(row.matches)
    value = row.buchholz if criterion is Criterion.BUCHHOLZ else row.sonneborn_berger
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _ratings(tournament: Tournament, code: str) -> dict[int, float]:
    """mu - 3 sigma by version, from this tournament's games alone; empty above ``MOST_FOLDED`` games."""
    if tournament.games_total > MOST_FOLDED:
        return {}
    return {pk: standing.rating.conservative for pk, standing in tournament_table(tournament, code).items()}


def _cell(score: GameScore | None, address: str) -> CrosstableCell:
    if score is None or not score.games + score.given_up:
        return CrosstableCell("", 0, "")
    games = score.games + score.given_up
    return CrosstableCell(
        format_points(score.points), games, _tone(score.share), address if score.games else ""
    )


def _tone(share: float) -> str:
    return "draw" if share == 0.5 else "win" if share > 0.5 else "loss"


def _swiss_round(table: StandingsTable, addresses: _Meetings, number: int) -> list[RoundOf]:
    """The round of this number, 0 for the latest; empty if there is no such round."""
    number = number or max((one.round for one in table.met), default=0)
    drawn = [one for one in table.met if one.round == number]
    if not drawn:
        return []
    meetings = [_meeting(table, addresses, one) for one in sorted(drawn, key=lambda one: one.first)]
    for seed, rounds in find_byes(len(table.versions), table.met).items():
        if number in rounds:
            meetings.append(MeetingRow(MeetingSide(table.seeded(seed), seed, "", ""), None, "bye"))
    return [RoundOf(f"Round {number}", meetings)]


def _bracket(table: StandingsTable, addresses: _Meetings) -> list[RoundOf]:
    return [
        RoundOf(_round_name(len(drawn), number), [_match(table, addresses, match) for match in drawn])
        for number, drawn in enumerate(table.bracket, start=1)
    ]


def _round_name(matches: int, number: int) -> str:
    return {1: "Final", 2: "Semi-finals", 4: "Quarter-finals"}.get(matches, f"Round {number}")


def _match(table: StandingsTable, addresses: _Meetings, match: KnockoutMatch) -> MeetingRow:
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
    note = "level, so the better seed advances" if match.by_last_resort else ""
    if not played or first.version is None or second.version is None:
        return MeetingRow(first, second, note)
    return MeetingRow(first, second, note, addresses.between(first.version, second.version))


def _meeting(table: StandingsTable, addresses: _Meetings, met: MeetingResult) -> MeetingRow:
    games = met.first_points + met.second_points
    sides = [
        MeetingSide(
            table.seeded(seed),
            seed,
            format_points(points) if games else "",
            _tone(points / games) if games else "",
        )
        for seed, points in ((met.first, met.first_points), (met.second, met.second_points))
    ]
    address = addresses.between(table.seeded(met.first), table.seeded(met.second), met.round) if games else ""
    return MeetingRow(sides[0], sides[1], "", address)


def format_points(points: float) -> str:
    """``3``, ``3½``, ``½``."""
    whole, half = divmod(round(points * 2), 2)
    return f"{whole or ''}½" if half else str(whole)
