"""The published records in their order, in pages that leave no query open between them."""

from __future__ import annotations

from collections.abc import Iterator

from tournament import access
from tournament.models import Game, GameRecord, Tournament

PAGE = 200
"""Records read by one query, about 1 MB of text."""


def ladder_pages(code: str, last: int, newest: int) -> Iterator[tuple[int, list[str]]]:
    """Pages of records after number ``last``, each with the number up to which it is complete."""
    records = access.public_records(code).values_list("game__sequence", "text")
    while last < newest:
        rows = list(records.filter(game__sequence__gt=last, game__sequence__lte=newest)[:PAGE])
        last = int(rows[-1][0] or 0) if len(rows) == PAGE else newest
        yield last, [text for _, text in rows]


def tournament_pages(tournament: Tournament) -> Iterator[list[str]]:
    """Pages of a tournament's records, in the order of its schedule."""
    games = tournament.games.filter(state=Game.State.DONE).order_by("id").values_list("id", flat=True)
    last = 0
    while ids := list(games.filter(id__gt=last)[:PAGE]):
        last = ids[-1]
        yield list(GameRecord.objects.filter(pk__in=ids).order_by("pk").values_list("text", flat=True))
