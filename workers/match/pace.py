"""How fast a match goes, and how long the rest of it may take. Arithmetic only: times are passed in."""

from __future__ import annotations

import math

ENOUGH_GAMES = 5


class MatchPace:
    """Counts the games of one run of a match. Times are in seconds of any one clock."""

    def __init__(self, started: float, slots: int) -> None:
        self._started = started
        self._slots = slots
        self.games = 0

    def remaining(self, now: float, left: int, running: int) -> float | None:
        """Seconds until ``left`` more games are played, ``running`` of them begun; None while unknown.

        A running game counts as half played. Otherwise the games that end first, which are
        the quick ones, would promise too much.
        """
        if self.games < max(ENOUGH_GAMES, 2 * self._slots):
            return None
        played = self.games + running / 2
        return (now - self._started) * max(left - running / 2, 0) / played


class Tempo:
    """How long a game of the same two engines lasts on a ladder, by the latest ones."""

    LATEST = 0.2
    """How much of what is known the latest game changes."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, frozenset[int]], float] = {}

    def learn(self, ladder: str, engines: tuple[int, int], seconds: float) -> None:
        key = ladder, frozenset(engines)
        known = self._seconds.setdefault(key, seconds)
        self._seconds[key] = max(seconds, known + self.LATEST * (seconds - known))

    def expected(self, ladder: str, engines: tuple[int, int]) -> float:
        """Seconds; endless while nothing is known of them."""
        return self._seconds.get((ladder, frozenset(engines)), math.inf)
