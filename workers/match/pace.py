"""Estimates how long games and the rest of a match take. Pure: times are passed in."""

from __future__ import annotations

import math

ENOUGH_GAMES = 5
"""No estimate is made from fewer games."""


class MatchPace:
    """Counts the games of one run of a match. Times are in seconds; any clock will do."""

    def __init__(self, started: float, slots: int) -> None:
        self._started = started
        self._slots = slots
        self.games = 0

    def remaining(self, now: float, left: int, running: int) -> float | None:
        """Seconds until ``left`` more games are played, ``running`` of them started; None while unknown.

        A running game counts as half played. Without that the estimate would be too low at first, because
        short games end first.
        """
        if self.games < max(ENOUGH_GAMES, 2 * self._slots):
            return None
        played = self.games + running / 2
        return (now - self._started) * max(left - running / 2, 0) / played


class GameDurations:
    """Estimates the duration of the next game of two engines on a ladder from their latest games."""

    LATEST = 0.2
    """The weight of the latest game if it is shorter than the estimate; a longer one replaces it."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, frozenset[int]], float] = {}

    def add(self, ladder: str, engines: tuple[int, int], seconds: float) -> None:
        key = ladder, frozenset(engines)
        known = self._seconds.setdefault(key, seconds)
        self._seconds[key] = max(seconds, known + self.LATEST * (seconds - known))

    def expected(self, ladder: str, engines: tuple[int, int]) -> float:
        """Seconds; infinite before their first game."""
        return self._seconds.get((ladder, frozenset(engines)), math.inf)
