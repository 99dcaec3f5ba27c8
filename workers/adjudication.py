"""Games ended early because both engines agree how they stand. Off unless a match asks for it.

One engine's word is never enough: a game is a draw when both have called it even for some moves, and is
won when one has long called it lost and the other won.
"""

from __future__ import annotations

import math

from engines.records import MoveNote
from engines.rules.base import Result, Side
from workers.jobs import DrawRule, ResignRule


class Adjudicator:
    """Follows the scores of one game; a rule of None never ends it."""

    def __init__(self, draw: DrawRule | None = None, resign: ResignRule | None = None) -> None:
        self._draw = draw
        self._resign = resign
        self._even = [0, 0]
        self._won = [0, 0]
        self._lost = [0, 0]
        """White's and Black's moves in a row with such a score."""

    def judge(self, side: Side, note: MoveNote | None, number: int) -> Result | None:
        """What the game is after a move of ``side``, number ``number`` of both; None while it goes on.

        A move without a score agrees to nothing.
        """
        score = _centipawns(note)
        if self._draw is not None:
            _count(self._even, side, score is not None and abs(score) <= self._draw.score)
            if number >= self._draw.move_number and min(self._even) >= self._draw.moves:
                return Result.DRAW
        if self._resign is not None:
            _count(self._won, side, score is not None and score >= self._resign.score)
            _count(self._lost, side, score is not None and score <= -self._resign.score)
            return self._loser(self._resign.moves)
        return None

    def _loser(self, moves: int) -> Result | None:
        for side in Side:
            if self._lost[side] >= moves and self._won[side.other] >= moves:
                return Result.win_for(side.other)
        return None


def _count(rows: list[int], side: Side, goes_on: bool) -> None:
    rows[side] = rows[side] + 1 if goes_on else 0


def _centipawns(note: MoveNote | None) -> float | None:
    """A score from the mover's side, a mate beyond all others; None where the engine gave none."""
    if note is None or note.score is None:
        return None
    if note.score.mate is not None:
        return math.copysign(math.inf, note.score.mate)
    return note.score.centipawns
