from __future__ import annotations

import pytest

from engines.rules import GAMES, Variant
from tests.support.playthroughs import format_playthrough, path_of


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_recorded_game_plays_as_it_did(game: Variant) -> None:
    assert format_playthrough(game) == path_of(game).read_text(encoding="utf-8")
