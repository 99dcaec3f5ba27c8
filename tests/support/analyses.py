"""Analyses of recorded games, as a bot with an opinion of its own would make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from engines.rules.base import Position, Side
from tournament.models import BotSearch, BotVersion, Game
from tournament.services.work.analyses import positions_of
from tournament.views.games.board import load_replay


def opinion(position: Position, ply: int, leads: Mapping[int, float]) -> tuple[str, str]:
    """The last legal move, and White's lead as of the latest of these plies, at first none."""
    lead = next((lead for since, lead in reversed([*leads.items()]) if since <= ply), 0.0)
    *_, move = position.legal_moves()
    return move, f"{lead if position.side is Side.WHITE else -lead:+.2f}/4 0.100s 500n"


def analyse(game: Game, version: BotVersion, leads: Mapping[int, float], **columns: Any) -> BotSearch:
    """A complete analysis of a game that ended by the rules."""
    replay, *_ = load_replay(game)
    now = timezone.now()
    search = BotSearch(
        ladder_id=game.ladder_id,
        version=version,
        asker="somebody",
        game=game,
        moves=" ".join(move.token for move in replay.moves),
        plies=list(range(replay.plies)),
        ms=100,
        **{"asked_at": now, "ended_at": now, **columns},
    )
    positions = positions_of(search)
    search.found = {str(ply): opinion(positions[ply], ply, leads) for ply in search.plies}
    search.save(force_insert=True)
    return search


def free_plies(game: Game, side: Side) -> list[int]:
    """The plies of a side that are not given, and at which another than the last legal move was played."""
    replay, *_ = load_replay(game)
    free = [move for move in replay.moves if move.side is side and not move.book]
    return [move.ply for move in free if [*replay.positions[move.ply - 1].legal_moves()][-1] != move.token]
