"""Dogon: the notation of moves and positions. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import PositionError, Reason, find_game
from engines.rules.base import Outcome, Result
from tests.support.mancala import dogon
from tests.support.moves import assert_illegal, moves

KULEI = find_game("dogon-kulei").position
START = "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0"


@pytest.mark.parametrize(
    "token",
    ["a2+", "f2-", "a1", "a1*", "A1+", "a1+ ", " a1+", "g1+", "a3+", "", "c1++", "+c1", "c1 +", "PASS"],
)
def test_a_move_is_hole_then_direction_or_pass_and_nothing_else(token: str) -> None:
    position = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | 4 4 4 4 4 4 |
            a b c d e f
    """)
    assert position.is_legal("c1+")
    assert_illegal(position, token, "no sowing of an own hole, nor a pass")


def test_a_position_is_rank2_rank1_side_white_store_black_store_passed_run_ply() -> None:
    position = dogon(
        """
        2 | 1 2 3 4 5 6 | 4
        1 | 7 8 . . 1 2 | 5
            a b c d e f
        """,
        "b",
        passed=True,
        run="+1",
    )
    assert str(position) == "1,2,3,4,5,6/7,8,0,0,1,2 b 5 4 p +1 1"


def test_ranks_are_written_from_the_top_and_holes_from_left_to_right() -> None:
    board = KULEI.parse("1,2,3,4,5,6/7,8,0,0,1,2 b 5 4 p +1 7").board()
    assert [board[file + "2"] for file in "abcdef"] == list("123456")
    assert [board[file + "1"] for file in "abcdef"] == list("780012")
    assert len(board) == 12


def test_passed_is_p_if_the_move_immediately_before_was_a_pass_else_a_dash() -> None:
    position = dogon("""
        2 | 4 . . . . . | 38
        1 | 1 . . . . . | 5
            a b c d e f
    """)
    after = position.play("pass")
    assert [str(each).split(" ")[4] for each in (position, after, after.play("a2-"))] == ["-", "p", "-"]


@pytest.mark.parametrize("run", ["-", "+0", "-0", "+1", "-1", "+2", "-2"])
def test_run_is_a_dash_or_its_last_direction_and_the_number_of_changes_so_far(run: str) -> None:
    text = f"4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 p {run} 8"
    assert str(KULEI.parse(text)) == text


def test_the_start_is_four_seeds_a_hole_and_in_gagara_eight_sixes_a_rank() -> None:
    assert str(KULEI.initial()) == START
    gagara = find_game("dogon-gagara").position
    assert str(gagara.initial()) == "6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0"


def test_after_the_last_move_the_seeds_stay_where_they_lie_and_the_result_counts_them() -> None:
    last = dogon("""
        2 | . 1 . . . 2 | 21
        1 | . . . . 2 . | 22
            a b c d e f
    """).play("e1+")
    assert str(last) == "0,1,0,0,0,0/0,0,0,0,0,1 b 25 21 - - 1"
    assert last.outcome() == Outcome(Result.WHITE_WINS, Reason.SEEDS, 26, 22)


def test_every_field_of_the_position_string_except_the_ply_counts_for_repetition() -> None:
    texts = [
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 b 1 1 - - 1",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 2 0 - - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 p - 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - +0 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - -0 0",
        "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - +1 0",
        "4,4,4,4,2,4/4,4,4,4,4,4 w 1 1 - - 0",
    ]
    assert len({KULEI.parse(text).key() for text in texts}) == len(texts)
    later = KULEI.parse("4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - - 8")
    assert later.key() == KULEI.parse(texts[0]).key()
    assert later != KULEI.parse(texts[0])


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_by_a_match_rule_each_player_receives_the_seeds_in_his_own_holes_and_they_are_counted(
    reason: Reason,
) -> None:
    position = dogon("""
        2 | 4 4 4 4 4 1 | 1
        1 | 4 4 4 4 4 4 | 2
            a b c d e f
    """)
    assert position.outcome_by_match_rule(reason) == Outcome(Result.WHITE_WINS, reason, 26, 22)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad position ''"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - 0", "bad position"),
        ("4,4,4,4,4,4 w 0 0 - - 0", "bad rank2/rank1 '4,4,4,4,4,4': 1 rank instead of 2"),
        ("4,4,4,4,4,4/4,4,4,4,4,4/ w 0 0 - - 0", "3 ranks instead of 2"),
        ("4,4,4,4,4/4,4,4,4,4,8 w 0 0 - - 0", "bad rank2 '4,4,4,4,4': 5 holes instead of 6"),
        ("4,4,4,4,4,4/4,4,4,4,4,4,0 w 0 0 - - 0", "bad rank1 '4,4,4,4,4,4,0': 7 holes instead of 6"),
        ("4,4,x,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", "bad rank2 hole c2 'x'"),
        ("4,4,4,4,4,4/4,04,4,4,4,4 w 0 0 - - 0", "bad rank1 hole b1 '04'"),
        ("4,4,4,4,4,4/4,,4,4,4,8 w 0 0 - - 0", "bad rank1 hole b1 ''"),
        ("4,4,4,4,4,4/4,-4,4,4,4,12 w 0 0 - - 0", "bad rank1 hole b1 '-4'"),
        ("4,4,4,4,4,4/4,1000000000,4,4,4,4 w 0 0 - - 0", "bad rank1 hole b1 '1000000000'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 W 0 0 - - 0", "bad side 'W'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 b 0 0 - - 0", "bad side 'b'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 00 0 - - 0", "bad whiteStore '00'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 x - - 0", "bad blackStore 'x'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 P - 0", "bad passed 'P'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 + - 0", "bad passed '+'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - + 0", "bad run '+'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - +3 0", "bad run '+3'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - +00 0", "bad run '+00'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - 0 0", "bad run '0'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 1000000000", "bad ply '1000000000'"),
        ("4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - x", "bad ply 'x'"),
        ("6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0", "8 holes instead of 6"),
    ],
)
def test_anything_but_the_canonical_spelling_is_refused_with_a_message_that_names_the_field(
    text: str, complaint: str
) -> None:
    with pytest.raises(PositionError) as refusal:
        KULEI.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("code", "text", "complaint"),
    [
        (
            "dogon-kulei",
            "4,4,4,4,4,4/4,4,4,4,4,3 w 0 0 - - 0",
            "47 seeds with the stores instead of 48",
        ),
        (
            "dogon-kulei",
            "4,4,4,4,4,4/4,4,4,4,4,4 w 1 0 - - 0",
            "49 seeds with the stores instead of 48",
        ),
        (
            "dogon-gagara",
            "6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,5 w 0 0 - - 0",
            "95 seeds with the stores instead of 96",
        ),
    ],
)
def test_totals_other_than_48_or_96_seeds_with_the_stores_are_refused(
    code: str, text: str, complaint: str
) -> None:
    with pytest.raises(PositionError) as refusal:
        find_game(code).position.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "48,0,0,0,0,0/0,0,0,0,0,0 b 0 0 p -2 999999999",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 48 0 - +2 0",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 0 48 p - 0",
    ],
)
def test_reachability_is_not_checked(text: str) -> None:
    position = KULEI.parse(text)
    assert str(position) == text
    assert position == KULEI.parse(text)
    assert position.outcome().decided == (not moves(position))
