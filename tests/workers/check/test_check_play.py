"""The positions of the compliance check, and a time that is always the same."""

from __future__ import annotations

import pytest

from engines.hard_positions import HARD_POSITIONS, WON_POSITIONS
from engines.rules.base import Side
from engines.rules.registry import GAMES, find_game
from tests.support.jobs import bad_engine
from workers.check import check_engine
from workers.check.rule_checks import _situations
from workers.check.situations import parse_situation
from workers.check.verdicts import LEAST_SCORES
from workers.engine.launch import plan_launch


@pytest.mark.thorough
def test_a_bot_that_always_takes_600_ms_is_found_and_refused() -> None:
    late = bad_engine("ugi", "limit", "120", "go", "late", "0.6")
    kulei = [find_game("dogon-kulei")]
    faults = {
        finding.check: finding
        for finding in check_engine(lambda: plan_launch(late, None), ladders=kulei, seconds=120.0).faults
    }
    assert set(faults) == {"short times", "time control"}
    assert "'go movetime 20' the answer took" in faults["short times"].fault
    assert "'go p1time 500 p2time 500 p1inc 0 p2inc 0' the answer took" in faults["time control"].fault
    assert (faults["short times"].is_grave, faults["time control"].is_grave) == (False, True)


@pytest.mark.parametrize("code", GAMES)
def test_hard_positions_are_positions_of_their_ladder_that_are_not_over(code: str) -> None:
    parsed = [parse_situation(GAMES[code], text) for text in HARD_POSITIONS[code]]
    assert not any(one.position.outcome().decided for one in parsed)
    assert len(set(HARD_POSITIONS[code])) == len(parsed) >= 6


@pytest.mark.parametrize("code", GAMES)
def test_won_positions_are_won_by_a_move_of_either_side(code: str) -> None:
    positions = [GAMES[code].position.parse(text) for text in WON_POSITIONS[code]]
    for position in positions:
        after = map(position.play, position.legal_moves())
        assert any(one.outcome().winner is position.side for one in after), position
    sides = [position.side for position in positions]
    assert min(map(sides.count, Side)) >= LEAST_SCORES


@pytest.mark.parametrize(
    ("code", "rare"),
    [
        ("dogon-kulei", "pass"),
        ("dogon-gagara", "pass"),
        ("dualma", "pass"),
        ("dualma", "-.-"),
        ("duploline", "single"),
        ("duovallis", "front"),
    ],
)
def test_hard_positions_have_the_rare_moves(code: str, rare: str) -> None:
    situations = [parse_situation(GAMES[code], text) for text in HARD_POSITIONS[code]]
    moves = [list(situation.position.legal_moves()) for situation in situations]
    kinds = {
        "pass": any(tokens == ["pass"] for tokens in moves),
        "-.-": any(token.count("-") == 2 for tokens in moves for token in tokens),
        "single": any(":" not in token for tokens in moves for token in tokens),
        "front": any({token[1] for token in tokens} <= {"2", "3"} for tokens in moves),
    }
    assert kinds[rare]


@pytest.mark.parametrize("code", GAMES)
def test_there_are_hundreds_of_situations_and_none_is_over(code: str) -> None:
    game = find_game(code)
    found = []
    for situation in _situations(game):
        found.append(situation)
        if len(found) == 60:
            break
    assert all(not one.position.outcome().decided for one in found)
    assert len({(one.fen, one.moves) for one in found}) > 45
