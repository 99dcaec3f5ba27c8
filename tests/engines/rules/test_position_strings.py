"""Any text as a position or a move raises only the documented errors, with a short message."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engines.rules import GAMES, IllegalMove, Position, PositionError, Variant
from tests.support.effort import EXAMPLES
from tests.support.fuzz import noise
from tests.support.records import random_moves

ALPHABET = "0123456789,/ wbpDdRr+-\n\u0661é"
LONGEST_COMPLAINT = 1000
games = st.sampled_from(list(GAMES.values()))
edits = st.lists(st.tuples(st.integers(0, 80), st.sampled_from(["", *ALPHABET])), min_size=1, max_size=3)


def plays(game: Variant, count: int = 30) -> list[Position]:
    """The positions of a random game, first ones first."""
    positions = [game.position.initial()]
    for token in random_moves(game.code, 1)[:count]:
        positions.append(positions[-1].play(token))
    return positions


POSITIONS = [position for game in GAMES.values() for position in plays(game)]
TEXTS = [str(position) for position in POSITIONS]
TOKENS = [token for game in GAMES.values() for token in random_moves(game.code, 1)[:30]]


def edit(text: str, changes: list[tuple[int, str]]) -> str:
    """``text`` with single characters replaced, or removed where the new one is empty."""
    for place, character in changes:
        place %= len(text)
        text = text[:place] + character + text[place + 1 :]
    return text


def read(game: Variant, text: str) -> Position | None:
    """The position, or None when it is refused as documented."""
    try:
        position = game.position.parse(text)
    except PositionError as refused:
        complaint = str(refused)
    else:
        assert str(position) == text
        return position
    assert "\n" not in complaint
    assert len(complaint) < LONGEST_COMPLAINT
    return None


@given(games, edits)
def test_a_misspelled_position_is_refused_or_is_another_canonical_one(
    game: Variant, changes: list[tuple[int, str]]
) -> None:
    read(game, edit(str(game.position.initial()), changes))


@settings(max_examples=2 * EXAMPLES)
@given(games, noise(TEXTS))
@example(GAMES["duovallis"], "/" * 100_000)
@example(GAMES["dogon-kulei"], "9" * 100_000)
@example(GAMES["dualma"], "")
def test_any_bytes_are_refused_in_one_short_line_or_are_a_position(game: Variant, text: str) -> None:
    position = read(game, text)
    if position is not None:
        for token in position.legal_moves():
            assert position.play(token).ply == position.ply + 1
            break


@settings(max_examples=2 * EXAMPLES)
@given(st.sampled_from(POSITIONS), noise(TOKENS))
def test_any_bytes_are_a_legal_move_or_an_illegal_one(position: Position, token: str) -> None:
    if position.is_legal(token):
        assert position.play(token).ply == position.ply + 1
        return
    with pytest.raises(IllegalMove) as refused:
        position.play(token)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < LONGEST_COMPLAINT


@given(games)
def test_a_complaint_stays_short_however_long_the_text(game: Variant) -> None:
    start = game.position.initial()
    with pytest.raises(IllegalMove) as illegal:
        start.play("a1" * 500_000)
    assert len(str(illegal.value)) < 400
    with pytest.raises(PositionError) as refused:
        game.position.parse(f"{start}{'0' * 1_000_000}")
    assert len(str(refused.value)) < 400
