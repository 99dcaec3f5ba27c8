"""Counts of move sequences that two independent implementations agree on."""

from __future__ import annotations

import pytest

from engines.rules import GAMES, find_game, perft

COUNTS = {
    "duovallis": [6, 36, 165, 649, 2310, 8019, 26817],
    "dualma": [3540],
    "dogon-kulei": [8, 70, 558, 4882, 37434, 300936],
    "dogon-gagara": [12, 154, 1846, 23570, 272870],
    "duploline": [74, 3000],
}
"""From the start position, for depth 1, 2, …; deeper ones take longer than a test should:
duovallis 8: 85637, dualma 2: 11703240, duploline 3: 282288."""


@pytest.mark.parametrize(
    ("code", "depth", "count"),
    [(code, depth, count) for code, counts in COUNTS.items() for depth, count in enumerate(counts, 1)],
)
def test_the_start_position_has_the_known_number_of_sequences(code: str, depth: int, count: int) -> None:
    assert perft(find_game(code).position.initial(), depth) == count


def test_every_game_has_counts() -> None:
    assert COUNTS.keys() == GAMES.keys()


def test_there_is_one_sequence_of_no_moves() -> None:
    assert perft(find_game("duovallis").position.initial(), 0) == 1


def test_a_finished_game_has_no_sequences() -> None:
    kulei = find_game("dogon-kulei").position
    over = kulei.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1")
    assert [perft(over, depth) for depth in (0, 1, 2)] == [1, 0, 0]


def test_an_endless_sowing_is_no_sequence() -> None:
    position = find_game("duovallis").position.parse(
        "2b,0,0,0,0,0/1w,0,1w,0,1b,0/0,0,0,0,0,1w/1b,2w,0,1b,0,1w1b w 0 0 0"
    )
    assert perft(position, 1) == 1
