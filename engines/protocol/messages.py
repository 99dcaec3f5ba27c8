"""The messages of UGI, one frozen dataclass each; PROTOCOL.md specifies them.

``parse`` reads them from lines, ``format`` writes them. ``p1`` is the player who moves first from
the game's initial position (``Variant.first``), also if a game starts from another position.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

RESIGN = "resign"
"""The word instead of a move that resigns."""

VARIANT_OPTION = "UGI_Variant"
SEED_OPTION = "UGI_Seed"


class OptionType(enum.StrEnum):
    CHECK = "check"
    SPIN = "spin"
    COMBO = "combo"
    BUTTON = "button"
    STRING = "string"


class Winner(enum.StrEnum):
    """How a game ended, in the protocol's words; ``NONE`` is only an answer to ``query result``."""

    P1 = "p1win"
    P2 = "p2win"
    DRAW = "draw"
    NONE = "none"


class Question(enum.StrEnum):
    GAME_OVER = "gameover"
    P1_TURN = "p1turn"
    RESULT = "result"


# To the engine


@dataclass(frozen=True, slots=True)
class Ugi:
    """The first message to an engine."""


@dataclass(frozen=True, slots=True)
class IsReady:
    """Answered by ``ReadyOk`` when all earlier messages are processed."""


@dataclass(frozen=True, slots=True)
class UgiNewGame:
    """A new game follows: the engine forgets earlier games."""


@dataclass(frozen=True, slots=True)
class SetOption:
    """``value`` is None for a button; several spaces in it are sent as one."""

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class SetPosition:
    """``fen`` is None for the initial position; it is not checked here."""

    fen: str | None = None
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Go:
    """The limits of one search; without limits it lasts until ``Stop``."""

    p1_time_ms: int | None = None
    p2_time_ms: int | None = None
    p1_inc_ms: int | None = None
    p2_inc_ms: int | None = None
    movetime_ms: int | None = None
    nodes: int | None = None
    depth: int | None = None


GO_FIELDS = {
    "p1time": "p1_time_ms",
    "p2time": "p2_time_ms",
    "p1inc": "p1_inc_ms",
    "p2inc": "p2_inc_ms",
    "movetime": "movetime_ms",
    "nodes": "nodes",
    "depth": "depth",
}
"""The words before the numbers of a ``go`` line, in order, and the fields of ``Go``."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Ends the search at once, with a ``BestMove``."""


@dataclass(frozen=True, slots=True)
class Quit:
    """Ends the engine."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """A courtesy at the end of a game; ``reason`` may be several words."""

    winner: Winner
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query of other match runners; our server has the rules itself and never sends it."""

    what: Question


ServerMessage = Ugi | IsReady | UgiNewGame | SetOption | SetPosition | Go | Stop | Quit | GameOver | Query


# From the engine


@dataclass(frozen=True, slots=True)
class IdName:
    name: str


@dataclass(frozen=True, slots=True)
class IdAuthor:
    author: str


@dataclass(frozen=True, slots=True)
class OptionDeclared:
    """``default`` is the text as declared (None for a button); ``choices`` are a combo's ``var``s."""

    name: str
    type: OptionType
    default: str | None = None
    min: int | None = None
    max: int | None = None
    choices: tuple[str, ...] = ()


OPTION_FIELDS = {"default": "default", "min": "min", "max": "max"}
"""The words of an ``option`` line before values that may be missing, in order, and the fields."""


@dataclass(frozen=True, slots=True)
class UgiOk:
    """The engine has sent its name and its options."""


@dataclass(frozen=True, slots=True)
class ReadyOk:
    """The answer to ``IsReady``."""


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


@dataclass(frozen=True, slots=True)
class Info:
    """An engine's report on its search. It is not trusted; numbers may be negative."""

    depth: int | None = None
    seldepth: int | None = None
    score: Score | None = None
    time_ms: int | None = None
    nodes: int | None = None
    nps: int | None = None
    pv: tuple[str, ...] = ()
    string: str = ""


INFO_FIELDS = {
    "depth": "depth",
    "seldepth": "seldepth",
    "score": "score",
    "time": "time_ms",
    "nodes": "nodes",
    "nps": "nps",
}
"""The words of an ``info`` line before a number or a score, in order, and the fields of ``Info``."""


@dataclass(frozen=True, slots=True)
class BestMove:
    """``move`` is ``""`` if the line had none, and may be ``RESIGN``."""

    move: str


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a ``Query``."""

    value: str


EngineMessage = IdName | IdAuthor | OptionDeclared | UgiOk | ReadyOk | Info | BestMove | Response
