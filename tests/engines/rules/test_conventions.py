"""What all games share: the registry, conventions, and the form in which the rules run."""

from __future__ import annotations

import ast
import importlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from engines import compiled, rules
from engines.rules import (
    GAMES,
    History,
    Outcome,
    Position,
    Reason,
    Result,
    Side,
    UnknownGame,
    Variant,
    find_game,
)
from engines.rules.registry import ENDINGS, family_credits


def test_the_ladders_are_listed_in_their_order() -> None:
    assert list(GAMES) == ["duovallis", "dualma", "dogon-kulei", "dogon-gagara", "duploline"]


def test_a_game_is_found_by_its_code() -> None:
    assert [find_game(code).code for code in GAMES] == list(GAMES)


@pytest.mark.parametrize("code", ["", "dogon", "Duovallis", "duovallis ", "chess"])
def test_an_unknown_game_is_refused_with_the_known_ones(code: str) -> None:
    with pytest.raises(UnknownGame) as refusal:
        find_game(code)
    assert repr(code) in str(refusal.value)
    assert all(known in str(refusal.value) for known in GAMES)


def test_black_starts_in_dualma_alone() -> None:
    assert [code for code, game in GAMES.items() if game.first is Side.BLACK] == ["dualma"]


def test_the_default_ply_limits_are_the_published_ones() -> None:
    assert [game.ply_limit for game in GAMES.values()] == [500, 400, 500, 700, 200]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_rules_page_has_its_parts(game: Variant) -> None:
    assert game.rules.startswith("# ")
    assert "**[reading]**" in game.rules
    assert game.credit.split(",")[0] in game.rules
    assert str(game.position.initial()) in game.rules or game.code == "dogon-gagara"
    assert str(game.ply_limit) in game.rules


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_rules_page_defines_repetition_and_the_order_of_endings(game: Variant) -> None:
    page = " ".join(game.rules.split())
    assert "the position before the first move counts" in page
    assert "first by its own rules, then by repetition, then by the ply limit" in page


def test_every_reason_has_a_clause_for_readers() -> None:
    assert set(ENDINGS) == set(Reason) - {Reason.NONE}
    assert all(clause and not clause.endswith(".") for clause in ENDINGS.values())


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_the_picture_of_a_game_is_a_position_that_is_still_played(game: Variant) -> None:
    position = game.pictured()
    assert position.ply > 0
    assert not position.outcome().decided


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_score_has_a_unit(game: Variant) -> None:
    """Only games with scores have a unit."""
    outcome = game.position.initial().outcome_by_match_rule(Reason.PLY_LIMIT)
    assert (outcome.white_score is not None) == bool(game.score_unit)


def test_every_family_has_one_credit() -> None:
    inventors = family_credits()
    assert all(inventors[game.family] == game.credit for game in GAMES.values())


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


RULES = Path(rules.__file__).parent


def test_these_rules_run_compiled_where_they_were_compiled() -> None:
    build = RULES.parent / "build" / compiled.build_name(str(RULES))
    in_use = str(importlib.import_module("engines.rules.base").__file__)
    assert in_use.endswith(compiled.SUFFIX) == (build.is_dir() and not compiled.pure_is_asked_for())


@pytest.mark.parametrize("name", compiled.compiled_names(str(RULES)))
def test_a_module_has_its_docstring_in_either_form(name: str) -> None:
    source = (RULES / f"{name}.py").read_text()
    module = importlib.import_module(f"engines.rules.{name}")
    assert module.__doc__ == ast.get_docstring(ast.parse(source), clean=False)


NESTED = """
import engines
from engines.rules import GAMES, History

for game in GAMES.values():
    for depth in range(100):
        history = History(game)
        history.play(next(iter(history.position.legal_moves())))
        nested = history.position
        del history
        for _ in range(depth):
            nested = (nested,)
        del nested
print("destroyed")
"""


def test_positions_are_destroyed_at_any_depth() -> None:
    """From a depth of 50 on Python destroys objects later, by a list inside of them."""
    done = subprocess.run(
        (sys.executable, "-c", NESTED),
        env=os.environ | {"PYTHONMALLOC": "debug"},
        cwd=RULES.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("destroyed\n", 0), done.stderr
