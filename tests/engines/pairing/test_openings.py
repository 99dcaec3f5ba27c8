"""Openings drawn from a seed."""

from __future__ import annotations

import pytest

from engines.pairing.openings import OpeningError, draw_openings
from engines.rules.history import History
from engines.rules.registry import GAMES, find_game


@pytest.mark.parametrize("code", GAMES)
def test_an_opening_is_legal_and_leaves_the_game_undecided(code: str) -> None:
    game = find_game(code)
    for opening in draw_openings(game, 3, seed=7, number=4):
        history = History(game)
        for token in opening:
            assert not history.play(token).decided
        assert len(opening) == 3


def test_the_same_seed_draws_the_same_openings() -> None:
    game = find_game("dogon-kulei")
    assert draw_openings(game, 6, 1, 5) == draw_openings(game, 6, 1, 5)
    assert draw_openings(game, 6, 1, 5) != draw_openings(game, 6, 2, 5)
    assert draw_openings(game, 6, 1, 5)[:3] == draw_openings(game, 6, 1, 3)


def test_openings_differ_while_there_are_others() -> None:
    """Duovallis begins with one of six moves."""
    drawn = draw_openings(find_game("duovallis"), 1, 1, 8)
    assert len(set(drawn[:6])) == 6
    assert set(drawn[6:]) <= set(drawn[:6])


def test_no_plies_are_no_opening() -> None:
    assert draw_openings(find_game("dualma"), 0, 1, 3) == [(), (), ()]


def test_an_opening_longer_than_any_game_is_refused() -> None:
    with pytest.raises(OpeningError, match="no random game of DuploLine lasted 300 plies"):
        draw_openings(find_game("duploline"), 300, 1, 1)
