"""Ends games early when the scores of both engines agree. Off unless a match sets a rule.

The score of one engine is never enough: a game is drawn when both engines score it as even for some
moves, and won when one engine scores it as lost and the other as won for some moves.
"""

from __future__ import annotations

import math

from engines.records import MoveNote
from engines.rules.base import Result, Side
from workers.jobs import DrawRule, ResignRule


class Adjudicator:
    """Tracks the scores of one game; a rule of None never ends it."""

    def __init__(self, draw: DrawRule | None = None, resign: ResignRule | None = None) -> None:
        self._draw = draw
        self._resign = resign
        self._even = [0, 0]
        self._won = [0, 0]
        self._lost = [0, 0]
        """For each list: White's and Black's number of consecutive moves with such a score."""

    def judge(self, side: Side, note: MoveNote | None, number: int) -> Result | None:
        """The result after a move of ``side`` in full move ``number``; None while the game continues.

        A move without a score counts for neither rule.
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


def _count(rows: list[int], side: Side, continues: bool) -> None:
    rows[side] = rows[side] + 1 if continues else 0


def _centipawns(note: MoveNote | None) -> float | None:
    """The score from the side that moved; a mate is infinite. None if the engine sent no score."""
    if note is None or note.score is None:
        return None
    if note.score.mate is not None:
        return math.copysign(math.inf, note.score.mate)
    return note.score.centipawns
