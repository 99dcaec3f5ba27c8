"""The small common part of the literal games."""

from __future__ import annotations

import re
from typing import Self

MAX_NUMBER = 999_999_999
LiteralOutcome = tuple[str, str, int | None, int | None]


class Refused(ValueError):
    """The rules refuse a position string."""


class LiteralGame:
    """One position; ``play`` returns a new one."""

    side: str
    ply: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the one canonical spelling; raises ``Refused`` for anything else."""
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

    def next_ply(self) -> int:
        """Any number over 999999999 is refused: from there plies go back by one, and forth again."""
        return self.ply + 1 if self.ply < MAX_NUMBER else self.ply - 1

    def outcome_by_match_rule(self, reason: str) -> LiteralOutcome:
        """In Dogon each player receives the seeds in his own holes; in the other games it is a draw."""
        return "1/2-1/2", reason, None, None


def other(side: str) -> str:
    return "b" if side == "w" else "w"


def win_for(side: str) -> str:
    return "1-0" if side == "w" else "0-1"


# What position strings have in common


def refuse_if(condition: bool, why: str) -> None:
    if condition:
        raise Refused(why)


def split(text: str, separator: str, count: int) -> list[str]:
    """Fields are separated by one space, ranks by a slash, holes and cells by a comma."""
    parts = text.split(separator)
    refuse_if(len(parts) != count, f"{len(parts)} parts instead of {count}")
    return parts


def number(text: str) -> int:
    """Plain digits in their one canonical spelling; any number over 999999999 is refused."""
    refuse_if(re.fullmatch("0|[1-9][0-9]{0,8}", text) is None, f"{text[:20]!r} is no number")
    return int(text)


def turn(side: str, ply: str, first: str) -> tuple[str, int]:
    """A side to move that does not fit the ply's parity is refused."""
    mover = first if number(ply) % 2 == 0 else other(first)
    refuse_if(side != mover, "the other side is to move")
    return side, number(ply)
