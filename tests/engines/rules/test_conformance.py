from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Self

import pytest

from engines.rules import GAMES, Outcome, Position, Reason, Result, Side, Variant, Word, find_game
from engines.rules.dogon import KuleiPosition
from tests.support.conformance import check_game

KULEI = find_game("dogon-kulei")
GAMES_TO_PLAY = {"dualma": 1, "duploline": 2}


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_every_registered_game_conforms(game: Variant) -> None:
    assert check_game(game, seed=7, games=GAMES_TO_PLAY.get(game.code, 10)) == []


@pytest.mark.parametrize("index", [-1, 3540, 2**31, 2**63, 2**64, -(2**70)])
def test_an_index_beyond_the_moves_is_an_index_error_however_large(index: int) -> None:
    for position in (*(game.position.initial() for game in GAMES.values()), Altered.initial()):
        with pytest.raises(IndexError, match=f"no legal move at index {index}$"):
            position.move_at(index)
        with pytest.raises(IndexError, match=f"no legal move at index {index}$"):
            position.play_at(index)


class Altered(Position):
    """Kulei as it is; each game below alters one thing of it.

    Not derived from ``KuleiPosition``: of a compiled game nobody can derive.
    """

    def __init__(self, right: Position) -> None:
        self.right = right

    @property
    def side(self) -> Side:
        return self.right.side

    @property
    def ply(self) -> int:
        return self.right.ply

    @classmethod
    def initial(cls) -> Self:
        return cls(KuleiPosition.initial())

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(KuleiPosition.parse(text))

    def __str__(self) -> str:
        return str(self.right)

    def legal_moves(self) -> Iterator[str]:
        return self.right.legal_moves()

    def is_legal(self, token: str) -> bool:
        return self.right.is_legal(token)

    def play(self, token: str) -> Self:
        return type(self)(self.right.play(token))

    def outcome(self) -> Outcome:
        return self.right.outcome()

    def key(self) -> Hashable:
        return self.right.key()

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return self.right.outcome_by_match_rule(reason)

    def board(self) -> Mapping[str, str]:
        return self.right.board()

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return KuleiPosition.words()


class ListsTwice(Altered):
    def legal_moves(self) -> Iterator[str]:
        yield from super().legal_moves()
        yield from super().legal_moves()


class ForgetsTheEnd(Altered):
    def outcome(self) -> Outcome:
        return Outcome(Result.DRAW, Reason.SEEDS)


class PlaysAnything(Altered):
    def play(self, token: str) -> Self:
        return super().play(token if self.is_legal(token) else next(self.legal_moves(), token))


class CallsAnythingLegal(Altered):
    def is_legal(self, token: str) -> bool:
        return True


class ReadsSpaces(Altered):
    @classmethod
    def parse(cls, text: str) -> Self:
        return super().parse(text.strip())


class NeverChangesSides(Altered):
    @property
    def side(self) -> Side:
        return Side.WHITE


class Miscounts(Altered):
    def count_moves(self) -> int:
        return super().count_moves() + 1


class NamesTheFirstMoveAlways(Altered):
    def move_at(self, index: int) -> str:
        return super().move_at(min(index, 0))


class PlaysTheFirstMoveAlways(Altered):
    def play_at(self, index: int) -> tuple[str, Self]:
        return super().play_at(min(index, 0))


class TakesAnyCase(Altered):
    def is_legal(self, token: str) -> bool:
        return super().is_legal(token.lower())


class ForgetsThePosition(Altered):
    def key(self) -> Hashable:
        return "always the same"


class LosesAHole(Altered):
    def board(self) -> Mapping[str, str]:
        return {hole: seeds for hole, seeds in super().board().items() if seeds != "0"}


class CallsAMatchRuleUndecided(Altered):
    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.UNDECIDED, reason)


class NamesNoDirections(Altered):
    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return {}


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (NamesNoDirections, "'a1+' and 'a1-' have the same parts on the board"),
        (ListsTwice, "a legal move is listed twice"),
        (ForgetsTheEnd, "the outcome is 1/2-1/2 seeds with 8 legal moves"),
        (PlaysAnything, "'' is not legal but can be played"),
        (CallsAnythingLegal, "'' is legal but not listed"),
        (ReadsSpaces, "w 0 0 - - 0 ' is read as a position"),
        (NeverChangesSides, "ply 1 is WHITE's"),
        (Miscounts, "9 legal moves are counted, 8 listed"),
        (NamesTheFirstMoveAlways, "move_at gives other moves than legal_moves"),
        (PlaysTheFirstMoveAlways, "play_at differs from move_at and play"),
        (TakesAnyCase, "is legal but not listed"),
        (ForgetsThePosition, "leaves the key unchanged"),
        (LosesAHole, "the board has other cells than at the start"),
        (CallsAMatchRuleUndecided, "the match rule repetition gives"),
    ],
)
def test_the_errors_of_a_broken_game_are_reported(broken: type[Position], complaint: str) -> None:
    complaints = check_game(replace(KULEI, position=broken), seed=1, games=1)
    assert any(complaint in sentence for sentence in complaints), complaints


def test_a_wrong_registry_entry_is_reported() -> None:
    complaints = check_game(replace(KULEI, first=Side.BLACK, rules=""), seed=1)
    assert complaints == [
        "dogon-kulei starts with WHITE, its registry entry says BLACK",
        "dogon-kulei has no rules page",
    ]


def test_the_same_seed_finds_the_same_complaints() -> None:
    game = replace(KULEI, position=ListsTwice)
    assert check_game(game, seed=3, games=2) == check_game(game, seed=3, games=2)
