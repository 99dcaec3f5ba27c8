"""A search: outcomes and scores of wins, which the table counts from the position, not from the root."""

from __future__ import annotations

import pytest

from engines.bots.endings import Endings, repeated_positions
from engines.bots.evaluation import MATE
from engines.bots.table import DECIDED, PROVEN, UNPROVEN_WIN, Bound, TableEntry, TranspositionTable, unproven
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


WINDOW = (-MATE, MATE)


def kept(score: int, *, at: int, bound: Bound = Bound.EXACT, depth: int = 4) -> TableEntry:
    table = TranspositionTable()
    table.keep("key", depth, score, bound, "a1", at)
    entry = table.find("key")
    assert entry is not None
    return entry


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("win", [MATE, UNPROVEN_WIN])
def test_a_win_found_five_plies_on_is_the_same_number_of_plies_from_elsewhere(win: int, sign: int) -> None:
    """Three plies from the root a win is seen two plies on; met after one ply it still is two plies on."""
    entry = kept(sign * (win - 5), at=3)
    assert entry.settles(4, *WINDOW, 3) == sign * (win - 5)
    assert entry.settles(4, *WINDOW, 1) == sign * (win - 3)


def test_a_score_that_counts_no_plies_is_the_same_from_everywhere() -> None:
    assert kept(150, at=3).settles(4, *WINDOW, 1) == 150


def test_a_shallower_search_settles_nothing() -> None:
    assert kept(150, at=3, depth=4).settles(5, *WINDOW, 3) is None


@pytest.mark.parametrize(
    ("bound", "alpha", "beta", "settled"),
    [
        (Bound.AT_LEAST, 0, 150, True),
        (Bound.AT_LEAST, 0, 151, False),
        (Bound.AT_MOST, 150, 300, True),
        (Bound.AT_MOST, 149, 300, False),
    ],
)
def test_a_bound_decides_a_score_outside_the_window(
    bound: Bound, alpha: int, beta: int, settled: bool
) -> None:
    entry = kept(150, at=0, bound=bound)
    assert entry.settles(4, alpha, beta, 0) == (150 if settled else None)


def test_a_full_table_takes_in_no_more_positions_but_learns_of_those_it_has() -> None:
    table = TranspositionTable(size=2)
    for number, key in enumerate("abca"):
        table.keep(key, number, 0, Bound.EXACT, "a1", 0)
    assert len(table) == 2
    assert table.find("c") is None
    entry = table.find("a")
    assert entry is not None
    assert entry.depth == 3


def test_a_loss_that_rests_on_candidates_is_believed_and_not_proven() -> None:
    lost = unproven(4 - MATE)
    assert lost == 4 - UNPROVEN_WIN
    assert -PROVEN < lost <= -DECIDED
    assert unproven(lost) == lost
    assert unproven(MATE - 4) == MATE - 4
    assert unproven(-700) == -700
