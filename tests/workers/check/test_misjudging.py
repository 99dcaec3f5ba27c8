"""Engines that misjudge: a wrong rule, scores from one side, an end that is not seen, memory that grows."""

from __future__ import annotations

import pytest

from engines.rules.base import Side
from engines.rules.registry import GAMES, find_game
from tests.support import misruled_engine, scoring_engine
from tests.workers.check.test_check import BY_NAME, found_by
from workers.check import Finding, verdicts
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import Budget
from workers.check.run import try_check
from workers.check.verdicts import MEMORY_BYTES, judge_end, judge_memory, judge_scores
from workers.engine.launch import plan_launch
from workers.jobs import EngineSpec

MB = 1 << 20


def found_in(check: str, code: str, program: str | None, *arguments: str) -> Finding:
    spec = EngineSpec("bot", "1", ("python3", str(program), *arguments), trusted=True)
    engine = CheckedEngine(lambda: plan_launch(spec, None), Budget(240.0))
    try:
        return try_check(engine, BY_NAME[check], find_game(code))
    finally:
        engine.clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "belief"),
    [
        ("duovallis", "a sowing has at most 100 laps"),
        ("dogon-kulei", "a chain has at most 2 holes"),
        ("dogon-kulei", "a pass costs nothing"),
        ("dogon-gagara", "a pass costs nothing"),
        ("dogon-kulei", "a sowing of the opponent leaves the run"),
        ("dogon-gagara", "a sowing of the opponent leaves the run"),
        ("dogon-kulei", "a sowing that reaches the opponent's row goes on with the run"),
        ("dogon-gagara", "a sowing that reaches the opponent's row goes on with the run"),
        ("dogon-kulei", "the first sowing of a run is a change"),
    ],
)
def test_a_wrong_rule_is_found(code: str, belief: str) -> None:
    finding = found_in("rare rules", code, misruled_engine.__file__, code, belief)
    assert "illegal move" in finding.fault
    assert "> position fen " in finding.lines
    assert finding.is_grave


@pytest.mark.slow
@pytest.mark.parametrize("code", ["dogon-kulei", "duovallis"])
def test_scores_from_one_side_are_mentioned_with_the_scores(code: str) -> None:
    finding = found_in("scores", code, scoring_engine.__file__, "white")
    sides = r"500, 500, 500 if that was White, and -500, -500, -500 if not"
    assert finding.fault.startswith("its scores are always from White's side: ")
    assert finding.fault.endswith(sides)
    assert not finding.is_grave
    assert found_in("scores", code, scoring_engine.__file__, "own").fault == ""


W, B = Side.WHITE, Side.BLACK


@pytest.mark.parametrize(
    ("scores", "side"),
    [
        ([(W, 3), (W, 1), (W, 9), (B, -2), (B, -1), (B, -7)], "White"),
        ([(W, -3), (W, -1), (W, -9), (B, 2), (B, 1), (B, 7)], "Black"),
        ([(W, 3), (W, 1), (W, 9), (B, 2), (B, 1), (B, 7)], ""),
        ([(W, -3), (W, -1), (W, -9), (B, -2), (B, -1), (B, -7)], ""),
        ([(W, 0)] * 3 + [(B, 0)] * 3, ""),
        ([(W, 3), (W, 1), (W, 9), (B, -2), (B, -1), (B, 7)], ""),
        ([(W, 3), (W, 1), (B, -2), (B, -1)], ""),
    ],
)
def test_scores_are_from_one_side_if_every_sign_is_its(scores: list[tuple[Side, int]], side: str) -> None:
    sentence = judge_scores(scores) or ""
    assert bool(sentence) == bool(side)
    assert f"{side}'s side" in sentence or not side


@pytest.mark.slow
def test_an_engine_that_plays_on_after_the_end_is_mentioned() -> None:
    finding = found_in("end of game", "dualma", scoring_engine.__file__, "late")
    assert finding.fault == (
        "the game is over in this position (1-0 three-in-a-row), and it answers with the move 'a1'"
    )
    assert not finding.is_grave
    assert found_in("end of game", "dualma", scoring_engine.__file__, "own").fault == ""


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["go leave 3", "go hang -", r"go only bestmove\x20none\n"])
def test_any_other_behaviour_after_the_end_passes(plan: str, mark: str) -> None:
    """A server never asks there."""
    finding = found_by("end of game", plan, mark)
    assert finding.was_tried
    assert finding.fault == ""


@pytest.mark.parametrize("word", ["none", "(none)", "0000", "resign", ""])
def test_a_word_that_is_no_move_ends_a_game(word: str) -> None:
    for game in GAMES.values():
        assert judge_end(f"bestmove {word}", "1-0", game.position.initial()) is None


@pytest.mark.parametrize("code", GAMES)
def test_a_move_after_the_end_is_named(code: str) -> None:
    start = GAMES[code].position.initial()
    for token in (start.move_at(0), GAMES[code].picture.split()[-1]):
        assert f"answers with the move '{token}'" in (judge_end(f"bestmove {token}", "1-0", start) or "")


@pytest.mark.slow
@pytest.mark.parametrize(("limit_mb", "is_grave"), [(100, True), (4000, False)])
def test_memory_that_grows_with_every_move_is_found_with_its_figures(
    limit_mb: int, is_grave: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "MEMORY_BYTES", limit_mb * MB)
    finding = found_by("whole game", "go keep 5000000", mark)
    assert finding.fault.startswith("with every move it used ")
    assert (f"allows {limit_mb} MB ends it within a usual game" in finding.fault) == is_grave
    assert finding.is_grave == is_grave
    assert "limit the size of tables" in finding.advice


GROWING = [20 * MB * n for n in range(40)]


@pytest.mark.parametrize(
    ("samples", "is_lost"),
    [
        (GROWING, True),
        ([3 * MB * n for n in range(40)], False),
        ([min(20 * MB * n, 400 * MB) for n in range(40)], None),
        ([max(0, 20 * MB * (n - 22)) for n in range(40)], None),
        ([MB * n for n in range(40)], None),
        (GROWING[:11], None),
        ([0] * 40, None),
        ([], None),
    ],
    ids=("20 MB", "3 MB", "a full table", "a late start", "1 MB", "few moves", "unknown", "no move"),
)
def test_memory_is_judged_by_its_growth_in_every_part_of_the_game(
    samples: list[int], is_lost: bool | None
) -> None:
    judged = judge_memory(samples, 30)
    assert (None if judged is None else judged[1]) is is_lost


def test_the_figures_are_those_of_the_game() -> None:
    judged = judge_memory([20 * MB * n for n in range(1, 13)], 30)
    assert judged is not None
    assert judged[0] == (
        "with every move it used 20 MB more memory, after 12 moves 240 MB: "
        f"a site that allows {MEMORY_BYTES >> 20} MB ends it within a usual game"
    )
