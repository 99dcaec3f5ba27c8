"""A score, as in engines' reports and in records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The mover's own evaluation; exactly one of the two is given.

    ``centipawns`` is in hundredths of the engine's unit; ``mate`` is the number of plies to the
    end, negative if the mover loses.
    """

    centipawns: int | None = None
    mate: int | None = None

    def __post_init__(self) -> None:
        if (self.centipawns is None) == (self.mate is None):
            raise ValueError("a score is either centipawns or a mate")

    def __str__(self) -> str:
        """As after ``score`` in an ``info`` line."""
        return f"cp {self.centipawns}" if self.mate is None else f"mate {self.mate}"
