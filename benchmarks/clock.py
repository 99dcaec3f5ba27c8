"""Measures the error of the clock: the time charged to a player less the time measured by its engine.

    python -m benchmarks.clock GAME GAMES COMMAND...

Plays ``COMMAND`` (``fixed_line`` with a time to think) against itself. For each move it prints a line with
the difference in nanoseconds; the engine measures from reading ``go`` to the answer.
"""

from __future__ import annotations

import sys
from typing import Final

from benchmarks.lines import PLIES
from engines.rules.history import History
from engines.rules.registry import Variant, find_game
from engines.timecontrol import TimeControl
from workers.engine.launch import plan_launch
from workers.engine.players import UgiPlayer
from workers.game.referee import EngineMove, GameSetup, MoveRequest, play_game
from workers.jobs import EngineSpec

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


def _play(game: Variant, white: UgiPlayer, black: UgiPlayer) -> None:
    setup = GameSetup(game, History(game, ply_limit=PLIES), (CONTROL, CONTROL), (MARGIN_MS, MARGIN_MS))
    play_game(setup, Compared(white), Compared(black))


class Compared:
    """A player that prints the difference between the charged time and that of its engine."""

    def __init__(self, player: UgiPlayer) -> None:
        self._player = player
        self.prepare = player.prepare
        self.finish = player.finish

    def line(self) -> None:
        """Every answer is looked at here."""

    def choose(self, turn: MoveRequest) -> EngineMove:
        choice = self._player.choose(turn)
        assert choice.note is not None
        assert choice.note.nodes is not None
        print(choice.used_ns - choice.note.nodes)
        return choice


if __name__ == "__main__":
    main()
