"""How honest the clock is: what a player is charged beside what its engine says it took.

    python -m benchmarks.clock GAME GAMES COMMAND...

Plays ``COMMAND`` (``fixed_line`` with a time to think) against itself and prints, a line a move, by how
many nanoseconds the time taken off the clock is longer than the engine's own, which runs from reading
``go`` to the answer.
"""

from __future__ import annotations

import sys
from typing import Final

from benchmarks.lines import PLIES
from engines.rules.history import History
from engines.rules.registry import Game, find_game
from engines.timecontrol import TimeControl
from workers.clocks import NS_PER_MS
from workers.jobs import EngineSpec
from workers.launch import plan_launch
from workers.players import UgiPlayer
from workers.referee import Board, Match, play_game

CONTROL: Final = TimeControl(base_ms=600_000)
MARGIN_MS: Final = 50


def main() -> None:
    game, games, command = find_game(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:])
    spec = EngineSpec("Fixed line", "", command, directory="/")
    white, black = (UgiPlayer(lambda: plan_launch(spec, None), variant=game.code) for _ in range(2))
    try:
        for _ in range(games):
            _play(game, white, black)
    finally:
        white.close()
        black.close()


def _play(game: Game, white: UgiPlayer, black: UgiPlayer) -> None:
    match = Match(game, History(game, ply_limit=PLIES), (CONTROL, CONTROL), MARGIN_MS)
    charges = Charges()
    play_game(match, white, black, on_move=charges.look)


class Charges:
    """Follows the clocks of a game without increments."""

    def __init__(self) -> None:
        self._left_ns = [(CONTROL.base_ms or 0) * NS_PER_MS] * 2

    def look(self, board: Board) -> None:
        """After a move: print how its charge differs from what the engine said."""
        for side, clock in enumerate(board.clocks):
            left_ns = clock.left_ns or 0
            charged_ns = self._left_ns[side] - left_ns
            self._left_ns[side] = left_ns
            if charged_ns:
                note = board.moves[-1].note
                assert note is not None
                assert note.nodes is not None
                print(charged_ns - note.nodes)


if __name__ == "__main__":
    main()
