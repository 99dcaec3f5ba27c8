"""The rules against the slow, literal second implementation of them in `tests/literal`."""

from __future__ import annotations

import random

import pytest

from engines.rules.base import Outcome, Position
from engines.rules.perft import perft
from engines.rules.registry import GAMES, Game
from tests.literal import LITERAL
from tests.literal.base import LiteralGame, LiteralOutcome
from tests.support.positions import DRAW

GAMES_PLAYED = {"duovallis": 20, "dualma": 3, "dogon-kulei": 40, "dogon-gagara": 20, "duploline": 4}
POSITIONS_DRAWN = {
    "duovallis": 1500,
    "dualma": 250,
    "dogon-kulei": 3000,
    "dogon-gagara": 1500,
    "duploline": 250,
}
DEPTH = {"duovallis": 5, "dualma": 1, "dogon-kulei": 4, "dogon-gagara": 3, "duploline": 2}

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)


def as_literal(outcome: Outcome) -> LiteralOutcome | None:
    if not outcome.decided:
        return None
    return str(outcome.result), str(outcome.reason), outcome.white_score, outcome.black_score


def assert_same(fast: Position, slow: LiteralGame) -> list[str]:
    """Both spell, judge and move alike; returns the legal tokens, sorted."""
    text = slow.text()
    assert str(fast) == text
    assert as_literal(fast.outcome()) == slow.outcome(), text
    tokens = sorted(fast.legal_moves())
    assert tokens == sorted(slow.legal()), text
    return tokens


@every_game
def test_random_games_agree_at_every_ply(game: Game) -> None:
    for seed in range(GAMES_PLAYED[game.code]):
        rng = random.Random(f"{game.code} {seed}")
        fast: Position = game.position.initial()
        slow = LITERAL[game.code].parse(str(fast))
        for _ in range(game.ply_limit):
            tokens = assert_same(fast, slow)
            if not tokens:
                break
            token = rng.choice(tokens)
            fast, slow = fast.play(token), slow.play(token)


@every_game
def test_positions_out_of_the_blue_agree_with_all_their_successors(game: Game) -> None:
    rng = random.Random(f"{game.code} positions")
    for _ in range(POSITIONS_DRAWN[game.code]):
        text = DRAW[game.code](rng)
        fast, slow = game.position.parse(text), LITERAL[game.code].parse(text)
        tokens = assert_same(fast, slow)
        for token in tokens if len(tokens) < 20 else rng.sample(tokens, 20):
            after, slow_after = fast.play(token), slow.play(token)
            assert str(after) == slow_after.text(), (text, token)
            assert as_literal(after.outcome()) == slow_after.outcome(), (text, token)


def literal_perft(position: LiteralGame, depth: int) -> int:
    tokens = position.legal()
    return (
        len(tokens) if depth == 1 else sum(literal_perft(position.play(token), depth - 1) for token in tokens)
    )


@every_game
def test_perft_agrees(game: Game) -> None:
    start = game.position.initial()
    depth = DEPTH[game.code]
    assert perft(start, depth) == literal_perft(LITERAL[game.code].parse(str(start)), depth)
