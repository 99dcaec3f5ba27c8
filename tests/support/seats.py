"""The seats of games whose results a test writes by itself, and what they must be."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from tournament.models import Game, Seat
from tournament.services.results.seats import store_seats

UNKNOWN = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
COLUMNS = ("version", "bot", "owner", "opponent", "ladder", "tournament", "result", "plies", "finished_at")


def seat(**which: Any) -> None:
    """Make the seats of the recorded games among these, as storing results does; repeat it after changes."""
    games = list(Game.objects.done().filter(**which).values_list("pk", flat=True))
    Seat.objects.filter(game__in=games).delete()
    if games:
        store_seats(games)


def wrong_seats() -> Iterator[str]:
    """Yields a sentence for each seat that differs from its game, and for each that is missing."""
    wanted: dict[tuple[str, bool], tuple[Any, ...]] = {}
    for game in Game.objects.done().select_related("white__bot", "black__bot"):
        facts = game.ladder_id, game.tournament_id, game.result, game.plies, game.finished_at or UNKNOWN
        for is_white, own, other in ((True, game.white, game.black), (False, game.black, game.white)):
            wanted[game.key, is_white] = own.pk, own.bot_id, own.bot.owner_id, other.pk, *facts
    stored = {row[:2]: row[2:] for row in Seat.objects.values_list("game__key", "is_white", *COLUMNS)}
    for key, is_white in wanted.keys() | stored.keys():
        expected, found = wanted.get((key, is_white)), stored.get((key, is_white))
        if found != expected:
            yield f"game {key} has the seat {found} of {'White' if is_white else 'Black'}, not {expected}"
