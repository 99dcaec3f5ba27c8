"""The values of a replay's chart, ply by ply: both engines' scores and node counts.

The times are in the list of moves.
"""

from __future__ import annotations

from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from engines.protocol import Score
from engines.rules.base import Side
from engines.svg.elements import polyline
from tournament.arithmetic.mistakes import points_of_white
from tournament.views.games.replay import Replay

WIDTH, HEIGHT = 600, 120
"""The size of the drawing of the scores alone."""
DIGITS: Final = 2
"""The digits of node counts: more could not be seen in a chart, and long games have hundreds of them."""


def chart_values(replay: Replay, since: int = 0) -> dict[str, Any]:
    """The values of the plies after ``since``; None where the engine reported none.

    ``first`` is ``white`` or ``black``, who makes the first move of the game; then they take turns. ``score``
    has White's expected points in hundredths by the score of the engine that moved.
    """
    moves, scale = replay.moves[since:], replay.rules.score_scale
    return {
        "since": since,
        "first": replay.positions[0].side.name.lower(),
        "score": [hundredths(move.note.score, move.side, scale) for move in moves],
        "nodes": [None if move.note.nodes is None else _rounded(move.note.nodes) for move in moves],
    }


def hundredths(score: Score | None, side: Side, scale: float) -> int | None:
    """What White can expect of a score of ``side``'s engine, 0 to 100."""
    return None if score is None else round(100 * points_of_white(score, side, scale))


def draw_scores(replay: Replay) -> SafeString:
    """Both engines' scores as an SVG; empty without any."""
    most, scale = max(1, replay.plies), replay.rules.score_scale
    lines = ""
    for side in Side:
        own = [move for move in replay.moves if move.side is side]
        made = [(move.ply, hundredths(move.note.score, side, scale)) for move in own]
        spots = [(WIDTH * ply / most, HEIGHT * (100 - at) / 100) for ply, at in made if at is not None]
        if spots:
            lines += f'<path class="{side.name.lower()}" d="{polyline(spots)}"/>'
    return _with_frame(lines) if lines else SafeString()


def _with_frame(lines: str) -> SafeString:
    # Safe: numbers and names of sides.
    return mark_safe(
        f'<svg class="scores" viewBox="-4 -4 {WIDTH + 8} {HEIGHT + 8}" role="img" aria-label="Scores by ply">'
        f'<path class="even" d="M0 {HEIGHT / 2:g}H{WIDTH}"/>{lines}</svg>'
    )


def _rounded(number: int) -> int:
    return int(float(f"{number:.{DIGITS}g}"))
