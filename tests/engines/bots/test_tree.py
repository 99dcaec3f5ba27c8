"""The search tree: which move is visited next, how values are backed up, and what is proven."""

from __future__ import annotations

import pytest

from engines.bots.tree import DRAWN, LOST, WON, Node, back_up


def grown(*chances: float, complete: bool = True) -> Node:
    """A node whose moves, ``a``, ``b`` and so on, promise so much."""
    node = Node()
    node.grow([Node(token, chance) for token, chance in zip("abcdef", chances, strict=False)], complete)
    return node


def visit(root: Node, tokens: str, found: float | None = None) -> None:
    """A simulation along these moves; the last turns out to leave a chance, if one is given."""
    path = [root]
    for token in tokens:
        path.append(next(child for child in path[-1].children if child.token == token))
    if found is not None:
        path[-1].left = found
    back_up(path)


def decide(root: Node, token: str, verdict: float, plies: int = 0) -> None:
    """A simulation that finds a move proven."""
    child = next(child for child in root.children if child.token == token)
    child.verdict, child.plies = verdict, plies
    back_up([root, child])


def is_proven(node: Node) -> bool:
    return node.verdict is not None


def test_the_most_promising_move_is_visited_first() -> None:
    assert grown(0.3, 0.6, 0.5).select().token == "b"


def test_a_move_that_disappoints_makes_room_for_another() -> None:
    root = grown(0.5, 0.6)
    visit(root, "b", found=0.1)
    assert root.select().token == "a"


def test_a_move_visited_less_is_preferred_to_its_equal() -> None:
    root = grown(0.5, 0.5)
    for _ in range(10):
        visit(root, "a", found=0.5)
    assert root.select().token == "b"


def test_a_value_is_inverted_for_the_move_before() -> None:
    root = grown(0.5, 0.4)
    before = root.chance
    visit(root, "a", found=0.9)
    assert root.left == pytest.approx(0.1)
    assert root.chance < before


def test_one_good_reply_counts_more_than_the_mean() -> None:
    """Nine visits found the move good, the tenth found the reply to it."""
    root = grown(0.5)
    (move,) = root.children
    for _ in range(9):
        visit(root, "a", found=0.9)
    visit(root, "a", found=0.1)
    assert 0.1 < move.chance < move.total / move.visits


def test_the_most_visited_move_is_played() -> None:
    root = grown(0.9, 0.5)
    for _ in range(3):
        visit(root, "b")
    best = root.best()
    assert best is not None
    assert best.token == "b"


def test_there_is_no_best_move_before_there_is_any() -> None:
    assert Node().best() is None


def test_more_visits_are_worth_more_moves() -> None:
    root = grown(0.5, 0.5, 0.5, complete=False)
    widths = 0
    for _ in range(30):
        if root.is_narrow():
            widths += 1
            root.grow([Node("x", 0.1), Node("y", 0.1)], complete=False)
        visit(root, "a")
    assert widths >= 2
    assert not grown(0.5).is_narrow(), "there are no more moves"


def test_a_proven_move_is_visited_no_more() -> None:
    root = grown(0.3, 0.9)
    decide(root, "b", LOST)
    assert root.select().token == "a"
    assert not is_proven(root)


def test_one_move_that_wins_is_enough() -> None:
    root = grown(0.3, 0.9, complete=False)
    decide(root, "a", WON, plies=4)
    assert (root.verdict, root.plies) == (LOST, 5), "whoever moved here has lost"
    best = root.best()
    assert best is not None
    assert best.token == "a"


def test_the_sooner_win_is_played() -> None:
    root = Node()
    root.grow([Node("a", WON, WON), Node("b", WON, WON)], complete=True)
    root.children[0].plies = 2
    best = root.best()
    assert best is not None
    assert best.token == "b"


def test_a_position_is_not_lost_before_all_its_moves_are() -> None:
    root = grown(0.5, 0.5, complete=False)
    decide(root, "a", LOST, plies=2)
    decide(root, "b", LOST, plies=6)
    assert not is_proven(root)
    assert root.is_narrow(), "other moves may be better"
    root.grow([Node("c", LOST, LOST)], complete=True)
    assert (root.verdict, root.plies) == (WON, 7), "and it takes as long as the loser can make it"
    best = root.best()
    assert best is not None
    assert best.token == "b"


def test_a_position_without_further_moves_is_lost_when_that_turns_out() -> None:
    root = grown(0.5, complete=False)
    decide(root, "a", LOST)
    root.grow([], complete=True)
    assert root.verdict == WON


def test_a_draw_is_taken_rather_than_the_worse_half() -> None:
    root = grown(0.4, 0.3)
    decide(root, "b", DRAWN)
    assert root.left == DRAWN
    best = root.best()
    assert best is not None
    assert best.token == "b"
    for _ in range(5):
        visit(root, "a", found=0.9)
    best = root.best()
    assert best is not None
    assert best.token == "a"


def test_a_draw_is_proven_when_nothing_better_is_left() -> None:
    root = grown(0.4, 0.3)
    decide(root, "a", DRAWN, plies=3)
    decide(root, "b", LOST)
    assert (root.verdict, root.plies) == (DRAWN, 4)


def test_a_proof_is_carried_through_several_plies() -> None:
    root = grown(0.5)
    (move,) = root.children
    move.grow([Node("b", 0.5)], complete=True)
    (reply,) = move.children
    reply.verdict = WON
    back_up([root, move, reply])
    assert (reply.verdict, move.verdict, root.verdict) == (WON, LOST, WON)
    assert (move.plies, root.plies) == (1, 2)
