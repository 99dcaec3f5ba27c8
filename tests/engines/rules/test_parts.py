"""The parts of moves, as a player chooses them, and what a move captures."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engines.rules import GAMES, Word
from tests.engines.rules.test_conformance import Altered


class Wide(Altered):
    """A game with ten files and ten ranks, and words that it does not name."""

    def board(self) -> Mapping[str, str]:
        return {f"{file}{rank}": "" for file in "abcdefghij" for rank in range(1, 11)}

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return {}


@pytest.mark.parametrize(
    ("code", "token", "parts"),
    [
        ("dogon-kulei", "c1+", ["c1", "+"]),
        ("dogon-gagara", "h2-", ["h2", "-"]),
        ("dogon-kulei", "pass", ["pass"]),
        ("duovallis", "b4", ["b4"]),
        ("dualma", "d4:f6", ["d4", "f6"]),
        ("dualma", "d5-e5", ["d5", "e5"]),
        ("dualma", "pass", ["pass"]),
        ("duploline", "De6:Rc3-d4", ["D", "e6", "R", "c3", "d4"]),
    ],
)
def test_a_move_is_chosen_part_by_part(code: str, token: str, parts: list[str]) -> None:
    position = GAMES[code].position.initial()
    assert position.parts(token) == parts
    assert {part for part in parts if part not in position.board()} <= set(position.words())


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("h10", ["h10"]),
        ("h1", ["h1"]),
        ("h1:h10", ["h1", "h10"]),
        ("j4", ["j4"]),
        ("a1j10", ["a1", "j10"]),
        ("x2", ["x2"]),
        ("a1x2", ["a1", "x2"]),
        ("swap", ["swap"]),
        ("swap:b2", ["swap", "b2"]),
        ("K#a1", ["K", "a1"]),
        ("--", ["--"]),
    ],
)
def test_an_unknown_notation_has_the_cells_of_its_board_and_its_own_words(
    token: str, parts: list[str]
) -> None:
    assert Wide.initial().parts(token) == parts


@pytest.mark.parametrize(
    ("code", "fen", "token", "captured"),
    [
        ("dogon-kulei", "3,1,2,1,2,1/2,0,2,0,0,5 w 14 15 - - 20", "f1+", 12),
        ("dogon-kulei", "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", "c1+", 0),
        ("dogon-kulei", "0,0,0,0,2,0/0,0,0,0,0,0 w 30 16 - - 0", "pass", 0),
        (
            "duovallis",
            "6b,6b,0,0,4b,4b/0,7w,0,1w,7w,0/3w2b,0,4b,4b,4b,3w/7w,2w,0,6w,1w,2w b 1 0 5",
            "b4",
            6,
        ),
        ("dualma", "5/6/7/8/2,b,3,w,2/8/7/6/5 w 1", "e4:e6", 0),
    ],
)
def test_what_a_move_captured_is_counted(code: str, fen: str, token: str, captured: int) -> None:
    before = GAMES[code].position.parse(fen)
    assert before.count_captured(before.play(token)) == captured
