"""The meetings of a tournament's page: the rounds of a Swiss and the bracket of a knock-out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe

from engines.arithmetic.standings import format_points
from engines.pairing.knockout import KnockoutMatch
from engines.pairing.results import MeetingResult, find_byes
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion
from tournament.views.links import games_address, link_version

MAX_MEETINGS = 150
"""The most meetings of a ladder's Swiss with which its page shows all rounds."""


@dataclass(frozen=True, slots=True)
class MeetingSide:
    """One player of a meeting, without a version if not decided yet; ``tone`` as in ``CrosstableCell``.

    ``points`` are None before the first game, and of a player with a bye.
    """

    version: BotVersion | None
    seed: int | None
    points: float | None
    tone: str

    @property
    def shown(self) -> str:
        """The points as text."""
        return "" if self.points is None else format_points(self.points)

    @property
    def drawn(self) -> SafeString:
        """As HTML: a page has hundreds."""
        who = f'<span class="quiet">{"nobody" if self.tone else "to be decided"}</span>'
        if self.version is not None:
            rank = "" if self.seed is None else self.seed
            who = f'<span class="rank">{rank}</span> {link_version(self.version)}'
        # Safe: the link is, the rest are numbers and our classes.
        return mark_safe(f'<span class="side {self.tone}">\n{who}\n<b>{self.shown}</b>\n</span>')


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

    number: int
    name: str
    meetings: list[MeetingRow]


@dataclass(frozen=True, slots=True)
class MeetingAddresses:
    """Addresses of the lists of games of one ladder of a tournament."""

    tournament: str
    ladder: str

    def between(self, one: BotVersion, other: BotVersion, round_number: int | None = None) -> str:
        """A large table has ten thousand of them; slugs and numbers need no escaping."""
        beginning = _games_of(self.tournament, self.ladder, round_number)
        return (
            f"{beginning}&bot={one.bot.slug}&version={one.number}"
            f"&opponent={other.bot.slug}&opponent_version={other.number}"
        )

    def of(self, one: BotVersion) -> str:
        """The games of one player that count."""
        beginning = _games_of(self.tournament, self.ladder, None)
        return f"{beginning}&bot={one.bot.slug}&version={one.number}&annulled=no"


@lru_cache
def _games_of(tournament: str, ladder: str, round_number: int | None) -> str:
    """The address of the list of games of one ladder of a tournament, or of one round there."""
    return games_address(tournament=tournament, ladder=ladder, round=round_number)


def swiss_rounds(table: StandingsTable, addresses: MeetingAddresses, number: int) -> list[RoundOf]:
    """The round of this number; with 0 all rounds, the latest first, or of many meetings only the latest."""
    drawn = sorted({one.round for one in table.met}, reverse=True)
    if number or len(table.met) > MAX_MEETINGS:
        drawn = [one for one in drawn if one == (number or drawn[0])]
    byes = find_byes(len(table.versions), table.met, table.absent)
    return [_swiss_round(table, addresses, one, byes) for one in drawn]


def _swiss_round(
    table: StandingsTable, addresses: MeetingAddresses, number: int, byes: Mapping[int, Sequence[int]]
) -> RoundOf:
    drawn = sorted((one for one in table.met if one.round == number), key=lambda one: one.first)
    meetings = [_meeting(table, addresses, one) for one in drawn]
    for seed, rounds in byes.items():
        if number in rounds:
            meetings.append(MeetingRow(MeetingSide(table.seeded(seed), seed, None, ""), None, "bye"))
    return RoundOf(number, f"Round {number}", meetings)


def bracket(table: StandingsTable, addresses: MeetingAddresses) -> list[RoundOf]:
    """All rounds of a knock-out that has begun."""
    return [
        RoundOf(number, _round_name(len(drawn), number), [_match(table, addresses, match) for match in drawn])
        for number, drawn in enumerate(table.bracket, start=1)
    ]


def _round_name(matches: int, number: int) -> str:
    return {1: "Final", 2: "Semi-finals", 4: "Quarter-finals"}.get(matches, f"Round {number}")


def _match(table: StandingsTable, addresses: MeetingAddresses, match: KnockoutMatch) -> MeetingRow:
    played = match.first_points + match.second_points > 0

    def side(seed: int | None, points: float) -> MeetingSide:
        tone = "" if not match.is_over else "win" if seed is not None and seed == match.winner else "loss"
        version = None if seed is None else table.seeded(seed)
        return MeetingSide(version, seed, points if played else None, tone)

    first, second = side(match.first, match.first_points), side(match.second, match.second_points)
    if match.is_over and match.second is None:
        return MeetingRow(first, None, match.note)
    if not played or first.version is None or second.version is None:
        return MeetingRow(first, second, match.note)
    return MeetingRow(first, second, match.note, addresses.between(first.version, second.version))


def _meeting(table: StandingsTable, addresses: MeetingAddresses, met: MeetingResult) -> MeetingRow:
    games = met.first_points + met.second_points
    sides = [
        MeetingSide(
            table.seeded(seed),
            seed,
            points if games else None,
            tone_of(points / games) if games else "",
        )
        for seed, points in ((met.first, met.first_points), (met.second, met.second_points))
    ]
    address = addresses.between(table.seeded(met.first), table.seeded(met.second), met.round) if games else ""
    return MeetingRow(sides[0], sides[1], "", address)


def tone_of(share: float) -> str:
    return "draw" if share == 0.5 else "win" if share > 0.5 else "loss"
