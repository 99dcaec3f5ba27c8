"""The moves of a game that lost most, by a bot's evaluations of the positions before and after them.

A pure function. Losses are ranked by the heights of the chart (``chart.squeeze``), in which a lead that wins
anyway counts little, and named in the bot's own units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engines.protocol import Score
from engines.records import format_score
from engines.rules.base import Side
from tournament.views.games.chart import squeeze

MOST: Final = 6
"""Moves that are named."""
LEAST: Final = 8
"""Of the chart's 200 from lost to won; less is the noise of short searches."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The evaluation of the position after ``ply`` moves, for the side to move."""

    ply: int
    side: Side
    score: Score
    best: str

    @property
    def height(self) -> int:
        """From -100 (Black wins) to 100 (White)."""
        return squeeze(self.score, self.side) or 0


@dataclass(frozen=True, slots=True)
class Loss:
    """A move, by its ply from 1, that another one was better than."""

    ply: int
    side: Side
    token: str
    better: str
    before: Score
    after: Score
    """Both for the side that moved."""
    height: int

    @property
    def text(self) -> str:
        """What it lost: a number of the bot's units, or how a win or a loss was announced."""
        if self.before.centipawns is not None and self.after.centipawns is not None:
            return f"{(self.before.centipawns - self.after.centipawns) / 100:.2f} lost"
        return f"from {format_score(self.before)} to {format_score(self.after)}"


def find_losses(judged: Mapping[int, Judged], moves: tuple[str, ...], given: int = 0) -> list[Loss]:
    """The moves that lost most, by their plies; ``judged`` by ply may have gaps.

    The first ``given`` moves are an opening, which nobody chose.
    """
    chosen = (loss for loss in _losses(judged, moves) if loss.ply > given)
    found = sorted(chosen, key=lambda loss: -loss.height)[:MOST]
    return sorted(found, key=lambda loss: loss.ply)


def _losses(judged: Mapping[int, Judged], moves: tuple[str, ...]) -> Iterator[Loss]:
    for ply, token in enumerate(moves, 1):
        before, after = judged.get(ply - 1), judged.get(ply)
        if before is None or after is None or before.best in {"", token}:
            continue
        height = (before.height - after.height) * (1 if before.side is Side.WHITE else -1)
        if height >= LEAST:
            own = after.score if after.side is before.side else _opposite(after.score)
            yield Loss(ply, before.side, token, before.best, before.score, own, height)


def _opposite(score: Score) -> Score:
    if score.mate is not None:
        return Score(mate=-score.mate)
    return Score(centipawns=-(score.centipawns or 0))
