"""Moves entered part by part: exactly the legal moves, under the match rules."""

from __future__ import annotations

import copy
import pickle
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.environments.entry import CONFIRM, action_space
from engines.positions import read_hard_positions
from engines.rules import GAMES, History, IllegalMove
from engines.rules.history import replay_until_end
from tests.support.entries import enterable, new_entry, random_states

BOUNCE = "5/6/7/8/w,8/bb,ww,2,b,3/bb,wb,5/ww,bb,wb,3/b,bw,ww,1,w b 16"
WORDS = {
    "duovallis": (24, ()),
    "dualma": (61, ("pass",)),
    "dogon-kulei": (12, ("+", "-", "pass")),
    "dogon-gagara": (16, ("+", "-", "pass")),
    "duploline": (37, ("D", "R")),
}
"""The cells and the words of each ladder."""


@pytest.mark.parametrize("code", GAMES)
def test_the_actions_are_the_cells_the_words_and_confirm(code: str) -> None:
    actions = action_space(code)
    assert (len(actions.cells), actions.words) == WORDS[code]
    assert actions.names == (*actions.cells, *actions.words, CONFIRM)
    assert [actions.numbers[name] for name in actions.names] == list(range(len(actions)))


@pytest.mark.parametrize("code", GAMES)
def test_in_hard_positions_exactly_the_legal_moves_can_be_entered(code: str) -> None:
    for hard in read_hard_positions(code):
        position = GAMES[code].position.parse(hard.position)
        if position.count_moves() < 1000:
            entered = sorted(enterable(new_entry(code, hard.position)))
            assert entered == sorted(position.legal_moves()), hard.position


@settings(max_examples=15, deadline=None)
@given(code=st.sampled_from(list(GAMES)), seed=st.integers(0, 2**32))
def test_random_paths_of_parts_are_games_of_the_referee(code: str, seed: int) -> None:
    """At some places of the game, what can be entered are the legal moves that begin with what is entered."""
    states, rng = random_states(code, seed), Random(seed)
    for entry in states:
        if rng.random() < 0.05:
            begun = entry.entered
            legal = [
                token
                for token in entry.history.position.legal_moves()
                if not entry.is_over and entry.actions.parts(token)[: len(begun)] == begun
            ]
            assert sorted(enterable(entry)) == sorted(legal)
    replayed = replay_until_end(GAMES[code], entry.history.moves)
    assert (replayed.moves, replayed.outcome) == (entry.history.moves, entry.history.outcome)
    assert replayed.outcome.decided
    winner = replayed.outcome.winner
    assert entry.returns() == [
        0.0 if winner is None else 1.0 if winner is side else -1.0
        for side in (GAMES[code].first, GAMES[code].first.other)
    ]


def test_a_move_that_begins_longer_ones_is_confirmed() -> None:
    entry = new_entry("dualma", BOUNCE)
    moves = {token.count("-"): token for token in entry.history.position.legal_moves()}
    bounce = moves[2].split("-")
    for name in bounce[:2]:
        assert entry.enter(entry.actions.numbers[name]) is None
    assert str(entry) == f"{BOUNCE} | {' '.join(bounce[:2])}"
    assert {entry.actions.confirm, entry.actions.numbers[bounce[2]]} <= set(entry.legal_actions())
    again = entry.copy()
    assert entry.enter(entry.actions.confirm) == "-".join(bounce[:2])
    assert again.enter(entry.actions.numbers[bounce[2]]) == moves[2]


def test_the_player_stays_to_move_until_the_move_is_complete() -> None:
    entry = new_entry("dogon-kulei")
    assert (entry.player, entry.enter(entry.actions.numbers["c1"])) == (0, None)
    assert (entry.player, entry.enter(entry.actions.numbers["+"])) == (0, "c1+")
    assert (entry.player, entry.entered, entry.history.moves) == (1, (), ["c1+"])


def test_an_action_that_is_not_legal_is_refused_and_changes_nothing() -> None:
    entry = new_entry("dualma")
    entry.enter(entry.actions.numbers["a4"])
    for action, name in ((entry.actions.numbers["a4"], "a4"), (entry.actions.confirm, CONFIRM), (999, "999")):
        with pytest.raises(IllegalMove, match=f"'{name}'.* goes on with it after a4"):
            entry.enter(action)
    assert str(entry).endswith("| a4")


def test_nothing_can_be_entered_after_the_end() -> None:
    *_, entry = random_states("duovallis", 1)
    assert entry.legal_actions() == []
    with pytest.raises(IllegalMove, match="the game is over"):
        entry.enter(0)


def test_a_copy_is_continued_separately() -> None:
    entry = new_entry("dogon-kulei")
    entry.enter(entry.actions.numbers["c1"])
    copied = copy.deepcopy(entry)
    copied.enter(entry.actions.numbers["+"])
    assert (str(entry).split(" | ")[1], entry.history.moves, copied.history.moves) == ("c1", [], ["c1+"])


@pytest.mark.parametrize("code", GAMES)
def test_a_pickle_is_the_same_game(code: str) -> None:
    states = random_states(code, 5)
    for _ in range(8):
        entry = next(states)
    again = pickle.loads(pickle.dumps(entry))
    assert (str(again), again.history.moves, again.legal_actions()) == (
        str(entry),
        entry.history.moves,
        entry.legal_actions(),
    )


def test_a_pickle_has_the_start_and_the_ply_limit() -> None:
    entry = new_entry("dualma", BOUNCE)
    limited = type(entry)(History(entry.history.game, entry.history.position, 17))
    again = pickle.loads(pickle.dumps(limited))
    assert (str(again), again.history.ply_limit) == (BOUNCE, 17)
