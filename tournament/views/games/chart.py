"""The values of a replay's chart: both engines' scores, times and node counts, ply by ply.

A separate module, because it computes values from a replay and handles no request.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from engines.protocol.score import Score
from engines.records import MoveNote
from engines.rules.base import Side
from tournament.views.games.replay import Replay

STEEPNESS: Final = 0.4
"""Of the logistic function, per unit of score: a lead of 5 units is drawn at three quarters of the height."""

DIGITS: Final = 3
"""Of times and node counts: more could not be seen, and long games have hundreds of them."""

Values = dict[str, list[float | None]]


def chart_values(replay: Replay, since: int = 0) -> Values:
    """By series, one value for each ply after ``since``; None where the engine reported none.

    ``white`` and ``black`` are the engines' scores as ``squeeze`` draws them, the ``_time`` series are
    seconds, the ``_nodes`` series counts, both rounded to ``DIGITS`` digits.
    """
    values: Values = {}
    for side in Side:
        name = side.name.lower()
        values[name] = _series(replay, side, since, lambda note, side=side: squeeze(note.score, side))  # type: ignore[misc]
        values[f"{name}_time"] = _series(replay, side, since, _seconds)
        values[f"{name}_nodes"] = _series(replay, side, since, _nodes)
    return values


def squeeze(score: Score | None, side: Side) -> float | None:
    """The score of ``side``'s engine as a height, -1 (Black wins) to 1 (White); a mate is 1 or -1."""
    if score is None:
        return None
    if score.mate is not None:
        height = 1.0 if score.mate > 0 else -1.0
    else:
        height = math.tanh(STEEPNESS / 2 * (score.centipawns or 0) / 100)
    return round(height if side is Side.WHITE else 0.0 - height, 3)


def _series(
    replay: Replay, side: Side, since: int, value: Callable[[MoveNote], float | None]
) -> list[float | None]:
    return [
        None if move.note is None or move.side is not side else value(move.note)
        for move in replay.moves[since:]
    ]


def _seconds(note: MoveNote) -> float | None:
    return None if note.ms is None else float(f"{note.ms / 1000:.{DIGITS}g}")


def _nodes(note: MoveNote) -> int | None:
    return None if note.nodes is None else int(float(f"{note.nodes:.{DIGITS}g}"))
