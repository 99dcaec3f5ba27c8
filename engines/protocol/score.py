"""A score as engines state it and records keep it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """How the mover stands by his own reckoning: exactly one of the two is given.

    ``centipawns`` is in hundredths of whatever the engine counts in; ``mate`` is
    in plies to the end, negative when the mover loses.
    """

    centipawns: int | None = None
    mate: int | None = None

    def __post_init__(self) -> None:
        if (self.centipawns is None) == (self.mate is None):
            raise ValueError("a score is either centipawns or a mate")
