"""What the literal games have in common: almost nothing."""

from __future__ import annotations

from typing import Self

LiteralOutcome = tuple[str, str, int | None, int | None]


class LiteralGame:
    """One position; ``play`` returns a new one."""

    side: str
    ply: int

    @classmethod
    def parse(cls, text: str) -> Self:
        raise NotImplementedError

    def text(self) -> str:
        raise NotImplementedError

    def legal(self) -> list[str]:
        """Every legal token; empty when the game is over."""
        raise NotImplementedError

    def play(self, token: str) -> Self:
        """The position after a token that is in ``legal()``."""
        raise NotImplementedError

    def outcome(self) -> LiteralOutcome | None:
        raise NotImplementedError


def other(side: str) -> str:
    return "b" if side == "w" else "w"


def win_for(side: str) -> str:
    return "1-0" if side == "w" else "0-1"
