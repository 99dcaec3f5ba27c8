"""What every game says to the rest of the house: positions, outcomes, errors.

A game is one module beside this one with one immutable class derived from
``Position``. Nothing here knows a particular game, and nothing here knows of
engines, clocks, records or pages.
"""

from __future__ import annotations

import enum
from abc import ABCMeta, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from engines.rules.native import i64, mypyc_attr

MAX_NUMBER: Final = 999_999_999
"""The largest number a position string may hold, in any field."""

QUOTED_LENGTH = 80
"""Characters of an offending text that are quoted in a complaint; the rest is cut off."""


class Side(enum.IntEnum):
    """A player by colour; who moves first is a rule of each game."""

    WHITE = 0
    BLACK = 1

    @property
    def other(self) -> Side:
        return Side.BLACK if self is Side.WHITE else Side.WHITE

    @property
    def letter(self) -> str:
        """``w`` or ``b``, as in position strings."""
        return "wb"[self]


class Result(enum.StrEnum):
    """Who won, as in records; ``*`` is undecided (or void)."""

    WHITE_WINS = "1-0"
    BLACK_WINS = "0-1"
    DRAW = "1/2-1/2"
    UNDECIDED = "*"

    @staticmethod
    def win_for(side: Side) -> Result:
        return Result.WHITE_WINS if side is Side.WHITE else Result.BLACK_WINS


class Reason(enum.StrEnum):
    """The word printed with a result; the last two are match rules, not rules of a game."""

    NONE = ""
    THREE_IN_A_ROW = "three-in-a-row"
    FOUR_DISCS = "four-discs"
    FOUR_RINGS = "four-rings"
    NO_MOVE = "no-move"
    SEEDS = "seeds"
    CANNOT_PAY = "cannot-pay"
    BOARD_FULL = "board-full"
    NO_ACTION = "no-action"
    REPETITION = "repetition"
    PLY_LIMIT = "ply-limit"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game stands: ``UNDECIDED``, or a result with its reason.

    ``white_score`` and ``black_score`` are Dogon's seeds, else None.
    """

    result: Result
    reason: Reason
    white_score: int | None = None
    black_score: int | None = None

    @property
    def decided(self) -> bool:
        return self.result is not Result.UNDECIDED


UNDECIDED: Final = Outcome(Result.UNDECIDED, Reason.NONE)


def quote(text: str) -> str:
    """``text`` as ``repr`` writes it, cut to a length fit for a message."""
    return repr(text) if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]!r}…"


class RulesError(ValueError):
    """Bad input to the rules; its text is one sentence fit for a user."""


class UnknownGame(RulesError):
    """No ladder has this code."""


class PositionError(RulesError):
    """A position string that is malformed, not canonical or impossible; names the field."""


class IllegalMove(RulesError):
    """A token that is no legal move in the position it was offered in."""

    def __init__(self, token: str, position: Position, why: str = "") -> None:
        because = f": {why}" if why else ""
        super().__init__(f"illegal move {quote(token)} in position {str(position)!r}{because}")
        self.token = token
        self.position = position


def next_ply(ply: i64) -> i64:
    """The ply after this one.

    No position string can count beyond ``MAX_NUMBER``, and no game gets there. From a position
    given there play goes on all the same: the ply goes back by one, which fits the side to move, and
    comes again.
    """
    return ply + 1 if ply < MAX_NUMBER else ply - 1


@mypyc_attr(allow_interpreted_subclasses=True)  # of this class; a compiled game cannot be derived from
class Position(metaclass=ABCMeta):
    """One immutable position of one game, with everything its rules depend on.

    Equal positions have equal position strings. Match rules (repetition, ply
    limit) need a history and live in ``engines.rules.history``.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def side(self) -> Side:
        """The side to move."""

    @property
    @abstractmethod
    def ply(self) -> int:
        """Plies played, the position string's last field; ``next_ply`` tells where counting ends."""

    @classmethod
    @abstractmethod
    def initial(cls) -> Self:
        """The position a game starts from."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self:
        """Read a canonical position string; raises ``PositionError`` for anything else."""

    @abstractmethod
    def __str__(self) -> str:
        """The canonical position string."""

    @abstractmethod
    def legal_moves(self) -> Iterator[str]:
        """The legal tokens, lazily, each once, in a fixed order; none when the game is over."""

    def count_moves(self) -> int:
        """How many legal tokens there are; a game with many counts them without making them."""
        return sum(1 for _ in self.legal_moves())

    def move_at(self, index: int) -> str:
        """The legal token at ``index`` of ``legal_moves``, from 0 on; raises ``IndexError`` beyond them.

        With ``count_moves`` a move is drawn uniformly without listing thousands of others.
        """
        for place, token in enumerate(self.legal_moves()):
            if place == index:
                return token
        raise IndexError(f"no legal move at index {index}")

    @abstractmethod
    def is_legal(self, token: str) -> bool:
        """Whether ``token`` is legal, without enumerating the moves."""

    @abstractmethod
    def play(self, token: str) -> Self:
        """The position after ``token``; raises ``IllegalMove``."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """How the game stands by its own rules; looks for one legal move, never for all."""

    @abstractmethod
    def key(self) -> Hashable:
        """Equal exactly for positions that count as the same for repetition (all but the ply)."""

    @abstractmethod
    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        """The outcome when ``REPETITION`` or ``PLY_LIMIT`` ends the game here."""

    @abstractmethod
    def board(self) -> Mapping[str, str]:
        """Every cell's name to its contents, spelled as in the position string (empty cells too).

        An empty mancala hole is ``"0"``, an empty cell of a hexagon ``""``.
        """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position) or type(self) is not type(other):
            return NotImplemented
        return self.ply == other.ply and self.key() == other.key()

    def __hash__(self) -> int:
        return hash((self.ply, self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"
