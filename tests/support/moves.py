"""Assertions about legal and illegal moves."""

from __future__ import annotations

import pytest

from engines.rules import IllegalMove, Position


def moves(position: Position) -> list[str]:
    """The legal tokens, sorted."""
    return sorted(position.legal_moves())


def assert_illegal(position: Position, token: str, why: str = "") -> None:
    """Every method refuses ``token``, with ``why`` in the message."""
    assert not position.is_legal(token)
    assert token not in set(position.legal_moves())
    with pytest.raises(IllegalMove) as refused:
        position.play(token)
    assert (refused.value.token, refused.value.position) == (token, position)
    assert repr(token) in str(refused.value)
    assert str(position) in str(refused.value)
    assert why in str(refused.value)
