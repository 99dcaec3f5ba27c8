"""Swiss events: each round is paired from the results of the earlier ones, as on the site. Pure.

Engines are seeded in the order in which they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workers.match.options.options import MatchTerms
from workers.match.plan import PlannedPair, pair_key, plan_pair
from workers.match.results import GameResult
from workers.pairing.meetings import PlannedMeeting
from workers.pairing.results import MeetingResult
from workers.pairing.swiss import swiss_points, swiss_round


class SwissPlan:
    """The meetings so far, by ladder and the key of their games."""

    def __init__(self, terms: MatchTerms) -> None:
        self._terms = terms
        self._met: dict[str, dict[str, MeetingResult]] = {ladder: {} for ladder in terms.ladders}

    def pairs(self) -> Iterator[PlannedPair | None]:
        """All pairs in the order of play; None while the games of a round are not over."""
        terms = self._terms
        for number in range(1, terms.rounds + 1):
            for ladder, met in self._met.items():
                drawn = swiss_round(len(terms.engines), list(met.values()), terms.games)
                for place, (first, second) in enumerate(drawn, 1):
                    meeting = PlannedMeeting(ladder, number - 1, number, place, first, second)
                    pair = plan_pair(terms, meeting)
                    met[pair.key] = MeetingResult(number, first, second, 0.0, 0.0)
                    yield pair
            while any(one.games < terms.games for met in self._met.values() for one in met.values()):
                yield None

    def add(self, key: str, game: GameResult | None) -> None:
        """Add the game with this key, which is over; None is a game that was given up: half a point each."""
        met = self._met[key.partition("/")[0]]
        one = met[pair_key(key)]
        points = 0.5 if game is None else game.half_points(self._terms.names[one.first - 1]) / 2
        met[pair_key(key)] = replace(
            one, first_points=one.first_points + points, second_points=one.second_points + 1 - points
        )

    def lines(self) -> Iterator[str]:
        """The points with byes, a line for each ladder."""
        names = self._terms.names
        for ladder, met in self._met.items():
            points = swiss_points(len(names), list(met.values()), self._terms.games)
            ranked = sorted(points, key=lambda player: (-points[player], player))
            shown = ", ".join(f"{names[player - 1]} {points[player]:g}" for player in ranked)
            yield f"{ladder}, points with byes: {shown}"
