"""What programs read of the rules: every ladder, and sentences for what cannot be."""

from __future__ import annotations

import msgspec
import pytest

from engines.positions import read_hard_positions
from engines.rules.registry import GAMES
from engines.tasks import Kind, read_tasks
from engines.tasks.answers import solve
from tournament.api.v1.positions import (
    AnsweredTask,
    answered_task,
    perft_of,
    position_answer,
    rules_of,
    rules_row,
    task_rows,
)
from tournament.views.analysis.trees import BadLine, read_line

ORIGIN = "https://site.example"
LADDER = "dogon-kulei"


@pytest.mark.parametrize("code", GAMES)
def test_the_rules_of_a_ladder_have_all_that_a_program_needs(code: str) -> None:
    found = rules_of(GAMES[code], ORIGIN)
    short = rules_row(GAMES[code], ORIGIN)
    assert msgspec.structs.asdict(short).items() <= msgspec.structs.asdict(found).items()
    assert found.page == f"{ORIGIN}/rules/{code}/"
    assert str(GAMES[code].position.parse(found.initial)) == found.initial
    assert "## Notation" in found.rules
    assert len(found.cells) > 10
    assert [one.position for one in found.positions] == [one.position for one in read_hard_positions(code)]


@pytest.mark.parametrize("code", GAMES)
def test_a_position_has_its_legal_moves_and_no_result_before_the_end(code: str) -> None:
    start = GAMES[code].position.initial()
    first = next(start.legal_moves())
    row = position_answer(read_line(GAMES[code], "", first))
    after = start.play(first)
    assert (row.position, row.side, row.ply) == (str(after), after.side.name.lower(), 1)
    assert row.moves == tuple(after.legal_moves())
    assert row.count == len(row.moves)
    assert (row.result, row.reason, row.match_result) == ("*", "", "*")


def test_a_position_that_is_over_has_its_result_its_reason_and_the_scores() -> None:
    row = position_answer(read_line(GAMES[LADDER], "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 21", ""))
    assert (row.result, row.reason, row.white_score, row.black_score) == ("1/2-1/2", "seeds", 24, 24)
    assert (row.count, row.moves) == (0, ())


@pytest.mark.parametrize(
    ("position", "moves", "words"),
    [("8/8 w 0", "", "'8/8 w 0'"), ("", "z9", "'z9'"), ("", "a1+ " * 1001, "1001 are too many")],
)
def test_a_line_that_cannot_be_is_refused_with_a_sentence(position: str, moves: str, words: str) -> None:
    with pytest.raises(BadLine, match=words):
        read_line(GAMES[LADDER], position, moves)


@pytest.mark.parametrize("code", GAMES)
def test_perft_counts_as_the_hard_positions_say(code: str) -> None:
    for one in read_hard_positions(code)[:3]:
        assert perft_of(read_line(GAMES[code], one.position, ""), 2).perft == one.counts[:2]


def test_perft_that_plays_too_many_moves_is_refused_with_the_depth_that_is_possible() -> None:
    with pytest.raises(BadLine, match=r"depth: 4 plays more than 100,000 moves .* choose at most 2\."):
        perft_of(read_line(GAMES["dualma"], "", ""), 4)


@pytest.mark.parametrize("code", GAMES)
def test_a_task_tells_its_solution_only_to_who_has_solved_it(code: str) -> None:
    rows = task_rows(GAMES[code], ORIGIN)
    assert [row.position for row in rows] == [task.position for task in read_tasks(code)]
    for row, task in zip(rows, read_tasks(code), strict=True):
        _, solution = solve(GAMES[code], task)
        asked = answered_task(GAMES[code], row.number, "", ORIGIN)
        assert (asked.solution, asked.right, asked.solved, asked.said) == ((), None, False, "")
        wrong = next(
            token
            for token in GAMES[code].position.parse(task.position).legal_moves()
            if token not in task.moves
        )
        assert _told(answered_task(GAMES[code], row.number, wrong, ORIGIN)) == (False, False, ())
        moves = " ".join(solution[::2])
        assert _told(answered_task(GAMES[code], row.number, moves, ORIGIN)) == (True, True, solution)
        if task.kind is Kind.WIN_IN_TWO:
            begun = answered_task(GAMES[code], row.number, solution[0], ORIGIN)
            assert _told(begun) == (True, False, ())
            assert begun.played == solution[:2]


def _told(found: AnsweredTask) -> tuple[bool | None, bool, tuple[str, ...]]:
    return found.right, found.solved, found.solution
