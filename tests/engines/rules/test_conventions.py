"""Conventions of all games that the conformance check does not cover."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from engines.rules import GAMES, History, Outcome, Position, Reason, Result, Side, Variant, find_game

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)


def played(game: Variant, seed: int = 5) -> Iterator[tuple[Position, list[str]]]:
    """The positions of a random game with their legal moves, to the end."""
    rng = random.Random(seed)
    history = History(game)
    while True:
        tokens = list(history.position.legal_moves())
        yield history.position, tokens
        if history.outcome.decided:
            return
        history.play(rng.choice(tokens))


@every_game
def test_two_players_white_w_and_black_b(game: Variant) -> None:
    start = game.position.initial()
    after = start.play(start.move_at(0))
    assert {start.side, after.side} == {Side.WHITE, Side.BLACK}
    letters = {Side.WHITE: " w ", Side.BLACK: " b "}
    assert all(letters[position.side] in str(position) for position in (start, after))


def test_an_outcome_names_its_winner() -> None:
    winners = {result: Outcome(result, Reason.NONE).winner for result in Result}
    assert winners == {
        Result.WHITE_WINS: Side.WHITE,
        Result.BLACK_WINS: Side.BLACK,
        Result.DRAW: None,
        Result.UNDECIDED: None,
    }


def test_files_are_letters_from_white_s_left_to_right_and_ranks_count_upward_from_white_s_side() -> None:
    kulei = find_game("dogon-kulei").position.parse("1,0,0,0,0,3/2,0,0,0,0,6 w 0 36 - - 0").board()
    assert [kulei[hole] for hole in ("a2", "f2", "a1", "f1")] == ["1", "3", "2", "6"]
    ranks = "1w,0,0,0,0,2w/1b,0,0,0,0,2b/3w,0,0,0,0,4w/3b,0,0,0,0,4b"
    four_ranks = find_game("duovallis").position.parse(f"{ranks} w 0 0 0").board()
    corners = [four_ranks[file + rank] for rank in "4321" for file in "af"]
    assert corners == ["1w", "2w", "1b", "2b", "3w", "4w", "3b", "4b"]


@every_game
def test_a_move_token_has_exactly_one_spelling(game: Variant) -> None:
    # no two tokens of a position differ in case, spaces or doubled signs alone
    for position, tokens in played(game):
        assert len({token.lower() for token in tokens}) == len(tokens)
        for token in tokens[:5]:
            for other in (token.upper(), token.lower(), f"{token} ", f"+{token}", token.replace("-", "--")):
                assert other == token or not position.is_legal(other)


@every_game
def test_no_position_string_holds_a_number_over_999999999_however_long_play_goes_on(game: Variant) -> None:
    *_, (position, _) = islice(played(game), 30)
    board, _, *rest, _ = str(position).split(" ")
    side = position.side if position.ply % 2 else position.side.other
    position = game.position.parse(" ".join([board, side.letter, *rest, "999999999"]))
    for _ in range(3):
        after = position.play(position.move_at(0))
        assert after.side is position.side.other
        assert game.position.parse(str(after)) == after
        position = after


@pytest.mark.parametrize("code", ["dogon-kulei", "dogon-gagara"])
def test_dogon_never_ends_by_a_pass(code: str) -> None:
    for seed in range(10):
        *_, (before, tokens), _ = played(find_game(code), seed)
        assert tokens != ["pass"], before


def test_the_reasons_printed_with_a_result_are_these() -> None:
    words = "three-in-a-row four-discs four-rings no-move seeds cannot-pay board-full no-action"
    assert {str(reason) for reason in Reason if reason} == {*words.split(), "repetition", "ply-limit"}


@pytest.mark.parametrize("code", ["duovallis", "dualma", "duploline"])
@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_by_a_match_rule_the_games_other_than_dogon_are_drawn(code: str, reason: Reason) -> None:
    start = find_game(code).position.initial()
    assert start.outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)
