"""The long games of the compliance check."""

from __future__ import annotations

import pytest

from engines.protocol import SetPosition, format_message
from engines.rules.history import History
from engines.rules.registry import GAMES
from workers.check.situations import read_long_game


@pytest.mark.parametrize("code", GAMES)
def test_every_ladder_has_a_long_game_that_a_server_may_send_and_its_line_is_over_512_bytes(
    code: str,
) -> None:
    game = GAMES[code]
    last = read_long_game(game)[-1]
    history = History(game)
    for token in last.moves:
        assert not history.play(token).decided
    assert history.position == last.position
    assert len(last.moves) > 2 * game.typical_plies
    assert len(format_message(SetPosition(None, last.moves))) > 512
