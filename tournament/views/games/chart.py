"""The values of a replay's chart: both engines' scores, times and node counts, ply by ply."""

from __future__ import annotations

import math
from typing import Final, TypedDict

from engines.protocol import Score
from engines.records import MoveNote
from engines.rules.base import Side
from tournament.views.games.replay import Replay

STEEPNESS: Final = 0.4
"""Of the logistic function, per unit of score: a lead of 5 units is drawn at three quarters of the height."""

DIGITS: Final = 2
"""Of times and node counts: more could not be seen in a chart, and long games have hundreds of them."""


class ChartValues(TypedDict):
    """One value for each ply in ``score``, ``time`` and ``nodes``; None where the engine reported none."""

    first: str
    """``white`` or ``black``, who makes the first move of the game; then they take turns."""
    score: list[int | None]
    """The score of the engine that moved, as ``squeeze`` draws it."""
    time: list[float | None]
    """In seconds, rounded to ``DIGITS`` digits, as ``nodes`` are."""
    nodes: list[int | None]


def chart_values(replay: Replay, since: int = 0) -> ChartValues:
    """The values of the plies after ``since``."""
    moves = replay.moves[since:]
    return {
        "first": replay.positions[0].side.name.lower(),
        "score": [None if move.note is None else squeeze(move.note.score, move.side) for move in moves],
        "time": [_seconds(move.note) for move in moves],
        "nodes": [_nodes(move.note) for move in moves],
    }


def squeeze(score: Score | None, side: Side) -> int | None:
    """The score of ``side``'s engine as a height, -100 (Black wins) to 100 (White); a mate is 100 or -100."""
    if score is None:
        return None
    if score.mate is not None:
        height = 1.0 if score.mate > 0 else -1.0
    else:
        height = math.tanh(STEEPNESS / 2 * (score.centipawns or 0) / 100)
    return round(100 * height if side is Side.WHITE else -100 * height)


def _seconds(note: MoveNote | None) -> float | None:
    return None if note is None or note.ms is None else float(f"{note.ms / 1000:.{DIGITS}g}")


def _nodes(note: MoveNote | None) -> int | None:
    return None if note is None or note.nodes is None else int(float(f"{note.nodes:.{DIGITS}g}"))
