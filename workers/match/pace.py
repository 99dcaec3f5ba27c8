"""How fast a match goes, and how long the rest of it may take. Arithmetic only: times are passed in."""

from __future__ import annotations

MINUTE, HOUR, DAY = 60, 3600, 86400
ENOUGH_GAMES = 5


class Pace:
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


def format_duration(seconds: float) -> str:
    """Roughly: ``40 s``, ``12 min``, ``3 h 20 min``, ``2 d 5 h``."""
    whole = round(seconds)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR:
        return f"{round(whole / MINUTE)} min"
    if whole < 2 * DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"
