"""The ladders in OpenSpiel: its own checks, and what they do not see."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import pytest

from engines.environments.planes import ENCODINGS, plane_writer
from engines.positions import read_hard_positions
from engines.rules.base import RulesError
from tests.support.entries import random_states

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: requirements-dev.txt")

import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.observation import make_observation

from engines.environments import spiel


def after(code: str, *names: str) -> Any:
    """The state after these actions."""
    state = pyspiel.load_game(spiel.spiel_name(code)).new_initial_state()
    for name in names:
        state.apply_action(state.string_to_action(name))
    return state


@pytest.mark.parametrize("name", spiel.NAMES)
def test_a_game_passes_the_checks_of_openspiel(name: str) -> None:
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    assert pyspiel.load_game(str(game)).get_type().short_name == name


@pytest.mark.parametrize("code", ENCODINGS)
def test_random_games_are_those_of_the_entry(code: str) -> None:
    """The same seed draws the same actions in both, which have the same results and planes."""
    game = pyspiel.load_game(spiel.spiel_name(code))
    state, rng = game.new_initial_state(), Random(3)
    for entry in random_states(code, 3):
        assert (str(state), state.is_terminal()) == (str(entry), entry.is_over)
        if not entry.is_over:
            assert (state.current_player(), state.legal_actions()) == (entry.player, entry.legal_actions())
            state.apply_action(rng.choice(state.legal_actions()))
    assert state.returns() == entry.returns()
    assert len(state.history()) <= game.max_game_length()
    assert state.observation_tensor(1) == list(plane_writer(code).planes(entry, 1))
    assert game.observation_tensor_shape() == list(plane_writer(code).shape)


@pytest.mark.parametrize("code", ENCODINGS)
def test_a_game_begins_with_a_given_position(code: str) -> None:
    position = next(hard.position for hard in read_hard_positions(code)[1:] if not hard.result)
    game = pyspiel.load_game(spiel.spiel_name(code), {"position": position.replace(",", ";")})
    state = game.new_initial_state()
    assert str(state) == position
    state.apply_action(state.legal_actions()[0])
    again, copied = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert (str(again), str(copied)) == (str(game), str(state))
    with pytest.raises(RulesError):
        pyspiel.load_game(spiel.spiel_name(code), {"position": "x"})


def test_actions_have_the_names_of_the_parts() -> None:
    state = after("dogon-kulei", "c1")
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["+", "-"]
    assert (state.current_player(), str(state)) == (0, "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0 | c1")
    state.apply_action(state.string_to_action("+"))
    assert state.current_player() == 1


def test_an_observation_has_the_planes_by_name_and_a_perfect_memory_the_history() -> None:
    state = after("dualma", "a4")
    observation = make_observation(state.get_game())
    observation.set_from(state, 0)
    assert observation.dict["planes"].shape == plane_writer("dualma").shape
    assert observation.string_from(state, 0) == str(state) == "5/6/7/8/9/8/7/6/5 b 0 | a4"
    remembered = make_observation(state.get_game(), pyspiel.IIGObservationType(perfect_recall=True))
    assert remembered.string_from(state, 0) == state.information_state_string(0) == state.history_str()
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(state.get_game(), None, {"turned": True})


def test_a_state_is_cloned_and_stored_in_the_middle_of_a_move() -> None:
    state = after("duploline", "D", "d4", "R", "e5")
    clone = state.clone()
    clone.apply_action(clone.legal_actions()[0])
    assert str(clone) != str(state)
    for again in (
        pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(state.get_game(), state))[1],
        pickle.loads(pickle.dumps(state)),
    ):
        assert (str(again), again.history(), again.legal_actions()) == (
            str(state),
            state.history(),
            state.legal_actions(),
        )


def test_a_search_of_openspiel_plays_a_ladder() -> None:
    state = after("dogon-kulei")
    bot = mcts.MCTSBot(state.get_game(), 2.0, 20, mcts.RandomRolloutEvaluator(1))
    assert bot.step(state) in state.legal_actions()
