"""Seats: the players of recorded games, by which pages find the games of a bot, an owner or an opponent."""

from __future__ import annotations

from collections.abc import Iterable

from tournament.models import Seat
from tournament.services.bulk import insert_from


def store_seats(games: Iterable[int]) -> None:
    """Insert both seats of each of these recorded games, which must have none; part of the transaction."""
    numbers = ", ".join(str(int(pk)) for pk in games)
    insert_from(
        Seat,
        {
            "game_id": "game.id",
            "is_white": "seat.is_white",
            "version_id": "version.id",
            "bot_id": "version.bot_id",
            "owner_id": "bot.owner_id",
            "opponent_id": "CASE WHEN seat.is_white THEN game.black_id ELSE game.white_id END",
            **{f"{name}_id": f"game.{name}_id" for name in ("ladder", "tournament")},
            **{name: f"game.{name}" for name in ("result", "plies")},
            "finished_at": "COALESCE(game.finished_at, '1970-01-01 00:00:00')",
        },
        "tournament_game game CROSS JOIN (SELECT true AS is_white UNION ALL SELECT false) seat"
        " JOIN tournament_botversion version"
        " ON version.id = CASE WHEN seat.is_white THEN game.white_id ELSE game.black_id END"
        f" JOIN tournament_bot bot ON bot.id = version.bot_id WHERE game.id IN ({numbers})",
    )
