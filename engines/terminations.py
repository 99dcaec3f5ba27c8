"""Why a game ended, and whose fault it was, as records and reports name it."""

from __future__ import annotations

import enum

from engines.rules.base import Side


class Termination(enum.StrEnum):
    """Why a game ended."""

    RULES = "rules"
    REPETITION = "repetition"
    PLY_LIMIT = "ply limit"
    ILLEGAL_MOVE = "illegal move"
    UNSOLICITED = "unsolicited answer"
    RESIGNATION = "resignation"
    TIME = "time forfeit"
    STALL = "stall"
    CRASH = "crash"
    FLOOD = "flood"
    MEMORY = "memory limit"
    PROCESS = "process limit"
    CPU = "cpu limit"
    FILE = "file limit"
    ADJUDICATION = "adjudication"
    VOID = "void"

    @property
    def is_forfeit(self) -> bool:
        """Whether an engine lost by its own fault; it counts like any other loss."""
        return self not in _NO_FORFEIT


_NO_FORFEIT = frozenset(
    {
        Termination.RULES,
        Termination.REPETITION,
        Termination.PLY_LIMIT,
        Termination.RESIGNATION,
        Termination.ADJUDICATION,
        Termination.VOID,
    }
)


class Fault(enum.StrEnum):
    """Whose fault ended the game: a player's in a forfeit, the infrastructure's in a void."""

    WHITE = "white"
    BLACK = "black"
    NONE = "none"
    INFRASTRUCTURE = "infrastructure"

    @staticmethod
    def of(side: Side) -> Fault:
        return Fault.WHITE if side is Side.WHITE else Fault.BLACK
