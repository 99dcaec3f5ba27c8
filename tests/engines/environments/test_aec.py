"""The ladders in PettingZoo: its own test, and what that does not see."""

from __future__ import annotations

import pickle
import warnings
from random import Random
from typing import Any

import pytest

from engines.environments.planes import ENCODINGS
from engines.positions import read_hard_positions
from engines.rules import IllegalMove
from tests.support.entries import random_states

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: requirements-dev.txt")

import numpy as np
from pettingzoo.test import api_test

from engines.environments import aec

EXPECTED = {
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
}
"""What PettingZoo says of observations with a mask, but not of its own environments."""


def legal(env: Any, agent: str) -> list[int]:
    return [int(action) for action in np.flatnonzero(env.observe(agent)["action_mask"])]


@pytest.mark.parametrize("code", ENCODINGS)
def test_an_environment_passes_the_test_of_pettingzoo(code: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        api_test(aec.env(code, render_mode="ansi"), num_cycles=100)
    assert {str(one.message) for one in said} <= EXPECTED


@pytest.mark.parametrize("code", ENCODINGS)
def test_random_games_are_those_of_the_entry(code: str) -> None:
    """The same seed draws the same actions in both, which have the same agents and results."""
    env, rng = aec.LadderEnv(code), Random(3)
    for entry in random_states(code, 3):
        if not entry.is_over:
            assert env.agent_selection == aec.AGENTS[entry.player]
            assert legal(env, env.agent_selection) == entry.legal_actions()
            assert legal(env, aec.AGENTS[1 - entry.player]) == []
            assert not any(env.terminations.values())
            env.step(rng.choice(entry.legal_actions()))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert list(env.rewards.values()) == entry.returns()
    for _ in aec.AGENTS:
        env.step(None)
    assert env.agents == []


def test_the_board_is_drawn_as_text() -> None:
    env = aec.env("dogon-kulei", render_mode="ansi")
    env.reset()
    assert "a" in env.render()
    assert aec.LadderEnv("dogon-kulei").render() is None


def test_an_illegal_action_loses_and_raises_without_the_wrappers() -> None:
    env = aec.env("dogon-kulei")
    env.reset()
    env.step(15)
    assert env.rewards == {"player_0": -1, "player_1": 0}
    assert all(env.terminations.values())
    with pytest.raises(IllegalMove):
        aec.LadderEnv("dogon-kulei").step(15)


def test_an_environment_has_the_name_of_its_ladder_and_is_made_again_from_a_pickle() -> None:
    env = pickle.loads(pickle.dumps(aec.LadderEnv("dogon-gagara")))
    assert str(env) == "duarena_dogon_gagara_v1"
    assert env.observation_space("player_0") is env.observation_space("player_0")


@pytest.mark.parametrize("code", ENCODINGS)
def test_a_game_begins_with_a_given_position(code: str) -> None:
    first, second, *_ = (hard.position for hard in read_hard_positions(code) if not hard.result)
    env = aec.LadderEnv(code, position=first)
    assert str(env.entry) == first
    env.reset(options={"position": second})
    assert str(env.entry) == second
    assert env.agent_selection == aec.AGENTS[env.entry.player]
    assert env.observe(env.agent_selection)["action_mask"].any()
    env.reset()
    assert str(env.entry) == first
