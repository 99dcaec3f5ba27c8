"""Greedy: one ply of the evaluation that Alphabeta searches with.

It plays each move, wins at once if it can, and else takes what leaves the opponent
least; equals are drawn by lot. Of DuAlma's 3,540 placements and DuploLine's thousand
turns these are the candidates that Alphabeta looks at, too.
"""

from __future__ import annotations

from engines.bots.candidates import GUIDES
from engines.bots.evaluation import EVALUATIONS, worth_of
from engines.sdk import BotTurn, run


def choose(turn: BotTurn) -> str:
    position, guide = turn.position, GUIDES[turn.game.code]
    win = guide.winning_move(position)
    if win is not None:
        return win
    evaluate = EVALUATIONS[turn.game.code]

    def worth(token: str) -> int:
        after = position.play(token)
        outcome = after.outcome()
        return -(worth_of(outcome, after.side) if outcome.decided else evaluate(after))

    moves, _ = guide.candidates(position)
    scores = {token: worth(token) for token in moves}
    best = max(scores.values())
    return turn.random.choice([token for token, score in scores.items() if score == best])


if __name__ == "__main__":
    run(choose, name="Greedy", author="Duarena")
