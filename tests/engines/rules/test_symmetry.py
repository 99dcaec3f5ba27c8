"""The symmetries of the rules, proved ladder by ladder: a turned board has the turned moves and endings."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rules import GAMES, Position
from engines.rules.symmetry import Symmetry
from tests.literal.hexagon import format_rows
from tests.support.positions import DRAW

COUNTS = {"duovallis": 1, "dualma": 12, "dogon-kulei": 2, "dogon-gagara": 2, "duploline": 12}
MAX_PLAYED = 20
DIFFERENT_FIRST_MOVES = {"duovallis": 6, "dualma": 312, "dogon-kulei": 4, "dogon-gagara": 6, "duploline": 12}
"""By Burnside's lemma: (60·59 + 3·8·7 + 3·4·3) / 12 in DuAlma, 2 · (37 + 5 + 3·7 + 3·3) / 12 in DuploLine."""


def any_position(code: str, seed: int) -> Position:
    """Half of them in play, half any position string."""
    rng = random.Random(seed)
    if rng.random() < 0.5:
        return GAMES[code].position.parse(DRAW[code](rng))
    position: Position = GAMES[code].position.initial()
    for _ in range(rng.randrange(40)):
        if not (number := position.count_moves()):
            break
        position = position.play_at(rng.randrange(number))[1]
    return position


def turned(position: Position, symmetry: Symmetry) -> Position:
    """The position whose cells have other names, by its string."""
    words = symmetry.words
    board = {words.get(cell, cell): content for cell, content in position.board().items()}
    rows, *rest = str(position).split(" ")
    if len(board) in {37, 61}:
        rows = format_rows(4 if len(board) == 37 else 5, board)
    elif words:
        rows = "/".join(",".join(reversed(row.split(","))) for row in rows.split("/"))
        rest[4] = rest[4] if rest[4] == "-" else words[rest[4][0]] + rest[4][1:]
    return type(position).parse(" ".join([rows, *rest]))


@given(st.sampled_from([code for code in GAMES if COUNTS[code] > 1]), st.integers(0, 2**32))
def test_a_turned_position_has_the_turned_moves_and_the_same_outcome(code: str, seed: int) -> None:
    position, rng = any_position(code, seed), random.Random(seed)
    symmetries = position.symmetries()
    number = rng.randrange(1, len(symmetries))
    symmetry = symmetries[number]
    other = turned(position, symmetry)
    assert other.key() == position.form(number)
    assert other.outcome() == position.outcome()
    tokens = list(position.legal_moves())
    assert sorted(map(symmetry.turn, tokens)) == sorted(other.legal_moves())
    assert [symmetry.turn_back(symmetry.turn(token)) for token in tokens] == tokens
    for token in rng.sample(tokens, min(len(tokens), MAX_PLAYED)):
        after, other_after = position.play(token), other.play(symmetry.turn(token))
        assert str(turned(after, symmetry)) == str(other_after)
        assert after.outcome() == other_after.outcome()
        assert after.canonical()[0] == other_after.canonical()[0]


@given(st.sampled_from(list(GAMES)), st.integers(0, 2**32))
def test_the_symmetries_of_the_canonical_form_lead_to_it(code: str, seed: int) -> None:
    position = any_position(code, seed)
    form, found = position.canonical()
    assert found
    assert all(turned(position, symmetry).key() == form for symmetry in found)
    assert position.form(0) == position.key()


@pytest.mark.parametrize("code", GAMES)
def test_first_moves_that_a_symmetry_maps_onto_each_other_lead_to_one_position(code: str) -> None:
    start = GAMES[code].position.initial()
    symmetries = start.symmetries()
    assert len({tuple(sorted(one.words.items())) for one in symmetries}) == len(symmetries) == COUNTS[code]
    assert start.canonical()[1] == list(symmetries)
    after = {start.play(token).canonical()[0] for token in start.legal_moves()}
    least = {min(one.turn(token) for one in symmetries) for token in start.legal_moves()}
    assert len(after) == len(least) == DIFFERENT_FIRST_MOVES[code]


def test_duovallis_has_no_mirror_image() -> None:
    start = GAMES["duovallis"].position.initial()
    mirrored = str.maketrans("abcdef", "fedcba")
    for token in start.legal_moves():
        rows, *rest = str(start.play(token)).split(" ")
        other, *_ = str(start.play(token.translate(mirrored))).split(" ")
        assert "/".join(",".join(reversed(row.split(","))) for row in rows.split("/")) != other, rest
