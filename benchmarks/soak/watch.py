"""Watches a site while it plays and measures the longest waits, and annuls a few of its games."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from django.utils import timezone

STUCK_S: Final = 120.0
"""The longest time that a game may be without progress, or the site without a result."""
PART: Final = 2**32 // 16
"""Of the digests of names: this part is annulled, and as many games are annulled and counted again."""
ANNULLED: Final = "games annulled"
TAKEN_BACK: Final = "annulments taken back"
REASON: Final = "The soak test annuls a few games."


class Watch:
    """Call ``look`` once or twice a second; ``longest`` has the longest waits, in seconds."""

    def __init__(self, lease_s: float, ladder_games: int = 0, absence_s: float = 0.0) -> None:
        """The ladders are stopped after ``ladder_games``; 0: tournaments are played."""
        self.stuck_s = max(STUCK_S, absence_s + STUCK_S / 2)
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
            if seconds > self.stuck_s:
                yield f"{what} for {seconds:.0f} s, more than {self.stuck_s:.0f}"

    def _note(self, what: str, seconds: float) -> None:
        self.longest[what] = max(self.longest[what], seconds)

    def _oldest_s(self) -> float:
        """The longest time without news of a game that a slot has taken."""
        from tournament.models import Attempt

        now = timezone.now()
        attempts = Attempt.objects.filter(ended_at__isnull=True).values_list(
            "sent_at", "started_at", "reported_at", "lease_until", "game__live__updated_at"
        )
        oldest = 0.0
        for sent, started, reported, lease_until, live in attempts:
            signs = [(now - moment).total_seconds() for moment in (sent, started, reported, live) if moment]
            if lease_until:
                signs.append((now - lease_until).total_seconds() + self._lease_s)
            oldest = max(oldest, min(signs))
        return oldest


class Annuller:
    """Annuls a few games while the site plays, and takes half of the annulments back.

    Call ``do_due`` often and ``finish`` once all games are played; ``counts`` counts the changes. The
    names of the games decide which, so that runs which play the same games have the same tables at the
    end. Games of Swiss tournaments and knock-outs are left out: their rounds depend on when a game is
    annulled.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._done = 0
        self._once: set[int] = set()
        """Games whose annulment was taken back, or is to be."""

    def do_due(self, done: int) -> None:
        """Annul the games that have ended since the last call; ``done`` counts all that have."""
        if done == self._done:
            return
        self._done = done
        self._count_again()
        self._annul(lambda digest: digest < 2 * PART)

    def finish(self) -> None:
        """Annul and take back what is left to do; at least one game stays annulled."""
        self._annul(lambda digest: digest < 2 * PART)
        self._count_again()
        if not self._annulled():
            self._once.clear()
            least = min(digest for _, digest in self._candidates())
            self._annul(lambda digest: digest == least)

    def _candidates(self) -> list[tuple[int, int]]:
        """The recorded games that are not annulled and never were, with the digests of their names."""
        from tournament.models import Game, Tournament

        kinds = (Tournament.Kind.ROUND_ROBIN, Tournament.Kind.LADDER)
        games = Game.objects.counted().filter(tournament__kind__in=kinds).exclude(pk__in=self._once)
        return [(pk, zlib.crc32(key.encode())) for pk, key in games.values_list("pk", "key")]

    def _annulled(self) -> list[int]:
        from tournament.models import Game

        return list(Game.objects.filter(annulled=True).values_list("pk", flat=True))

    def _annul(self, is_chosen: Callable[[int], bool]) -> None:
        from tournament.models import Game
        from tournament.services.annulments import annul

        chosen = {pk: digest for pk, digest in self._candidates() if is_chosen(digest)}
        if chosen:
            self.counts[ANNULLED] += annul(Game.objects.filter(pk__in=chosen), REASON, timezone.now())
            self._once |= {pk for pk, digest in chosen.items() if PART <= digest < 2 * PART}

    def _count_again(self) -> None:
        from tournament.models import Game
        from tournament.services.annulments import count_again

        waiting = Game.objects.filter(pk__in=self._once.intersection(self._annulled()))
        self.counts[TAKEN_BACK] += count_again(waiting, timezone.now())
