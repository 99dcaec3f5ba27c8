"""What the moves of a game lost in expected points, by a bot's evaluations of its positions.

Scores are in units of each engine and game. In expected points, which are 1 for a win, 0 for a loss and from
0 to 1 for a score, moves of all games compare, and a lead that wins anyway counts little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engines.protocol import RESIGN, Score
from engines.records import MoveNote, format_score
from engines.rules.base import Side

MARKS: Final = {"??": 0.3, "?": 0.2, "?!": 0.1}
"""The marks, and how many expected points a move loses at least that has one."""
_MOST: Final = 30.0
"""The largest exponent; what is more is certain."""


def expected_points(score: Score, scale: float) -> float:
    """What the side with this score can expect: ``1 / (1 + e^(-score / scale))``.

    It is 1 or 0 if the end is announced. ``scale`` is in hundredths, as ``Variant.score_scale``.
    """
    if score.mate is not None:
        return 1.0 if score.mate > 0 else 0.0
    exponent = (score.centipawns or 0) / scale
    return 1 / (1 + math.exp(-max(-_MOST, min(_MOST, exponent))))


def points_of_white(score: Score, side: Side, scale: float) -> float:
    """What White can expect of a score of ``side``'s engine."""
    points = expected_points(score, scale)
    return points if side is Side.WHITE else 1 - points


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a bot says of the position after ``ply`` moves; its move is empty while it searches."""

    ply: int
    side: Side
    """The side to move."""
    move: str
    note: MoveNote

    @property
    def score(self) -> str:
        """As a record has it, of the side to move."""
        return format_score(self.note.score)

    @property
    def line(self) -> Sequence[str]:
        """The expected moves."""
        if not self.move:
            return self.note.pv
        if self.resigns:
            return ()
        return self.note.pv if self.note.pv[:1] == (self.move,) else (self.move,)

    @property
    def resigns(self) -> bool:
        return self.move == RESIGN


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move, by its ply from 1, that lost expected points."""

    ply: int
    side: Side
    mark: str
    before: float
    """The expected points of the side that moved, with the better move."""
    after: float
    """Its expected points after its move."""
    score: str
    """That of the position before the move, for the side that moved."""
    line: Sequence[str]
    """The better move, and what was expected after it."""


def points_by_ply(
    evaluated: Sequence[Evaluated], scale: float, final: Mapping[int, float]
) -> dict[int, float]:
    """White's expected points by the number of moves made; ``final`` has those of a position that decides."""
    known = {
        one.ply: points_of_white(one.note.score, one.side, scale)
        for one in evaluated
        if one.move and one.note.score is not None
    }
    return {**known, **final}


def find_mistakes(
    evaluated: Sequence[Evaluated], points: Mapping[int, float], moves: Sequence[str], given: int = 0
) -> Iterator[Mistake]:
    """The moves that lost as much as a mark demands; evaluations may be missing.

    The first ``given`` moves are an opening, which nobody chose.
    """
    for one in evaluated:
        ply = one.ply + 1
        if ply <= given or ply > len(moves) or not {one.ply, ply} <= points.keys():
            continue
        if not one.line or one.line[0] == moves[ply - 1]:
            continue
        white = points[one.ply], points[ply]
        before, after = white if one.side is Side.WHITE else (1 - white[0], 1 - white[1])
        mark = next((mark for mark, least in MARKS.items() if before - after >= least), "")
        if mark:
            yield Mistake(ply, one.side, mark, before, after, one.score, one.line)
