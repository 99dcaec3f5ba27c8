"""The tables of a ladder of a tournament: the crosstable in its order, the meetings of seeds, its bracket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engines.arithmetic.standings import Crosstable, crosstable
from engines.formats.base import EventFormat, RoundTerms
from engines.formats.meetings import PlayedMeeting, seeded_results
from engines.pairing.knockout import KnockoutMatch, rounds_survived
from engines.pairing.results import MeetingResult, find_byes


@dataclass(frozen=True, slots=True)
class EventTable:
    """What is known of a ladder of a tournament from its meetings."""

    crosstable: Crosstable
    met: list[MeetingResult] = field(default_factory=list)
    """The meetings so far, players being seeds; empty unless the rounds are drawn one after another."""
    bracket: list[list[KnockoutMatch]] = field(default_factory=list)
    """Only for a knock-out that has begun."""


def event_table(
    form: EventFormat,
    players: Sequence[int],
    played: Sequence[PlayedMeeting],
    rounds: RoundTerms | None = None,
) -> EventTable:
    """The table of these players, in the order of their entries, or of their seeds if rounds have been drawn.

    ``rounds`` are the terms of those rounds; None if there are none.
    """
    scores = [(one.one, one.other, one.score) for one in played]
    if rounds is None:
        return EventTable(crosstable(players, scores, order=form.order))
    met = seeded_results(players, played)
    if form.has_bracket:
        bracket = form.bracket(len(players), met, rounds.length, rounds.absent)
        won = {players[seed - 1]: number for seed, number in rounds_survived(len(players), bracket).items()}
        return EventTable(crosstable(players, scores, order=form.order, matches=won), met, bracket)
    byes = {
        players[seed - 1]: [rounds.games_a_meeting] * len(free)
        for seed, free in find_byes(len(players), met, rounds.absent).items()
    }
    meetings = [(players[one.first - 1], players[one.second - 1]) for one in met]
    return EventTable(crosstable(players, scores, order=form.order, meetings=meetings, byes=byes), met)
