"""Outcomes in a search: by the rules, by the third occurrence, by the ply limit."""

from __future__ import annotations

from engines.bots.endings import Endings, repeated_positions
from engines.rules.base import UNDECIDED, Reason
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.engines.bots.test_alphabeta_bot import REPEATED, REPEATING

KULEI = GAMES["dogon-kulei"]


def test_a_position_that_occurred_twice_ends_the_game() -> None:
    history = History(KULEI, KULEI.position.parse(REPEATED))
    for token in f"{REPEATING} e2- {REPEATING}".split():
        history.play(token)
        assert (history.start.key() in repeated_positions(history)) == (len(history.moves) >= 22)
    third = history.position.play("e2-")
    assert third.key() in repeated_positions(history)
    assert Endings(history).outcome(third) == history.play("e2-")
    assert history.outcome.reason is Reason.REPETITION


def test_a_position_that_occurred_once_does_not_end_the_game() -> None:
    history = History(KULEI, KULEI.position.parse(REPEATED))
    assert Endings(history).outcome(history.start) is UNDECIDED


def test_the_ply_limit_of_the_game_ends_it() -> None:
    history = History(KULEI, ply_limit=2)
    after = history.start.play("a1-")
    endings = Endings(history)
    assert endings.outcome(after) is UNDECIDED
    assert endings.outcome(after.play("f2-")).reason is Reason.PLY_LIMIT


def test_the_rules_end_a_game_before_the_ply_limit_does() -> None:
    position = KULEI.position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1")
    assert Endings(History(KULEI, ply_limit=1)).outcome(position).reason is Reason.SEEDS
