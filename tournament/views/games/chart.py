"""The values of a replay's chart: both engines' scores, times and node counts, ply by ply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from engines.protocol import Score
from engines.rules.base import Side
from engines.svg.elements import polyline
from tournament.views.games.replay import Replay

STEEPNESS: Final = 0.4
"""Of the logistic function, per unit of score: a lead of 5 units is drawn at three quarters of the height."""

WIDTH, HEIGHT = 600, 120
"""Of the drawing of the scores alone."""
DIGITS: Final = 2
"""Of times and node counts: more could not be seen in a chart, and long games have hundreds of them."""


def chart_values(replay: Replay, since: int = 0) -> dict[str, Any]:
    """The values of the plies after ``since``; None where the engine reported none.

    ``first`` is ``white`` or ``black``, who makes the first move of the game; then they take turns. ``score``
    has that of the engine that moved, as ``squeeze`` draws it, ``time`` is in seconds.
    """
    moves = replay.moves[since:]
    return {
        "since": since,
        "first": replay.positions[0].side.name.lower(),
        "score": [squeeze(move.note.score, move.side) for move in moves],
        "time": [None if move.note.ms is None else _rounded(move.note.ms / 1000) for move in moves],
        "nodes": [None if move.note.nodes is None else int(_rounded(move.note.nodes)) for move in moves],
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


def draw_scores(replay: Replay) -> SafeString:
    """Both engines' scores as an SVG; empty without any."""
    most = max(1, replay.plies)
    lines = ""
    for side in Side:
        made = ((move.ply, squeeze(move.note.score, side)) for move in replay.moves if move.side is side)
        spots = [(WIDTH * ply / most, HEIGHT * (100 - at) / 200) for ply, at in made if at is not None]
        if spots:
            lines += f'<path class="{side.name.lower()}" d="{polyline(spots)}"/>'
    return _with_frame(lines) if lines else SafeString()


def draw_heights(heights: Sequence[tuple[int, int]], plies: int) -> SafeString:
    """One line of heights, each with its ply, as an SVG; empty without any."""
    spots = [(WIDTH * ply / max(1, plies), HEIGHT * (100 - at) / 200) for ply, at in heights]
    return _with_frame(f'<path class="white" d="{polyline(spots)}"/>') if spots else SafeString()


def _with_frame(lines: str) -> SafeString:
    # Safe: numbers and names of sides.
    return mark_safe(
        f'<svg class="scores" viewBox="-4 -4 {WIDTH + 8} {HEIGHT + 8}" role="img" aria-label="Scores by ply">'
        f'<path class="even" d="M0 {HEIGHT / 2:g}H{WIDTH}"/>{lines}</svg>'
    )


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
