"""Games that are being played, as events have them."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse

from tournament.api.v1.events.types import StartedGame
from tournament.models import Game

_READ = (
    "id", "ladder", "tournament__slug", "pairing__round", "white__bot__name", "white__number",
    "white__bot__slug", "black__bot__name", "black__number", "black__bot__slug",
)  # fmt: skip


def started_games(origin: str, keys: Sequence[int]) -> dict[int, StartedGame]:
    """The games with these ids; ``origin`` as in ``exports.origin_of``."""
    begin, end = f"{origin}{reverse('game', args=[0])}".rsplit("0/", 1)
    found = {}
    for row in Game.objects.filter(pk__in=keys).values_list(*_READ):
        values = (*row, f"{begin}{row[0]}/{end}")
        found[row[0]] = StartedGame(*values)
    return found
