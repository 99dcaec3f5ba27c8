"""Annuls a few games of the site while it plays, and takes half of the annulments back.

The names of the games decide which, so that runs which play the same games have the same tables at the end.
Games of Swiss tournaments and knock-outs are left out: their rounds depend on when a game is annulled.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from typing import Final

PART: Final = 2**32 // 16
"""Of the digests of names: this part is annulled, and as many games are annulled and counted again."""
ANNULLED: Final = "games annulled"
TAKEN_BACK: Final = "annulments taken back"
REASON: Final = "The soak test annuls a few games."


class Annuller:
    """Call ``do_due`` often and ``finish`` once all games are played; ``counts`` counts the changes."""

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
        self._take_back()
        self._annul(lambda digest: digest < 2 * PART)

    def finish(self) -> None:
        """Annul and take back what is left to do; at least one game stays annulled."""
        self._annul(lambda digest: digest < 2 * PART)
        self._take_back()
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
        from django.utils import timezone

        from tournament.models import Game
        from tournament.services.annulments import annul

        chosen = {pk: digest for pk, digest in self._candidates() if is_chosen(digest)}
        if chosen:
            self.counts[ANNULLED] += annul(Game.objects.filter(pk__in=chosen), REASON, timezone.now())
            self._once |= {pk for pk, digest in chosen.items() if PART <= digest < 2 * PART}

    def _take_back(self) -> None:
        from django.utils import timezone

        from tournament.models import Game
        from tournament.services.annulments import take_back

        waiting = Game.objects.filter(pk__in=self._once.intersection(self._annulled()))
        self.counts[TAKEN_BACK] += take_back(waiting, timezone.now())
