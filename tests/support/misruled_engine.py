"""An engine that plays by the literal rules with one of them broken. Run as a program.

    misruled_engine.py CODE BELIEF

It refuses moves that it takes for illegal, and answers from the position before them.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from tests.support.mutations import MUTATIONS, break_rule


def main(code: str, belief: str) -> None:
    (mutation,) = (one for one in MUTATIONS[code] if one.belief == belief)
    rules = break_rule(code, mutation)
    rng = random.Random(1)
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["ugi"]:
                print("id name Misruled\nugiok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position"]:
                end = words.index("moves") if "moves" in words else len(words)
                position = rules.parse(" ".join(words[2:end]) if words[1] == "fen" else START[code])
                for token in words[end + 1 :]:
                    if token not in position.legal():
                        print(f"info string illegal move {token}", flush=True)
                        break
                    position = position.play(token)
            case ["go"]:
                tokens = [] if position.outcome() else position.legal()
                print("bestmove", rng.choice(tokens) if tokens else "none", flush=True)
            case ["quit"]:
                return


if __name__ == "__main__":
    from engines.rules.registry import GAMES

    START = {code: str(game.position.initial()) for code, game in GAMES.items()}
    main(*sys.argv[1:])
