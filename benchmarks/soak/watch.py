"""Watches a site while it plays, and measures the longest waits."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.utils import timezone

from benchmarks.soak.terms import STUCK_S


class Watch:
    """Call ``look`` once or twice a second; ``longest`` has the longest waits, in seconds."""

    def __init__(self, lease_s: float, ladder_games: int = 0) -> None:
        """The ladders are stopped after ``ladder_games``; 0: tournaments are played."""
        self.longest = {"a game without progress": 0.0, "no game recorded": 0.0}
        self._lease_s = lease_s
        self._ladder_games = ladder_games
        self.done = -1
        self._done_at = time.monotonic()

    def look(self, *, may_end: bool = True) -> bool:
        """Whether all games are played; ladders continue until they ``may_end``."""
        from tournament.models import Game, Tournament

        done = Game.objects.done().count()
        if done != self.done:
            self.done, self._done_at = done, time.monotonic()
        self._note("no game recorded", time.monotonic() - self._done_at)
        self._note("a game without progress", self._oldest_s())
        if self._ladder_games:
            return may_end and self._ladders_are_done()
        return not Tournament.objects.running().exists()

    def _ladders_are_done(self) -> bool:
        """Whether the ladders have played enough games, and finished those under way."""
        from tournament.models import Matchmaking
        from tournament.services.ladders.matchmaking import open_games

        if self.done < self._ladder_games:
            return False
        Matchmaking.objects.update(games_an_hour=0)
        return not open_games().exists()

    def find_faults(self) -> Iterator[str]:
        for what, seconds in self.longest.items():
            if seconds > STUCK_S:
                yield f"{what} for {seconds:.0f} s, more than {STUCK_S:.0f}"

    def _note(self, what: str, seconds: float) -> None:
        self.longest[what] = max(self.longest[what], seconds)

    def _oldest_s(self) -> float:
        """The longest time without a message about a game that was sent out."""
        from tournament.models import Attempt

        now = timezone.now()
        attempts = Attempt.objects.filter(ended_at__isnull=True).values_list(
            "sent_at", "started_at", "lease_until", "game__live__updated_at"
        )
        oldest = 0.0
        for sent, started, lease_until, live in attempts:
            signs = [(now - moment).total_seconds() for moment in (sent, started, live) if moment]
            if lease_until:
                signs.append((now - lease_until).total_seconds() + self._lease_s)
            oldest = max(oldest, min(signs))
        return oldest
