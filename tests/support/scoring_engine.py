"""A random bot of the SDK with a wrong habit: ``white`` scores from White's side, ``late`` sees no end.

scoring_engine.py white|own|late
"""

from __future__ import annotations

import sys

from engines.rules.base import Side
from engines.sdk import BotTurn, Session, run


def choose(turn: BotTurn) -> str:
    tokens = list(turn.position.legal_moves())
    wins = [token for token in tokens[:400] if turn.position.play(token).outcome().decided]
    score = 500 if wins else turn.random.randrange(-50, 50)
    sign = -1 if "white" in sys.argv and turn.position.side is Side.BLACK else 1
    turn.info(depth=1, score=sign * score)
    return (wins or tokens)[0]


if __name__ == "__main__":
    if "late" in sys.argv:
        Session._find_move = lambda self, search: "a1"  # type: ignore[method-assign]
    run(choose, name="Scoring")
