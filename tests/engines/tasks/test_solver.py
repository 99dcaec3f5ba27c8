"""The solver on boards small enough to see the answer, and against the literal rules."""

from __future__ import annotations

import random

import pytest

from engines.rules import GAMES
from engines.rules.base import Position
from engines.tasks import Kind
from engines.tasks.solver import Solver, TooLong
from tests.literal import LITERAL
from tests.support.literal_tasks import literal_solve

EVERY = 10
"""Plies between the positions of a random game that are solved twice."""
MAX_CHOICES = 100
"""More would take the literal rules minutes."""

#     a  b  c  d  e  f        The last of f1+ makes b2 two; then c2, d2, e2 and f2 hold
#  2  3  1  2  1  2  1  Black   three, two, three and two: all five are captured.
#  1  2  0  2  0  0  5  White
FIVE_HOLES = "3,1,2,1,2,1/2,0,2,0,0,5 w 14 15 - - 20"

#     a  b  c  d  e  f        After a1- the three seeds of Black are singletons far from any capture; after
#  2  0  0  1  0  0  0  Black   e1+ the seed of f2 captures that of f1.
#  1  2  0  0  0  3  0  White
SINGLE_SEEDS = "0,0,1,0,0,0/2,0,0,0,3,0 w 30 12 - - 20"

#   d   R R R d . . .     White's ring moves from c4 onto the disc on d4.
#    c   . d . R . .
THREE_RINGS = "4/5/6/R,R,R,d,3/1,d,1,R,2/5/4 w 10"


def solve(code: str, kind: Kind, text: str) -> set[str]:
    return set(Solver().solve(kind, GAMES[code].position.parse(text)))


def test_the_longest_capture_captures_the_most() -> None:
    assert solve("dogon-kulei", Kind.CAPTURE, FIVE_HOLES) == {"f1+"}


def test_where_nothing_can_be_captured_nothing_is_the_most() -> None:
    assert solve("dogon-kulei", Kind.CAPTURE, str(GAMES["dogon-kulei"].position.initial())) == set()


def test_single_seeds_that_cannot_capture_must_pass() -> None:
    assert solve("dogon-kulei", Kind.FORCE_PASS, SINGLE_SEEDS) == {"a1-"}


def test_a_winning_action_solves_alone_and_after_any_other() -> None:
    solving = solve("duploline", Kind.WIN_IN_ONE, THREE_RINGS)
    assert "Rc4-d4" in solving
    assert len(solving) > 2
    assert all("Rc4-d4" in token.split(":") for token in solving)


def test_a_threatened_side_is_not_safe_by_a_move_elsewhere() -> None:
    safe = solve("duploline", Kind.DEFEND, THREE_RINGS.replace("w 10", "b 11"))
    position = GAMES["duploline"].position.parse(THREE_RINGS.replace("w 10", "b 11"))
    assert "Dd5:Rb3" in set(position.legal_moves()) - safe
    assert safe
    assert not any(position.play(token).is_legal("Rc4-d4") for token in safe)


def test_a_search_stops_at_its_limit() -> None:
    with pytest.raises(TooLong):
        list(Solver(100).solve(Kind.WIN_IN_TWO, GAMES["duploline"].position.parse(THREE_RINGS)))


@pytest.mark.parametrize(
    "code", ["duovallis", "dogon-kulei", "dogon-gagara", pytest.param("dualma", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_the_literal_rules_in_random_games(code: str, seed: int) -> None:
    rng = random.Random(seed)
    position: Position = GAMES[code].position.initial()
    for ply in range(100):
        if not (number := position.count_moves()):
            break
        if ply % EVERY == seed and number <= MAX_CHOICES:
            for kind in Kind:
                expected = literal_solve(kind, LITERAL[code].parse(str(position)))
                assert set(Solver().solve(kind, position)) == expected, (kind, str(position))
        _, position = position.play_at(rng.randrange(number))
