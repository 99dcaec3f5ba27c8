"""The interface of a game: positions, outcomes, errors.

A game is a module of this package with one immutable class derived from ``Position``.
This module does not depend on any game, nor on engines, clocks, records or pages.
"""

from __future__ import annotations

import enum
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from engines.rules.native import i64, mypyc_attr
from engines.rules.symmetry import ONLY_IDENTITY, Symmetry

MAX_NUMBER: Final = 999_999_999
"""The largest number in any field of a position string."""

QUOTED_LENGTH = 80
"""Characters of an offending text that are quoted in a message; the rest is cut off."""


class Side(enum.IntEnum):
    """A player by colour; each game defines who moves first."""

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
    """The state of a game: ``UNDECIDED``, or a result with its reason.

    ``white_score`` and ``black_score`` count what the game's ``score_unit`` names; None in games without.
    """

    result: Result
    reason: Reason
    white_score: int | None = None
    black_score: int | None = None

    @property
    def decided(self) -> bool:
        return self.result is not Result.UNDECIDED

    @property
    def winner(self) -> Side | None:
        """The player who won; None after a draw and while the game is undecided."""
        if self.result is Result.WHITE_WINS:
            return Side.WHITE
        return Side.BLACK if self.result is Result.BLACK_WINS else None


UNDECIDED: Final = Outcome(Result.UNDECIDED, Reason.NONE)


def quote(text: str) -> str:
    """The ``repr`` of ``text``, shortened for a message."""
    return repr(text) if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]!r}…"


@dataclass(frozen=True, slots=True)
class Word:
    """A part of moves that is no cell: the label of its button, and what it is ("a direction")."""

    label: str
    noun: str


class RulesError(ValueError):
    """Bad input to the rules; its text is a sentence for users."""


class UnknownGame(RulesError):
    """No ladder has this code."""


class OtherRules(RulesError):
    """A game that was played by another version of its rules."""


class PositionError(RulesError):
    """A position string that is malformed, not canonical or impossible; names the field."""


class IllegalMove(RulesError):
    """A token that is not a legal move in ``position``."""

    def __init__(self, token: str, position: Position, why: str = "") -> None:
        because = f": {why}" if why else ""
        super().__init__(f"illegal move {quote(token)} in position {str(position)!r}{because}")
        self.token = token
        self.position = position


def next_ply(ply: i64) -> i64:
    """The ply after this one.

    Position strings cannot contain numbers beyond ``MAX_NUMBER``, which no game reaches. In a game from a
    position with that ply, it alternates with the ply before it, so that it still fits the side to move.
    """
    return ply + 1 if ply < MAX_NUMBER else ply - 1


# interpreted code can derive from this class, but not from a compiled game
@mypyc_attr(allow_interpreted_subclasses=True)
class Position(metaclass=ABCMeta):
    """One immutable position of one game, with everything that its rules depend on.

    Equal positions have equal position strings. Match rules (repetition, ply
    limit) need a history and are in ``engines.rules.history``.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def side(self) -> Side:
        """The side to move."""

    @property
    @abstractmethod
    def ply(self) -> int:
        """Plies played, the position string's last field; see ``next_ply`` for its limit."""

    @classmethod
    @abstractmethod
    def initial(cls) -> Self:
        """The position at the start of a game."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self:
        """Parse a canonical position string; raises ``PositionError`` for any other text."""

    @abstractmethod
    def __str__(self) -> str:
        """The canonical position string."""

    @abstractmethod
    def legal_moves(self) -> Iterator[str]:
        """The legal tokens, lazily, each once, in a fixed order; none if the game is over."""

    def count_moves(self) -> int:
        """The number of legal tokens; games with many moves count them without generating them."""
        return sum(1 for _ in self.legal_moves())

    def move_at(self, index: int) -> str:
        """The legal token at ``index`` of ``legal_moves``, from 0; raises ``IndexError`` beyond the last.

        With ``count_moves`` a random move can be drawn uniformly without generating all moves.
        """
        for place, token in enumerate(self.legal_moves()):
            if place == index:
                return token
        raise IndexError(f"no legal move at index {index}")

    def play_at(self, index: int) -> tuple[str, Self]:
        """The legal token at ``index`` and the position after it; faster than ``move_at`` and ``play``."""
        token = self.move_at(index)
        return token, self.play(token)

    @abstractmethod
    def is_legal(self, token: str) -> bool:
        """Whether ``token`` is legal; does not generate the moves."""

    @abstractmethod
    def play(self, token: str) -> Self:
        """The position after ``token``; raises ``IllegalMove``."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """The outcome by the rules of the game; looks for one legal move at most, not for all."""

    @abstractmethod
    def key(self) -> Hashable:
        """Equal for positions that are the same for repetition: all fields except the ply."""

    @abstractmethod
    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        """The outcome if ``REPETITION`` or ``PLY_LIMIT`` ends the game in this position."""

    @abstractmethod
    def board(self) -> Mapping[str, str]:
        """The contents of every cell by its name, spelled as in the position string.

        An empty mancala hole is ``"0"``, an empty cell of a hexagon ``""``.
        """

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        """The parts of moves that are no cells, by their spelling: letters of pieces, signs of directions."""
        return {}

    def parts(self, token: str) -> list[str]:
        """What a player chooses for a legal move, in this order: names of cells, and ``words``.

        Other letters and digits, such as ``swap`` or ``x2``, are a part too; other signs only separate parts.
        No two legal moves may have the same parts.
        """
        return _parts_pattern(type(self)).findall(token) or [token]

    def count_captured(self, after: Position) -> int:
        """How many pieces of the opponent, or seeds, the move to ``after`` captured; 0 without captures."""
        return 0

    @classmethod
    def symmetries(cls) -> tuple[Symmetry, ...]:
        """The maps of the board under which the rules stay the same; the first is the identity."""
        return ONLY_IDENTITY

    def form(self, number: int) -> Hashable:
        """The ``key`` of the position after the symmetry of this number."""
        return self.key()

    def canonical(self) -> tuple[Hashable, list[Symmetry]]:
        """The least of all forms, equal for positions that a symmetry maps onto each other.

        With it come the symmetries that lead to it: several for a symmetric position.
        """
        symmetries = self.symmetries()
        forms = [self.form(number) for number in range(len(symmetries))]
        least = min(forms)  # type: ignore[type-var]  # forms of a game are tuples of the same types
        return least, [one for one, form in zip(symmetries, forms, strict=True) if form == least]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position) or type(self) is not type(other):
            return NotImplemented
        return self.ply == other.ply and self.key() == other.key()

    def __hash__(self) -> int:
        return hash((self.ply, self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"


@cache
def _parts_pattern(game: type[Position]) -> re.Pattern[str]:
    """Finds the parts of a game's tokens: the longest name at a place, else what stands before the next."""
    names = sorted([*game.initial().board(), *game.words()], key=len, reverse=True)
    name = "|".join(map(re.escape, names))
    return re.compile(f"{name}|(?:(?!{name})[A-Za-z0-9])+")
