"""What the explorer should count, computed in one pass over the published records: slow, and literal."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator

from engines.records import Record, read_records, start_history
from engines.rules.base import Position
from engines.rules.registry import GAMES
from tournament.access import public_records
from tournament.models import ExplorerMove, Game, RatingEvent
from tournament.services.explorer.positions import position_number

PLIES = 40
Counts = dict[tuple[int, str, int], tuple[int, int, int, int]]
"""White's wins, draws, losses and the sum of ratings, by position, move and band."""


def stored_counts() -> Counts:
    columns = ("position", "move", "band", "wins", "draws", "losses", "ratings")
    return {row[:3]: row[3:] for row in ExplorerMove.objects.values_list(*columns)}


def recounted() -> Counts:
    """The same from the records, and from the ratings before each game."""
    found: Counts = {}
    for ladder in GAMES:
        found |= _recount(ladder)
    return found


def _recount(ladder: str) -> Counts:
    counts: dict[tuple[int, str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    games: dict[int, int] = defaultdict(int)
    for stored in public_records(ladder).select_related("game").iterator(1000):
        game, record = stored.game, next(read_records(io.StringIO(stored.text), "record"))
        assert isinstance(record, Record)
        if game.annulled:
            continue
        ratings = _ratings(game)
        band = -1 if ratings is None else min(3, max(0, sum(ratings) // 2 // 1000))
        for position, side, move in _visits(ladder, record):
            games[position] += 1
            row = counts[position, move, band]
            row[{"1-0": 0, "1/2-1/2": 1, "0-1": 2}[str(record.result)]] += 1
            row[3] += 0 if ratings is None else ratings[side]
    return {key: tuple(row) for key, row in counts.items() if games[key[0]] > 1}  # type: ignore[misc]


def _ratings(game: Game) -> tuple[int, int] | None:
    """Those of White and Black before the game, in hundredths."""
    events = {event.version_id: event.before.conservative for event in RatingEvent.objects.filter(game=game)}
    if not events:
        return None
    return round(100 * events[game.white_id]), round(100 * events[game.black_id])


def _visits(ladder: str, record: Record) -> Iterator[tuple[int, int, str]]:
    """The number of each position, the side to move, and the least name of the move."""
    position: Position = start_history(record).position
    seen = set[object]()
    for move in record.moves[:PLIES]:
        form, symmetries = position.canonical()
        if form not in seen:
            seen.add(form)
            least = min(symmetry.turn(move.token) for symmetry in symmetries)
            yield position_number(ladder, form, position.side), int(position.side), least
        position = position.play(move.token)
