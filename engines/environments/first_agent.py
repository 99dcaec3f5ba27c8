"""Trains a small agent of Dogon kulei in OpenSpiel, packs it as a bot and uploads it. Run its cells in order.

    python3 -m engines.environments.first_agent --games 2000 --out first-agent.zip

The agent values the position after each of its moves by a weighted sum of features, and learns the weights
from games against itself: the value of each position is moved towards the result of its game. The upload
needs ``DUARENA_SITE`` and ``DUARENA_TOKEN`` in the environment; without them the bundle is only written.
"""

# %% What is imported, and how much is trained
from __future__ import annotations

import argparse
import inspect
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from engines.bundles.store import pack_bundle
from engines.environments import spiel
from engines.rules.base import Position, Side

parser = argparse.ArgumentParser(description="Train an agent of Dogon kulei, and upload it.")
parser.add_argument("--games", type=int, default=2000, help="games against itself (default 2000)")
parser.add_argument("--tests", type=int, default=200, help="games against random moves (default 200)")
parser.add_argument("--out", type=Path, default=Path("first-agent.zip"), help="the bundle")
options, _ = parser.parse_known_args()
rng, GAME, EXPLORED, RATE = random.Random(1), "dogon-kulei", 0.1, 0.01


# %% What the agent sees: the bot has the source of this function too
def features(position: Position, side: Side) -> list[float]:
    """For each hole whether it holds 0, 1, 2, 3 or more seeds, a player's own row first; stores; a one."""
    own, stores = "12"[side], [float(store) for store in str(position).split(" ")[2:4]]
    holes = sorted(position.board().items(), key=lambda hole: (hole[0][1] != own, hole[0]))
    seen = [float(min(int(seeds), 4) == number) for _, seeds in holes for number in range(5)]
    return [*seen, (stores[side] - stores[1 - side]) / 10, 1.0]


# %% Moves are entered part by part: these are the states after each complete move
def after_moves(state: Any) -> Iterator[Any]:
    for action in state.legal_actions():
        after = state.child(action)
        if after.entry.entered:
            yield from after_moves(after)
        else:
            yield after


def value(weights: Any, state: Any, player: int) -> float:
    """What a player may expect, from -1 to 1."""
    if state.is_terminal():
        return float(state.returns()[player])
    seen = features(state.entry.history.position, state.entry.side_of(player))
    return math.tanh(float(np.dot(weights, seen)))


def choose(weights: Any, state: Any, explored: float = 0.0) -> Any:
    """The state after the best move, or with the probability ``explored`` after a random one."""
    states, player = list(after_moves(state)), state.current_player()
    if rng.random() < explored:
        return rng.choice(states)
    return max(states, key=lambda after: value(weights, after, player))


# %% Train: each position after a move is drawn towards the result
def train(games: int) -> Any:
    game = pyspiel.load_game(spiel.spiel_name(GAME))
    weights = np.zeros(len(features(game.new_initial_state().entry.history.position, Side.WHITE)))
    for _ in range(games):
        state, passed = game.new_initial_state(), []
        while not state.is_terminal():
            player = state.current_player()
            state = choose(weights, state, EXPLORED)
            position, side = state.entry.history.position, state.entry.side_of(player)
            passed.append((player, np.array(features(position, side))))
        for player, seen in passed:
            expected = math.tanh(float(weights @ seen))
            weights += RATE * (state.returns()[player] - expected) * (1 - expected**2) * seen
    return weights


trained = train(options.games)


# %% Test: points of a hundred against random moves, with both colours
def points(weights: Any, games: int) -> float:
    game, total = pyspiel.load_game(spiel.spiel_name(GAME)), 0.0
    for number in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            is_own = state.current_player() == number % 2
            state = choose(weights, state) if is_own else rng.choice(list(after_moves(state)))
        total += (state.returns()[number % 2] + 1) / 2
    return 100 * total / games


print(f"{points(trained, options.tests):.1f} of 100 points against random moves", flush=True)

# %% Pack: a bot needs only the standard library and engines
BOT = """\
from __future__ import annotations

from engines.rules.base import Position, Side
from engines.sdk import run

WEIGHTS = {weights}


{features}

def choose(turn):
    def value(move):
        after = turn.position.play(move)
        outcome = after.outcome()
        if outcome.decided:
            return 0.0 if outcome.winner is None else 1e9 if outcome.winner is side else -1e9
        return sum(weight * seen for weight, seen in zip(WEIGHTS, features(after, side)))

    side = turn.position.side
    return max(turn.position.legal_moves(), key=value)


run(choose, name="First Agent", games=["{game}"])
"""
MANIFEST = f"""\
[bot]
name = "First Agent"
version = "1"
command = ["python3", "main.py"]
games = ["{GAME}"]
"""


def pack(weights: Sequence[float]) -> bytes:
    numbers = json.dumps([round(weight, 4) for weight in weights])
    source = BOT.format(weights=numbers, features=inspect.getsource(features), game=GAME)
    return pack_bundle({"main.py": source.encode(), "bot.toml": MANIFEST.encode()})


options.out.write_bytes(pack(trained.tolist()))
print(f"wrote {options.out}", flush=True)

# %% Upload, and follow the validation
if os.environ.get("DUARENA_SITE") and os.environ.get("DUARENA_TOKEN"):
    upload = [
        sys.executable,
        "-m",
        "engines",
        "submit",
        str(options.out),
        "--notes",
        "trained by first_agent",
    ]
    sys.exit(subprocess.run(upload, check=False).returncode)
