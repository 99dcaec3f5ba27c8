"""Greedy: a search of one ply with Alphabeta's evaluation.

It plays each move on the board, wins at once if it can, and otherwise chooses the
move with the lowest score for the opponent; among equal moves it chooses at random.
In DuAlma and DuploLine it considers the same candidates as Alphabeta.
"""

from __future__ import annotations

from engines.bots.candidates import guide_of
from engines.bots.evaluation import evaluation_of, final_score
from engines.sdk import BotTurn, run


def choose(turn: BotTurn) -> str:
    position, guide = turn.position, guide_of(turn.game.code)
    win = guide.winning_move(position)
    if win is not None:
        return win
    evaluate = evaluation_of(turn.game.code)

    def score(token: str) -> int:
        after = position.play(token)
        outcome = after.outcome()
        return -(final_score(outcome, after.side) if outcome.decided else evaluate(after))

    moves, _ = guide.candidates(position)
    scores = {token: score(token) for token in moves}
    best = max(scores.values())
    return turn.random.choice([token for token, score in scores.items() if score == best])


if __name__ == "__main__":
    run(choose, name="Greedy", author="Duarena")
