"""The rules of the four games, one module each: positions, moves, outcomes. `registry` lists the ladders.

Begin with `base.py`, then read a game: `dogon.py` is the shortest. `history` adds the match rules. Clocks and
forfeits are not here (`workers.game`), nor are boards as text or SVG (`engines.text`, `engines.svg`).
"""

from engines.rules.base import (
    MAX_NUMBER,
    UNDECIDED,
    IllegalMove,
    Outcome,
    Position,
    PositionError,
    Reason,
    Result,
    RulesError,
    Side,
    UnknownGame,
    Word,
)
from engines.rules.history import History
from engines.rules.perft import perft
from engines.rules.registry import GAMES, Variant, find_game

__all__ = [
    "GAMES",
    "MAX_NUMBER",
    "UNDECIDED",
    "History",
    "IllegalMove",
    "Outcome",
    "Position",
    "PositionError",
    "Reason",
    "Result",
    "RulesError",
    "Side",
    "UnknownGame",
    "Variant",
    "Word",
    "find_game",
    "perft",
]
