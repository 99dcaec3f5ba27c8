"""Whatever is offered as a position or a move, only the documented errors come out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engines.rules import GAMES, Game, IllegalMove, PositionError

ALPHABET = "0123456789,/ wbpDdRr+-\n\u0661é"
games = st.sampled_from(list(GAMES.values()))
edits = st.lists(st.tuples(st.integers(0, 80), st.sampled_from(["", *ALPHABET])), min_size=1, max_size=3)


def edit(text: str, changes: list[tuple[int, str]]) -> str:
    """``text`` with single characters replaced, or removed where the new one is empty."""
    for place, character in changes:
        place %= len(text)
        text = text[:place] + character + text[place + 1 :]
    return text


@given(games, edits)
def test_a_misspelled_position_is_refused_or_is_another_canonical_one(
    game: Game, changes: list[tuple[int, str]]
) -> None:
    text = edit(str(game.position.initial()), changes)
    try:
        position = game.position.parse(text)
    except PositionError:
        return
    assert str(position) == text


@given(games, st.text())
@example(GAMES["duovallis"], "/" * 100_000)
@example(GAMES["dogon-kulei"], "9" * 100_000)
def test_any_text_is_refused_in_one_short_line(game: Game, text: str) -> None:
    with pytest.raises(PositionError) as refusal:
        game.position.parse(text)
    message = str(refusal.value)
    assert "\n" not in message
    assert len(message) < 1000


@given(games, st.text(max_size=12))
def test_any_token_is_legal_or_refused(game: Game, token: str) -> None:
    start = game.position.initial()
    if start.is_legal(token):
        assert start.play(token).ply == 1
        return
    with pytest.raises(IllegalMove):
        start.play(token)


@given(games)
def test_a_complaint_stays_short_however_long_the_text(game: Game) -> None:
    start = game.position.initial()
    with pytest.raises(IllegalMove) as illegal:
        start.play("a1" * 500_000)
    assert len(str(illegal.value)) < 400
    with pytest.raises(PositionError) as refused:
        game.position.parse(f"{start}{'0' * 1_000_000}")
    assert len(str(refused.value)) < 400
