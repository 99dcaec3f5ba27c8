"""Golden games: one random game of each ladder, recorded ply by ply.

After a deliberate change of the rules or of the notation, write them again with
``python -m tests.support.playthroughs`` and check the difference.
"""

from __future__ import annotations

import random
from pathlib import Path

from engines.rules import GAMES, History, Variant

FOLDER = Path(__file__).parents[1] / "data" / "playthroughs"
SEED = 2026


def format_playthrough(game: Variant, seed: int = SEED) -> str:
    """A random game to its end: a line a position (number of moves, string), a line a move, the outcome."""
    rng = random.Random(seed)
    history = History(game)
    lines = [f"{game.code}, random game with seed {seed}", ""]
    while True:
        moves = sorted(history.position.legal_moves())
        lines.append(f"{len(moves):5}  {history.position}")
        if history.outcome.decided:
            break
        token = rng.choice(moves)
        lines.append(f"       > {token}")
        history.play(token)
    outcome = history.outcome
    scores = "" if outcome.white_score is None else f" {outcome.white_score}:{outcome.black_score}"
    lines.append(f"result: {outcome.result} {outcome.reason}{scores}")
    return "\n".join(lines) + "\n"


def path_of(game: Variant) -> Path:
    return FOLDER / f"{game.code}.txt"


if __name__ == "__main__":
    for each in GAMES.values():
        path_of(each).write_text(format_playthrough(each), encoding="utf-8")
