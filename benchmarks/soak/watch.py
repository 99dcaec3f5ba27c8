"""Watches a site while it plays and measures the longest waits, and annuls a few of its games."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from django.db import OperationalError, connection
from django.db.models import QuerySet
from django.utils import timezone

if TYPE_CHECKING:
    from tournament.models import Game

STUCK_SECONDS: Final = 120.0
"""The longest time that a game may be without progress, or the site without a result."""
ANNULLED: Final = "games annulled"
TAKEN_BACK: Final = "annulments taken back"
EVERY: Final = 8
"""The site records so many games between two annulments."""
LOCK_SECONDS: Final = 5
"""The longest wait for a lock: a stopped process keeps its locks until it is restarted."""
REASON: Final = "The soak test annuls a few games."


class Watch:
    """Call ``look`` once or twice a second; ``longest`` has the longest waits, in seconds."""

    def __init__(self, lease_s: float) -> None:
        self.longest = {"a game without progress": 0.0, "no game recorded": 0.0}
        self._lease_s = lease_s
        self.done = -1
        self._done_at = time.monotonic()

    def look(self, *, may_end: bool = True) -> bool:
        """Whether all games are played; the ladders continue until the tournaments and they ``may_end``."""
        from tournament.models import Game, Matchmaking, Tournament
        from tournament.services.ladders.matchmaking import open_games

        done = Game.objects.done().count()
        if done != self.done:
            self.done, self._done_at = done, time.monotonic()
        self._note("no game recorded", time.monotonic() - self._done_at)
        self._note("a game without progress", self._oldest_s())
        events = Tournament.objects.running().exclude(kind="ladder")
        if not may_end or events.exists():
            return False
        return _succeeds(partial(Matchmaking.objects.update, games_an_hour=0)) and not open_games().exists()

    def find_faults(self) -> Iterator[str]:
        for what, seconds in self.longest.items():
            if seconds > STUCK_SECONDS:
                yield f"{what} for {seconds:.0f} s, more than {STUCK_SECONDS:.0f}"

    def _note(self, what: str, seconds: float) -> None:
        self.longest[what] = max(self.longest[what], seconds)

    def _oldest_s(self) -> float:
        """The longest time without news of a game that a slot has taken."""
        from tournament.models import Attempt

        now = timezone.now()
        attempts = Attempt.objects.filter(ended_at__isnull=True).values_list(
            "sent_at", "started_at", "reported_at", "job__lease_until", "game__live__updated_at"
        )
        oldest = 0.0
        for sent, started, reported, lease_until, live in attempts:
            signs = [(now - moment).total_seconds() for moment in (sent, started, reported, live) if moment]
            if lease_until:
                signs.append((now - lease_until).total_seconds() + self._lease_s)
            oldest = max(oldest, min(signs))
        return oldest


def _succeeds(change: Callable[[], object]) -> bool:
    """Whether the database was changed; not if a lock is not free in time."""
    with suppress(OperationalError):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    f"SET lock_timeout = '{LOCK_SECONDS}s'"
                )  # SQLite has such a limit in the settings
        change()
        return True
    return False


class Annuller:
    """Annuls one game after another while the site plays, and takes the one before back.

    Call ``do_due`` often and ``finish`` once all games are played; ``counts`` counts the changes. Which game
    stays annulled depends only on the games, so that runs which play the same games have the same tables at
    the end. Games of Swiss tournaments and knock-outs are left out: their rounds depend on when a game is
    annulled.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._done = 0

    def do_due(self, done: int) -> None:
        """Annul the game that ended last, if it is time to; ``done`` counts all that have ended."""
        if done >= self._done + EVERY and self._annul_only(self._candidates().order_by("-finished_at")):
            self._done = done

    def finish(self) -> bool:
        """Leave one game annulled; False if a process holds a lock for long, perhaps a stopped one."""
        of_tournaments = self._candidates().exclude(tournament__kind="ladder")
        return self._annul_only(of_tournaments.order_by("key"))

    def _candidates(self) -> QuerySet[Game]:
        from tournament.models import Game

        kinds = ("round-robin", "ladder")
        return Game.objects.done().filter(tournament__kind__in=kinds)

    def _annul_only(self, games: QuerySet[Game]) -> bool:
        """Annul the first of the games, and count all others again; False if a lock is not free in time."""
        return _succeeds(partial(self._change, games))

    def _change(self, games: QuerySet[Game]) -> None:
        from tournament.models import Game
        from tournament.services.annulments import annul, count_again

        chosen = Game.objects.filter(pk__in=list(games.values_list("pk", flat=True)[:1]))
        others = Game.objects.filter(annulled=True).exclude(pk__in=chosen)
        self.counts[TAKEN_BACK] += count_again(others, timezone.now())
        self.counts[ANNULLED] += annul(chosen, REASON, timezone.now())
