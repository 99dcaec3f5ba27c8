"""What has been played of an event that is paired round by round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Met:
    """Two players who met in a round and the points each made there, a point a game in all.

    A game that was given up is half a point for both. Players are numbers from 1, the best seed
    first; rounds count from 1.
    """

    round: int
    first: int
    second: int
    first_points: float
    second_points: float

    @property
    def games(self) -> int:
        return round(self.first_points + self.second_points)

    @property
    def players(self) -> frozenset[int]:
        return frozenset((self.first, self.second))


def find_byes(players: int, met: Iterable[Met]) -> dict[int, list[int]]:
    """The rounds in which each player met nobody; no list is missing."""
    seated: dict[int, set[int]] = {}
    for one in met:
        seated.setdefault(one.round, set()).update(one.players)
    return {
        player: [number for number in sorted(seated) if player not in seated[number]]
        for player in range(1, players + 1)
    }
