"""Random: plays a random legal move, all with equal probability.

It is the simplest bot and the reference point of a rating list. With a seed
(``UGI_Seed``) its games can be repeated.
"""

from __future__ import annotations

from engines.sdk import BotTurn, run


def choose(turn: BotTurn) -> str:
    return turn.random.choice(list(turn.position.legal_moves()))


if __name__ == "__main__":
    run(choose, name="Random", author="Duarena")
