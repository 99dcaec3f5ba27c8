"""The rules against their slow, literal second implementation in `tests/literal`: played and counted."""

from __future__ import annotations

import random

import pytest

from engines.rules import GAMES, History, Reason, Variant, perft
from tests.literal import LITERAL
from tests.literal.base import LiteralGame
from tests.literal.duovallis import LiteralDuovallis
from tests.literal.match import LiteralMatch
from tests.support.agreement import as_literal, assert_same, assert_same_verdict, misspelled
from tests.support.effort import share
from tests.support.positions import DRAW

GAMES_PLAYED = {"duovallis": 20, "dualma": 3, "dogon-kulei": 40, "dogon-gagara": 20, "duploline": 4}
POSITIONS_DRAWN = {
    "duovallis": 1500,
    "dualma": 200,
    "dogon-kulei": 2000,
    "dogon-gagara": 1000,
    "duploline": 80,
}
DEPTH = {"duovallis": 5, "dualma": 1, "dogon-kulei": 4, "dogon-gagara": 3, "duploline": 2}

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)


@every_game
def test_random_games_agree_at_every_ply_and_in_how_they_end(game: Variant) -> None:
    for seed in range(share(GAMES_PLAYED[game.code])):
        rng = random.Random(f"{game.code} {seed}")
        limit = game.ply_limit if seed % 3 else rng.randrange(1, 60)
        history = History(game, ply_limit=limit)
        match = LiteralMatch(LITERAL[game.code].parse(str(history.position)), limit)
        while True:
            tokens = assert_same(history.position, match.position)
            assert as_literal(history.outcome) == match.outcome()
            if history.outcome.decided:
                break
            for token in misspelled(rng.sample(tokens, 1), rng):
                assert_same_verdict(history.position, token, tokens)
            token = rng.choice(tokens)
            history.play(token)
            match.play(token)


def test_random_games_end_in_every_way_there_is_but_by_the_rarest() -> None:
    ended = set()
    for game in GAMES.values():
        for seed in range(GAMES_PLAYED[game.code]):
            rng = random.Random(seed)
            history = History(game)
            while not history.outcome.decided:
                count = history.position.count_moves()
                history.play(history.position.move_at(rng.randrange(count)))
            ended.add(history.outcome.reason)
    rare = {Reason.NONE, Reason.REPETITION, Reason.NO_ACTION, Reason.BOARD_FULL, Reason.THREE_IN_A_ROW}
    assert ended | rare == set(Reason)


@every_game
def test_moves_back_and_forth_repeat_in_both_implementations(game: Variant) -> None:
    # Moves that lead to a position seen before are preferred.
    for seed in range(4):
        rng = random.Random(f"{game.code} {seed}")
        history = History(game, game.position.parse(DRAW[game.code](rng)), ply_limit=10**9)
        match = LiteralMatch(LITERAL[game.code].parse(str(history.position)), 10**9)
        seen = {history.position.key()}
        for _ in range(60):
            assert as_literal(history.outcome) == match.outcome()
            if history.outcome.decided:
                break
            tokens = list(history.position.legal_moves())
            again = [token for token in tokens if history.position.play(token).key() in seen]
            token = rng.choice(again or tokens)
            history.play(token)
            match.play(token)
            seen.add(history.position.key())


@every_game
def test_positions_out_of_the_blue_agree_with_all_their_successors(game: Variant) -> None:
    rng = random.Random(f"{game.code} positions")
    for _ in range(share(POSITIONS_DRAWN[game.code])):
        text = DRAW[game.code](rng)
        fast, slow = game.position.parse(text), LITERAL[game.code].parse(text)
        tokens = assert_same(fast, slow)
        for token in misspelled(rng.sample(tokens, min(3, len(tokens))) or ["pass"], rng):
            assert_same_verdict(fast, token, tokens)
        for token in tokens if len(tokens) < 20 else rng.sample(tokens, 20):
            after, slow_after = fast.play(token), slow.play(token)
            assert str(after) == slow_after.text(), (text, token)
            assert as_literal(after.outcome()) == slow_after.outcome(), (text, token)


@pytest.mark.parametrize(
    ("laps", "board"),
    [
        ("endless", "0,0,0,0,0,0/3w,4w,3w,0,3w,4w/0,0,0,0,0,3w/1b,2w,0,4w,0,2w"),
        ("endless", "0,0,0,0,0,0/2w,1w,2w,1w,4w,3w/1b,0,0,0,0,0/2w,1w2b,5w,0,1w,3w"),
        ("endless", "0,0,0,0,0,0/3w,0,1b,4w,3w,4w/4w,0,0,0,0,2w/3w,0,1w,4w,0,1w"),
        ("endless", "0,0,0,0,0,0/0,3w,2w,1b,0,3w/3w,0,0,0,0,2w/0,1w,2w,3w,2w,3w2b"),
        ("endless", "0,0,0,0,0,0/0,4w,0,2w2b,1w,0/2w,0,0,0,0,4w/3w,0,3w,2w,3w,4w"),
        ("endless", "0,0,0,0,0,0/1w,0,1w,2w,0,2w/0,0,0,0,0,3w/3w,0,1w,0,1w,2w"),
        ("4617", "0,0,0,0,0,0/5w,0,1w2b,0,1w,2w/0,0,0,0,0,5w/5w,2w,5w,0,1w,5w2b"),
        ("5269", "0,0,0,0,0,0/4w,5w,0,1w,4w,0/1w,0,0,0,0,4w/5w1b,0,3w,0,4w2b,0"),
        ("9097", "0,0,0,0,0,0/2w1b,0,4w1b,0,3w,6w/2w,0,0,0,0,3w/3w,4w,3w,5w,3w,2w"),
        ("10382", "0,0,0,0,0,0/4w,1w,2w,1w2b,4w,1w/3w,0,0,0,0,4w/5w,4w,2w1b,5w,4w,3w"),
    ],
)
def test_both_implementations_agree_on_long_and_endless_sowings(laps: str, board: str) -> None:
    text = f"{board} w 0 0 0"
    fast, slow = GAMES["duovallis"].position.parse(text), LiteralDuovallis.parse(text)
    tokens = assert_same(fast, slow)
    eligible = [hole for hole in "a1 b1 c1 d1 e1 f1".split() if slow.may_start(hole)]
    assert (tokens != eligible) == (laps in ("endless", "10382"))
    for token in tokens:
        assert str(fast.play(token)) == slow.play(token).text()


# Perft


def literal_perft(position: LiteralGame, depth: int) -> int:
    """Sequences of exactly so many moves by their tokens: two that lead to one position are two moves."""
    tokens = position.legal()
    return (
        len(tokens) if depth == 1 else sum(literal_perft(position.play(token), depth - 1) for token in tokens)
    )


@every_game
def test_perft_agrees(game: Variant) -> None:
    start, depth = game.position.initial(), DEPTH[game.code]
    assert perft(start, depth) == literal_perft(LITERAL[game.code].parse(str(start)), depth)
