"""Counts of move sequences that two independent implementations agree on, and recorded games."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from engines.rules import GAMES, Variant, find_game, perft
from tests.support.playthroughs import format_playthrough, path_of

COUNTS = {
    "duovallis": [6, 36, 165, 649, 2310, 8019, 26817, 85637],
    "dualma": [3540, 11703240],
    "dogon-kulei": [8, 70, 558, 4882, 37434, 300936],
    "dogon-gagara": [12, 154, 1846, 23570, 272870],
    "duploline": [74, 3000, 282288],
}
"""From the start position, for depth 1, 2, …"""

MANY = 100_000
"""From so many sequences on a count is a deep one, and no shallower one differs in what it tries."""


def known_counts() -> Iterator[ParameterSet]:
    for code, counts in COUNTS.items():
        for depth, count in enumerate(counts, 1):
            yield pytest.param(code, depth, count, marks=[pytest.mark.thorough] if count > MANY else [])


@pytest.mark.parametrize(("code", "depth", "count"), list(known_counts()))
def test_the_start_position_has_the_known_number_of_sequences(code: str, depth: int, count: int) -> None:
    assert perft(find_game(code).position.initial(), depth) == count


def test_perft_counts_sequences_by_their_tokens_two_that_lead_to_one_position_are_two_moves() -> None:
    # a white disc beside Black's ring: every turn but a win can be made in two orders
    position = find_game("duploline").position.parse("4/5/6/3,D,3/6/5/4 b 1")
    tokens = list(position.legal_moves())
    leads_to = {str(position.play(token)) for token in tokens}
    assert perft(position, 1) == len(tokens) > len(leads_to)
    assert perft(position, 2) == sum(position.play(token).count_moves() for token in tokens)


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


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_recorded_game_plays_as_it_did(game: Variant) -> None:
    assert format_playthrough(game) == path_of(game).read_text(encoding="utf-8")
