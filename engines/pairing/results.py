"""The results so far of an event that is paired round by round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

Absences = Mapping[int, Collection[int]]
"""The players without whom each round was drawn, because they had been withdrawn."""
NO_ABSENCES: Absences = {}


@dataclass(frozen=True, slots=True)
class MeetingResult:
    """The meeting of two players in a round and their points; each game has one point in total.

    A game that was given up is half a point for both; an annulled one is over and has no points. Players are
    numbers from 1, the best seed first; rounds count from 1.
    """

    round: int
    first: int
    second: int
    first_points: float
    second_points: float
    annulled: int = 0
    """Games that do not count any more; they are not replayed."""

    @property
    def games(self) -> int:
        """Games that are over."""
        return round(self.first_points + self.second_points) + self.annulled

    @property
    def players(self) -> frozenset[int]:
        return frozenset((self.first, self.second))


def find_byes(
    players: int, met: Iterable[MeetingResult], absent: Absences = NO_ABSENCES
) -> dict[int, list[int]]:
    """The rounds in which each player had a bye: met nobody, and was not absent; every player has a list."""
    paired: dict[int, set[int]] = {}
    for one in met:
        paired.setdefault(one.round, set()).update(one.players)
    return {
        player: [
            number
            for number in sorted(paired)
            if player not in paired[number] and player not in absent.get(number, ())
        ]
        for player in range(1, players + 1)
    }
