from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import pytest

from engines.rules import GAMES, Game, Outcome, Position, Reason, Result, Side, find_game
from engines.rules.conformance import check_game
from engines.rules.dogon import KuleiPosition

KULEI = find_game("dogon-kulei")
GAMES_TO_PLAY = {"dualma": 1, "duploline": 2}


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_every_registered_game_conforms(game: Game) -> None:
    assert check_game(game, seed=7, games=GAMES_TO_PLAY.get(game.code, 10)) == []


class ListsTwice(KuleiPosition):
    def legal_moves(self) -> Iterator[str]:
        yield from super().legal_moves()
        yield from super().legal_moves()


class ForgetsTheEnd(KuleiPosition):
    def outcome(self) -> Outcome:
        return replace(super().outcome(), result=Result.DRAW, reason=Reason.SEEDS)


class PlaysAnything(KuleiPosition):
    def play(self, token: str) -> Self:
        return super().play(token if self.is_legal(token) else next(self.legal_moves(), token))


class CallsAnythingLegal(KuleiPosition):
    def is_legal(self, token: str) -> bool:
        return True


class ReadsSpaces(KuleiPosition):
    @classmethod
    def parse(cls, text: str) -> Self:
        return super().parse(text.strip())


class NeverChangesSides(KuleiPosition):
    @property
    def side(self) -> Side:
        return Side.WHITE


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (ListsTwice, "a legal move is listed twice"),
        (ForgetsTheEnd, "the outcome is 1/2-1/2 seeds with 8 legal moves"),
        (PlaysAnything, "'' is not legal but can be played"),
        (CallsAnythingLegal, "'' is legal but not listed"),
        (ReadsSpaces, "w 0 0 - - 0 ' is read as a position"),
        (NeverChangesSides, "ply 1 is WHITE's"),
    ],
)
def test_a_broken_game_is_told_what_is_wrong(broken: type[Position], complaint: str) -> None:
    complaints = check_game(replace(KULEI, position=broken), seed=1, games=1)
    assert any(complaint in sentence for sentence in complaints), complaints


def test_a_wrong_registry_entry_is_told() -> None:
    complaints = check_game(replace(KULEI, first=Side.BLACK, rules=""), seed=1)
    assert complaints == [
        "dogon-kulei starts with WHITE, its registry entry says BLACK",
        "dogon-kulei has no rules page",
    ]


def test_the_same_seed_finds_the_same_complaints() -> None:
    game = replace(KULEI, position=ListsTwice)
    assert check_game(game, seed=3, games=2) == check_game(game, seed=3, games=2)
