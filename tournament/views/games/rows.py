"""The moves of a game as rows: what the API has of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from engines.rules.base import Side
from engines.timecontrol import TimeControl
from tournament.views.games.replay import Replay, ShownMove


class PlayedMove(msgspec.Struct, frozen=True):
    """A move of a game, with what its engine said of it and the clocks after it."""

    ply: Annotated[int, Meta(description="From 1.")]
    side: Annotated[str, Meta(description="Who moved: `white` or `black`.")]
    move: str
    position: Annotated[str, Meta(description="The position after the move.")]
    book: Annotated[bool, Meta(description="Whether it is a given move of the opening.")]
    score: Annotated[int | None, Meta(description="The mover's, in hundredths of its engine's unit.")]
    mate: Annotated[int | None, Meta(description="Instead: plies to the end, negative if the mover loses.")]
    depth: int | None
    nodes: int | None
    ms: Annotated[int | None, Meta(description="The time that the move took.")]
    pv: Annotated[tuple[str, ...], Meta(description="The line that the engine expected, with this move.")]
    white_ms: Annotated[int | None, Meta(description="White's time left; null in a game without clocks.")]
    black_ms: int | None


def played_moves(replay: Replay, control: TimeControl, *, after: int = 0) -> Iterator[PlayedMove]:
    """The moves after the first ``after`` plies."""
    left = dict.fromkeys(Side, control.base_ms)
    for move in replay.moves:
        before, ms = left[move.side], move.note.ms
        if before is not None and ms is not None:
            left[move.side] = max(0, before - ms) + control.increment_ms
        if move.ply > after:
            yield _played(move, str(replay.positions[move.ply]), left)


def _played(move: ShownMove, position: str, left: Mapping[Side, int | None]) -> PlayedMove:
    note, score = move.note, move.note.score
    return PlayedMove(
        ply=move.ply,
        side=move.side.name.lower(),
        move=move.token,
        position=position,
        book=move.book,
        score=score.centipawns if score else None,
        mate=score.mate if score else None,
        depth=note.depth,
        nodes=note.nodes,
        ms=note.ms,
        pv=note.pv,
        white_ms=left[Side.WHITE],
        black_ms=left[Side.BLACK],
    )
