"""Ends games early when the scores of both engines agree. Off unless a match sets a rule.

A game is drawn when both engines score it as even for some moves, and won when one engine scores it as lost
and the other as won for some moves. The score of one engine is enough only for a one-sided ``ResignRule``.
"""

from __future__ import annotations

import math

from engines.records import ONE_SIDED, MoveNote
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
        """White's and Black's number of consecutive moves with such a score; one list for each kind of
        score."""

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
            return self._loser(self._resign)
        return None

    def _loser(self, rule: ResignRule) -> Result | None:
        for side in Side:
            is_agreed = not rule.two_sided or self._won[side.other] >= rule.moves
            if self._lost[side] >= rule.moves and is_agreed:
                return Result.win_for(side.other)
        return None

    @property
    def evidence(self) -> str:
        """What a record needs to say about a win; empty if both engines agreed."""
        return ONE_SIDED if self._resign is not None and not self._resign.two_sided else ""


def _count(rows: list[int], side: Side, continues: bool) -> None:
    rows[side] = rows[side] + 1 if continues else 0


def _centipawns(note: MoveNote | None) -> float | None:
    """The score from the side that moved; a mate is infinite. None if the engine sent no score."""
    if note is None or note.score is None:
        return None
    if note.score.mate is not None:
        return math.copysign(math.inf, note.score.mate)
    return note.score.centipawns
