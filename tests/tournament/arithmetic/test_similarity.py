"""Similarity: which pairs are compared, in which positions, and what is expected of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tournament.arithmetic.similarity import (
    BOUND,
    LEAST_NEAR,
    LEAST_POSITIONS,
    Answers,
    Similarity,
    compare,
)

POSITIONS = [f"{game} {ply}" for game in range(20) for ply in range(8)]


def draw(version: int, rating: float, chance: random.Random, best: float = 0.5) -> Answers:
    """A bot that finds the best move in the share ``best`` of the positions, and else plays any of three."""
    moves = {name: "a" if chance.random() < best else chance.choice("bcd") for name in POSITIONS}
    return Answers(version, version, version, rating, moves)


def copied(one: Answers, version: int, chance: random.Random, share: float) -> Answers:
    """The answers of another owner's bot that chooses as ``one`` in at least this share of positions."""
    moves = {name: move if chance.random() < share else "e" for name, move in one.moves.items()}
    return replace(one, version=version, bot=version, owner=version, moves=moves)


def find(pairs: Sequence[Similarity], one: int, other: int) -> Similarity:
    return next(pair for pair in pairs if {pair.one, pair.other} == {one, other})


@pytest.fixture
def bots() -> list[Answers]:
    chance = random.Random(1)
    return [draw(version, float(version), chance) for version in range(1, 13)]


def test_independent_bots_agree_as_expected_and_a_copy_stands_out(bots: list[Answers]) -> None:
    copy = copied(bots[4], 99, random.Random(2), 0.9)
    pairs = list(compare([*bots, copy]))
    assert len(pairs) == 13 * 12 / 2
    assert [{pair.one, pair.other} for pair in pairs if pair.is_striking] == [{5, 99}]
    pair = find(pairs, 5, 99)
    assert pair.share == pytest.approx(0.9, abs=0.05)
    assert pair.expected == pytest.approx(1 / 4 + 1 / 12, abs=0.08)
    assert pair.excess is not None
    assert pair.excess > BOUND


def test_two_strong_bots_are_expected_to_agree_more_often() -> None:
    chance = random.Random(3)
    weak = [draw(version, 1.0, chance, 0.3) for version in range(1, 10)]
    strong = [draw(version, 50.0, chance, 0.9) for version in range(11, 20)]
    pairs = list(compare([*weak, *strong]))
    among_strong, among_weak = find(pairs, 12, 15), find(pairs, 2, 5)
    assert among_strong.expected is not None
    assert among_weak.expected is not None
    assert among_strong.expected > among_weak.expected + 0.3
    assert not [pair for pair in pairs if pair.is_striking]


def test_versions_of_one_owner_or_of_the_site_are_not_compared(bots: list[Answers]) -> None:
    same = [replace(bots[0], owner=7), replace(bots[1], owner=7)]
    site = [replace(bots[2], owner=None), replace(bots[3], owner=None)]
    pairs = {frozenset((pair.one, pair.other)) for pair in compare([*same, *site])}
    assert pairs == {frozenset(pair) for pair in ((1, 3), (1, 4), (2, 3), (2, 4))}


def test_positions_of_own_games_and_without_an_answer_do_not_count(bots: list[Answers]) -> None:
    one, other = bots[:2]
    players = dict.fromkeys(POSITIONS[:40], (1,)) | dict.fromkeys(POSITIONS[40:60], (2, 3))
    silent = replace(other, moves={**other.moves, POSITIONS[70]: "", POSITIONS[10]: ""})
    (pair,) = compare([one, silent], players)
    counted = [name for name in POSITIONS[60:] if name != POSITIONS[70]]
    assert pair.positions == len(counted)
    assert pair.share == sum(one.moves[name] == other.moves[name] for name in counted) / len(counted)


def test_too_few_positions_are_no_comparison_and_too_few_others_no_expectation(bots: list[Answers]) -> None:
    few = [replace(one, moves=dict(list(one.moves.items())[: LEAST_POSITIONS - 1])) for one in bots[:2]]
    assert list(compare(few)) == []
    enough = LEAST_NEAR // 2 + 2
    assert all(pair.expected is None and not pair.is_striking for pair in compare(bots[: enough - 1]))
    assert all(pair.expected is not None for pair in compare(bots[:enough]))
    assert list(compare([])) == []
