from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.compiled import PURE_VARIABLE
from engines.rules import GAMES, Outcome, Position, Variant, find_game
from engines.rules.playout import Dice, draw_game

ROOT = Path(__file__).parents[3]
BOTH_FORMS_TELL = """
from engines.rules import GAMES, perft
from engines.rules.playout import Dice, draw_game
for game in GAMES.values():
    start = game.position.initial()
    moves = draw_game(start, game.ply_limit, Dice(4))
    position = start
    for token in moves:
        position = position.play(token)
    print(game.code, repr(position), position.outcome(), *moves)
    print([perft(start, depth) for depth in range(3)])
"""
VALUES_TELL = """
from engines.rules import GAMES, History, IllegalMove, PositionError, Reason, Side
for game in GAMES.values():
    start, again = game.position.initial(), game.position.initial()
    after = start.play(next(start.legal_moves()))
    print(start == again, hash(start) == hash(again), start == after, start == 5, len({start, again}))
    print(repr(after), after.side.other, after.side is Side.WHITE)
    print(start.outcome_by_match_rule(Reason.PLY_LIMIT))
    history = History(game, ply_limit=1)
    print(history.play(next(start.legal_moves())), history.outcome.decided, history.moves)
    for failing in (lambda: after.play('x'), lambda: history.play('y'), lambda: game.position.parse(' ')):
        try:
            failing()
        except (IllegalMove, PositionError) as error:
            print(type(error), error, getattr(error, 'token', None), getattr(error, 'position', None))
    try:
        start.move_at(-1)
    except IndexError as error:
        print(error)
"""
COMPLAINTS_TELL = """
import random
from engines.rules import GAMES, RulesError
from engines.rules.playout import Dice, draw_game
from tests.support.agreement import misspelled
def answer(ask, text):
    try:
        return ask(text)
    except RulesError as error:
        return error
for game in GAMES.values():
    rng = random.Random(3)
    position = game.position.initial()
    for token in draw_game(position, 40, Dice(3)):
        for wrong in misspelled([token], rng):
            print(repr(wrong), position.is_legal(wrong), answer(position.play, wrong))
        for wrong in misspelled(str(position).split(' '), rng):
            print(answer(game.position.parse, str(position).replace(wrong[:-1], wrong)))
        position = position.play(token)
"""


def played(start: Position, moves: list[str]) -> Position:
    for token in moves:
        start = start.play(token)
    return start


def outcome_after(game: Variant, moves: list[str]) -> Outcome:
    return played(game.position.initial(), moves).outcome()


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
def test_a_drawn_game_is_legal_and_ends_by_the_rules_or_the_ply_limit(game: Variant) -> None:
    moves = draw_game(game.position.initial(), game.ply_limit, Dice(1))
    assert outcome_after(game, moves).decided == (len(moves) < game.ply_limit)


def test_the_ply_limit_counts_the_plies_before_the_start() -> None:
    game = find_game("dogon-kulei")
    dice = Dice(1)
    start = played(game.position.initial(), draw_game(game.position.initial(), 3, dice))
    assert start.ply == 3
    assert len(draw_game(start, 5, dice)) == 2
    assert draw_game(start, 3, dice) == []


def test_a_ply_limit_may_be_larger_than_any_ply() -> None:
    start = find_game("dogon-gagara").position.initial()
    assert draw_game(start, 2**70, Dice(5)) == draw_game(start, 10**9, Dice(5))


def test_the_same_seed_draws_the_same_games() -> None:
    start = find_game("dogon-gagara").position.initial()
    one, other = Dice(5), Dice(5)
    games = [draw_game(start, 700, one) for _ in range(3)]
    assert games == [draw_game(start, 700, other) for _ in range(3)]
    assert games[0] != games[1]


def test_the_generator_is_marsaglias() -> None:
    # For the seed 1 its first numbers are 270369 and 67634689.
    dice = Dice(1)
    assert [dice.draw(2**31) for _ in range(2)] == [270369 // 2, 67634689 // 2]


@pytest.mark.parametrize("seed", [0, 1, -1, 2**32, 2**70 + 3])
def test_with_any_seed_all_numbers_are_about_equally_likely(seed: int) -> None:
    dice = Dice(seed)
    drawn = [dice.draw(6) for _ in range(6000)]
    assert set(drawn) == set(range(6))
    assert all(800 < drawn.count(number) < 1200 for number in range(6))


def told_by_both_forms(script: str) -> list[str]:
    """What the script prints on the rules as they run here, and on plain Python."""
    return [
        subprocess.run(
            (sys.executable, "-c", script),
            cwd=ROOT,
            env={**os.environ, PURE_VARIABLE: pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in "01"
    ]


def test_both_forms_of_the_rules_play_the_same_games() -> None:
    here, plain = told_by_both_forms(BOTH_FORMS_TELL)
    assert here == plain
    assert here.count("\n") == 2 * len(GAMES)


def test_messages_about_misspelled_input_are_the_same_in_both_forms() -> None:
    here, plain = told_by_both_forms(COMPLAINTS_TELL)
    assert here == plain
    assert here.count("illegal move") > 500
    assert here.count("bad ") > 500


def test_positions_outcomes_and_errors_are_the_same_in_both_forms() -> None:
    here, plain = told_by_both_forms(VALUES_TELL)
    assert here == plain
    assert here.count("illegal move 'x' in position") == len(GAMES)
