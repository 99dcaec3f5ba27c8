"""Knock-outs and Swiss events: which games of a match are due, given the results so far. Pure.

Pairings are those of the site (``workers.pairing``). Engines are seeded in the order in which they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workers.match.options.options import Format, MatchTerms
from workers.match.plan import GAMES_A_PAIR, PlannedPair, games_of_pair
from workers.pairing.knockout import KnockoutMatch, Length, draw_bracket, pairs_due
from workers.pairing.results import MeetingResult
from workers.pairing.swiss import swiss_points, swiss_round

EXTRA_PAIRS = 3
"""The most pairs that are added to a knock-out match that is level; then the engine given first wins."""

Place = tuple[str, int, int]
"""A meeting: its ladder, round and number in the round."""


@dataclass(slots=True)
class _Meeting:
    """Points are in half points; ``pairs`` were handed out, ``games`` of their games have finished."""

    first: int
    second: int
    points: list[int] = field(default_factory=lambda: [0, 0])
    pairs: int = 0
    games: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether all games that were handed out have finished."""
        return self.games == self.pairs * GAMES_A_PAIR


class EventPlan:
    """The plan of a match whose later rounds depend on the earlier ones."""

    def __init__(self, terms: MatchTerms) -> None:
        self._terms = terms
        self._players = len(terms.entrants)
        self._length = Length(terms.games // GAMES_A_PAIR, EXTRA_PAIRS)
        self._meetings: dict[Place, _Meeting] = {}

    @property
    def total(self) -> int:
        """The games of the whole event, as far as they are known: extra pairs are added when they are due."""
        terms = self._terms
        if terms.format is Format.SWISS:
            return len(terms.ladders) * terms.rounds * (self._players // 2) * terms.games
        extra = sum(max(0, one.pairs - self._length.pairs) for one in self._meetings.values())
        return len(terms.ladders) * (self._players - 1) * terms.games + extra * GAMES_A_PAIR

    def take_due(self) -> list[PlannedPair]:
        """The pairs that have become due since the last call, in the order of play."""
        due = self._swiss_due if self._terms.format is Format.SWISS else self._knockout_due
        return [pair for ladder in self._terms.ladders for pair in due(ladder)]

    def add(self, key: str, points: tuple[int, int]) -> None:
        """Add a game that has finished: the half points of the meeting's first and second player."""
        ladder, number, place, _ = key.split("/")
        meeting = self._meetings[ladder, int(number), int(place)]
        meeting.games += 1
        for side in (0, 1):
            meeting.points[side] += points[side]

    def first_of(self, key: str) -> str:
        """The name of the first player of a game's meeting."""
        ladder, number, place, _ = key.split("/")
        return self._name(self._meetings[ladder, int(number), int(place)].first)

    def lines(self) -> Iterator[str]:
        """The bracket, or the points with byes, as lines of text."""
        for ladder in self._terms.ladders:
            if self._terms.format is Format.SWISS:
                yield from self._swiss_lines(ladder)
            else:
                yield from self._knockout_lines(ladder)

    # Knock-out

    def _bracket(self, ladder: str) -> list[list[KnockoutMatch]]:
        return draw_bracket(self._players, self._results(ladder), self._length)

    def _knockout_due(self, ladder: str) -> Iterator[PlannedPair]:
        for match in (match for drawn in self._bracket(ladder) for match in drawn):
            pairs = pairs_due(match, self._length)
            if pairs and match.first is not None and match.second is not None:
                yield from self._hand_out(
                    (ladder, match.round, match.number), match.first, match.second, pairs
                )

    def _knockout_lines(self, ladder: str) -> Iterator[str]:
        bracket = self._bracket(ladder)
        for match in (match for drawn in bracket for match in drawn):
            if match.first is not None and match.second is not None:
                score = f"{match.first_points:g}-{match.second_points:g}"
                seeded = " (level: the engine given first goes on)" if match.by_last_resort else ""
                players = f"{self._name(match.first)} {score} {self._name(match.second)}"
                yield f"{ladder}, round {match.round} of {len(bracket)}: {players}{seeded}"
        winner = bracket[-1][0].winner
        if winner is not None:
            yield f"{ladder}: {self._name(winner)} wins the knock-out."

    # Swiss

    def _swiss_due(self, ladder: str) -> Iterator[PlannedPair]:
        meetings = [(place, one) for place, one in self._meetings.items() if place[0] == ladder]
        number = 1 + max((place[1] for place, _ in meetings), default=0)
        if number > self._terms.rounds or not all(one.is_finished for _, one in meetings):
            return
        drawn = swiss_round(self._players, self._results(ladder), self._terms.games)
        for place, (first, second) in enumerate(drawn, 1):
            yield from self._hand_out((ladder, number, place), first, second, self._length.pairs)

    def _swiss_lines(self, ladder: str) -> Iterator[str]:
        points = swiss_points(self._players, self._results(ladder), self._terms.games)
        ranked = sorted(points, key=lambda player: (-points[player], player))
        shown = ", ".join(f"{self._name(player)} {points[player]:g}" for player in ranked)
        yield f"{ladder}, points with byes: {shown}"

    # Meetings

    def _results(self, ladder: str) -> list[MeetingResult]:
        return [
            MeetingResult(place[1], one.first, one.second, one.points[0] / 2, one.points[1] / 2)
            for place, one in self._meetings.items()
            if place[0] == ladder and one.games
        ]

    def _hand_out(self, place: Place, first: int, second: int, pairs: int) -> Iterator[PlannedPair]:
        """The next pairs of a meeting; none while earlier ones of it have not finished."""
        meeting = self._meetings.setdefault(place, _Meeting(first, second))
        if not meeting.is_finished:
            return
        begun, meeting.pairs = meeting.pairs, meeting.pairs + pairs
        ladder, number, _ = place
        longest = self._length.pairs + self._length.extra
        for pair in range(begun, meeting.pairs):
            yield PlannedPair(
                ladder=ladder,
                round=number,
                first=meeting.first - 1,
                second=meeting.second - 1,
                opening=(number - 1) * longest + pair,
                games=games_of_pair("/".join(map(str, place)), pair, GAMES_A_PAIR, self._terms),
            )

    def _name(self, player: int) -> str:
        return self._terms.entrants[player - 1].name
