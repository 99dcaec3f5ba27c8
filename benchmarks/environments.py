"""Measures how many steps a second the environments for research make, with actions drawn at random.

A step is one part of a move. The columns are the steps of a game; steps a second in OpenSpiel without and
with the observation of the player to move; those in PettingZoo, which observes at each step and draws from
the mask; and games a second in OpenSpiel. Each figure is of one process and of processor time.

    python -m benchmarks.environments --seconds 2
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random
from time import process_time

import numpy as np
import pyspiel
from open_spiel.python.observation import make_observation

from benchmarks.measuring import describe_machine, head, parser_of, row
from engines.environments import aec, spiel
from engines.environments.planes import ENCODINGS

HEAD = head("ladder", "steps a game", "OpenSpiel", "and observed", "PettingZoo", "games a second")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("environments", __doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each figure (default 2)")
    seconds = parser.parse_args(arguments).seconds
    print("\n".join(describe_machine()), HEAD, sep="\n\n")
    for code in ENCODINGS:
        print(measure(code, seconds), flush=True)
    return 0


def measure(code: str, seconds: float) -> str:
    """The row of a ladder."""
    games, steps, spent = _repeat(lambda rng: play_spiel(code, rng, observe=False), seconds)
    _, seen, seeing = _repeat(lambda rng: play_spiel(code, rng, observe=True), seconds)
    _, stepped, stepping = _repeat(lambda rng: play_aec(code, rng), seconds)
    rates = (f"{count / time:,.0f}" for count, time in ((steps, spent), (seen, seeing), (stepped, stepping)))
    return row(code, f"{steps / games:.0f}", *rates, f"{games / spent:,.0f}")


def play_spiel(code: str, rng: Random, observe: bool) -> int:
    """The steps of a random game in OpenSpiel."""
    game = pyspiel.load_game(spiel.spiel_name(code))
    observation = make_observation(game) if observe else None
    state, steps = game.new_initial_state(), 0
    while not state.is_terminal():
        if observation:
            observation.set_from(state, state.current_player())
        state.apply_action(rng.choice(state.legal_actions()))
        steps += 1
    return steps


def play_aec(code: str, rng: Random) -> int:
    """The steps of a random game in PettingZoo, without its wrappers."""
    env, steps = aec.LadderEnv(code), 0
    for _ in env.agent_iter():
        observation, _, is_over, _, _ = env.last()
        if is_over:
            return steps
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        steps += 1
    return steps


def _repeat(play: Callable[[Random], int], seconds: float) -> tuple[int, int, float]:
    """Games, steps and processor time of as many games as begin within ``seconds``."""
    rng, games, steps, start = Random(1), 0, 0, process_time()
    while (spent := process_time() - start) < seconds:
        steps += play(rng)
        games += 1
    return games, steps, spent


if __name__ == "__main__":
    sys.exit(main())
