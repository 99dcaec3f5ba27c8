"""Duovallis, a test a sentence of its rules. Boards are drawn as in position strings, rank 4 first."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rules import (
    UNDECIDED,
    IllegalMove,
    Outcome,
    Position,
    PositionError,
    Reason,
    Result,
    Side,
    duovallis,
)
from engines.rules.duovallis import FOLLOWING, MAX_LAPS, MAX_WEIGHT, NAMES, PATHS, DuovallisPosition

START = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
ONE_ENDLESS = "2b,0,0,0,0,0/1w,0,1w,0,1b,0/0,0,0,0,0,1w/1b,2w,0,1b,0,1w1b w 0 0 0"
ONLY_ENDLESS = "2b,0,0,0,0,0/0,1w,0,1b,0,1w/1w,0,0,0,0,1w1b/0,1b,2w,0,1b,0 w 0 0 0"
BACK_ROW_ENDLESS = "0,0,0,0,0,0/3w,2w,1w,0,1w,0/0,0,0,0,0,3w/1w,3w,1w,0,1w,0 w 0 0 0"
"""Only b1 of the back row has two stones, and its sowing never ends."""
LONG_BUT_ENDING = "0,0,0,0,0,0/2w1b,0,4w1b,0,3w,6w/2w,0,0,0,0,3w/3w,4w,3w,5w,3w,2w w 0 0 0"
"""d1 takes 9,097 laps."""
TOO_LONG = "0,0,0,0,0,0/4w,1w,2w,1w2b,4w,1w/3w,0,0,0,0,4w/5w,4w,2w1b,5w,4w,3w w 0 0 0"
"""c1 would end after 10,382 laps."""


def board(*ranks: str, side: str = "w", kept: str = "0 0") -> DuovallisPosition:
    """A position of four ranks, top rank first, holes separated by spaces, ``.`` for an empty one."""
    holes = "/".join(",".join(rank.replace(".", "0").split()) for rank in ranks)
    return DuovallisPosition.parse(f"{holes} {side} {kept} {0 if side == 'w' else 1}")


def moves(position: Position) -> list[str]:
    return sorted(position.legal_moves())


def ranks(position: Position) -> list[str]:
    """The ranks as ``board`` takes them."""
    return [" ".join("." if hole == "0" else hole for hole in rank.split(",")) for rank in holes(position)]


def holes(position: Position) -> list[str]:
    return str(position).split(" ")[0].split("/")


def kept(position: Position) -> str:
    return " ".join(str(position).split(" ")[2:4])


# The board


def test_the_start_position() -> None:
    assert str(DuovallisPosition.initial()) == START
    assert DuovallisPosition.initial().stones == (40, 40)


def test_each_path_has_fourteen_holes_and_none_of_the_opponent_s() -> None:
    own = {0: set("a1 b1 c1 d1 e1 f1 b3 c3 d3 e3".split()), 1: set("a4 b4 c4 d4 e4 f4 b2 c2 d2 e2".split())}
    neutral = {"a2", "a3", "f2", "f3"}
    for side in Side:
        assert len(PATHS[side]) == 14
        assert set(PATHS[side]) == own[side] | neutral


def test_the_paths_go_round_neighbour_by_neighbour() -> None:
    for path in PATHS:
        for one, other in zip(path, [*path[1:], path[0]], strict=True):
            step = abs(ord(one[0]) - ord(other[0])) + abs(int(one[1]) - int(other[1]))
            assert step == 1, (one, other)


def test_a_sowing_follows_the_path_and_comes_round() -> None:
    a2 = NAMES.index("a2")
    assert [NAMES[hole] for hole in FOLLOWING[Side.WHITE][a2][:15]] == [*PATHS[0], "a1"]


# Sowing


def test_the_opponent_s_stones_are_sown_first() -> None:
    position = board(". . . . . .", ". . . . . .", ". 1b . . . .", "2w1b . . . 1b .", kept="0 0")
    after = position.play("a1")
    assert ranks(after) == [". . . . . .", ". . . . . .", ". 1b . . . .", ". 1b 1w 1w 1b ."]


def test_black_sows_along_his_own_path() -> None:
    position = board("2b . . . . .", ". . . . . .", ". . . . . .", ". . . . . .", side="b")
    after = position.play("a4")
    assert ranks(after) == [". . . . . .", "1b . . . . .", "1b . . . . .", ". . . . . ."]


def test_an_occupied_hole_with_half_own_stones_is_sown_on() -> None:
    # c1 receives the last stone of a1, holds 1w1b and is sown on: black into d1, white into e1
    position = board(". . . . . .", ". . . . . .", ". . . . . .", "2w . 1b . . .")
    assert ranks(position.play("a1")) == [*[". . . . . ."] * 3, ". 1w . 1b 1w ."]


def test_an_occupied_hole_with_more_of_the_opponent_s_ends_the_move() -> None:
    position = board(". . . . . .", ". . . . . .", ". . 5b . . .", "2w . 2b . . .")
    assert ranks(position.play("a1"))[2:] == [". . 5b . . .", ". 1w 1w2b . . ."]


def test_a_neutral_hole_is_sown_on_like_any_other() -> None:
    # the last stone of e1 falls into f2, which is sown on into f3 and e3
    position = board(". . . . . .", ". . . . . .", ". . . . . 1b", ". . . . 2w .")
    assert ranks(position.play("e1")) == [". . . . . .", ". . . . 1w 1b", ". . . . . .", ". . . . . 1w"]


def test_an_empty_neutral_hole_ends_the_move() -> None:
    position = board(". . . . . .", ". . . . . .", ". . . . 4b .", ". . . . 2w .")
    assert ranks(position.play("e1")) == [". . . . . .", ". . . . . .", ". . . . 4b 1w", ". . . . . 1w"]


def test_the_starting_hole_is_not_skipped_and_counts_as_empty_when_refilled() -> None:
    # fourteen stones end in the hole they came from, b1: empty then, so it captures b2
    position = board(". . . . . .", ". . . . . .", ". 1w3b . . . .", ". 14w . . . .")
    after = position.play("b1")
    assert ranks(after) == [". . . . . .", *["1w 1w 1w 1w 1w 1w", "1w . . . . 1w", "1w 3w 1w 1w 1w 1w"]]


def test_a_sowing_longer_than_the_path_goes_round() -> None:
    position = board(". . . . . .", ". . . . . .", ". . . . . .", "16w . 4b . . .")
    assert ranks(position.play("a1")) == [
        ". . . . . .",
        "1w 1w 1w 1w 1w 1w",
        "1w . . . . 1w",
        "1w 2w 2w4b 1w 1w 1w",
    ]


# Captures


def test_a_capture_takes_own_stones_and_exchanges_three_of_the_opponent_s_for_one() -> None:
    position = board(". . . . . .", ". . . . . .", ". . 2w7b . . .", "2w . . . . .", kept="1 0")
    after = position.play("a1")
    # eight black stones before White: two exchanges, two remain
    assert ranks(after) == [". . . . . .", ". . . . . .", ". . . . . .", ". 1w 5w . . ."]
    assert kept(after) == "2 0"


def test_a_hole_of_the_mover_s_own_stones_can_be_captured() -> None:
    after = board(". . . . . .", ". . . . . .", ". . 2w . . .", "2w . . . . .").play("a1")
    assert ranks(after)[2:] == [". . . . . .", ". 1w 3w . . ."]
    assert kept(after) == "0 0"


def test_nothing_opposite_is_no_capture() -> None:
    after = board(". . . . . .", ". . . . . .", ". . . . . .", "2w . . . . .", kept="2 0").play("a1")
    assert ranks(after)[3] == ". 1w 1w . . ."
    assert kept(after) == "2 0"


@pytest.mark.parametrize(("start", "end"), [("b1", "d1"), ("c1", "e1")])
def test_white_s_back_row_captures_black_s_front_row(start: str, end: str) -> None:
    rank1 = " ".join("2w" if file == start[0] else "." for file in "abcdef")
    rank2 = " ".join("2b" if file == end[0] else "." for file in "abcdef")
    after = board(". . . . . .", ". . . . . .", rank2, rank1).play(start)
    assert (after.board()[f"{end[0]}2"], kept(after)) == ("0", "2 0")


@pytest.mark.parametrize(("start", "end"), [("e3", "c3"), ("d3", "b3")])
def test_white_s_front_row_captures_black_s_back_row(start: str, end: str) -> None:
    rank3 = " ".join("2w" if file == start[0] else "." for file in "abcdef")
    rank4 = " ".join("2b" if file == end[0] else "." for file in "abcdef")
    after = board(rank4, rank3, ". . . . . .", ". . . . . .").play(start)
    assert (after.board()[f"{end[0]}4"], kept(after)) == ("0", "2 0")


def test_black_captures_likewise_and_keeps_white_stones() -> None:
    after = board("5w . . . 2b .", ". . 4w . . .", ". . . . . .", ". . . . . .", side="b").play("e4")
    assert ranks(after)[:2] == ["5w . 2b 1b . .", ". . . . . ."]
    assert kept(after) == "0 1"


@pytest.mark.parametrize(
    ("position", "token", "corner"),
    [
        (board(". . . . . .", ". . . . . .", ". . . . . 5b", ". . . 2w . ."), "d1", "f1"),
        (board(". . . . . .", ". 3w . . . .", ". 5b . . . .", ". . . . . ."), "b3", "a1"),
        (board(". . 2b . . .", "5w . . . . .", ". . . . . .", ". . . . . .", side="b"), "c4", "a4"),
        (board(". . . . . .", ". . . . 5w .", ". . . . 3b .", ". . . . . .", side="b"), "e2", "f4"),
    ],
)
def test_a_corner_hole_never_captures(position: DuovallisPosition, token: str, corner: str) -> None:
    after = position.play(token)
    assert after.board()[corner] == ("1w" if corner[1] == "1" else "1b")
    assert after.stones == position.stones
    assert kept(after) == "0 0"


# Which holes can be chosen


def test_a_move_starts_from_two_stones_or_more_half_of_them_own() -> None:
    position = board(". . . . . .", ". . . . . .", ". . . . . .", "1w 1w1b 2b 2w3b 3w . ")
    assert moves(position) == ["b1", "e1"]
    for token in ("a1", "c1", "d1", "f1"):
        with pytest.raises(
            IllegalMove, match="two stones or more, at least half of them of the mover's colour"
        ):
            position.play(token)


def test_a_front_row_hole_may_be_chosen_only_if_no_back_row_hole_can_be() -> None:
    both = board(". . . . . .", ". 4w . . . .", ". . . . . .", "2w . . . . .")
    assert moves(both) == ["a1"]
    with pytest.raises(IllegalMove, match="only if no back-row hole can be"):
        both.play("b3")
    front = board(". . . . . .", ". 4w . . . .", ". . . . . .", "1w . . . . .")
    assert moves(front) == ["b3"]


@pytest.mark.parametrize("token", ["a2", "a3", "f2", "f3"])
def test_neutral_holes_never_start_a_move(token: str) -> None:
    position = board(". . . . . .", "4w . . . . 4w", "4w . . . . 4w", ". . . . . .")
    assert not position.is_legal(token)
    assert moves(position) == []


@pytest.mark.parametrize("token", ["a4", "b2", "A1", "a1 ", " a1", "a", "", "a5", "g1", "a1+", "pass", "1a"])
def test_what_is_no_hole_of_the_side_to_move_is_illegal(token: str) -> None:
    position = DuovallisPosition.initial()
    assert not position.is_legal(token)
    with pytest.raises(IllegalMove, match="no hole of the side to move") as refusal:
        position.play(token)
    assert (refusal.value.token, refusal.value.position) == (token, position)
    assert START in str(refusal.value)


# Endless sowings


def test_a_sowing_of_more_than_ten_thousand_laps_is_not_legal() -> None:
    position = DuovallisPosition.parse(ONE_ENDLESS)
    assert moves(position) == ["f1"]
    assert not position.is_legal("b1")
    with pytest.raises(IllegalMove, match="more than 10000 laps"):
        position.play("b1")


def test_a_player_with_only_endless_sowings_has_lost() -> None:
    position = DuovallisPosition.parse(ONLY_ENDLESS)
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.NO_MOVE)
    assert moves(position) == []


def test_an_endless_back_row_hole_does_not_bar_the_front_row() -> None:
    position = DuovallisPosition.parse(BACK_ROW_ENDLESS)
    assert moves(position) == ["b3"]
    assert position.is_legal("b3")
    assert position.play("b3").ply == 1


def test_a_long_sowing_that_ends_in_time_is_legal() -> None:
    position = DuovallisPosition.parse(LONG_BUT_ENDING)
    assert position.is_legal("d1")
    assert position.play("d1").side is Side.BLACK


def test_a_sowing_that_ends_too_late_is_not_legal() -> None:
    position = DuovallisPosition.parse(TOO_LONG)
    assert not position.is_legal("c1")
    assert "c1" not in moves(position)


@pytest.mark.parametrize(("text", "token", "laps"), [(LONG_BUT_ENDING, "d1", 9097), (TOO_LONG, "c1", 10382)])
def test_the_last_lap_allowed_is_the_limit_itself(text: str, token: str, laps: int) -> None:
    def ends_within(limit: int) -> bool:
        own, opponent = DuovallisPosition.parse(text)._mutable_stones()
        last = duovallis._sow(own, opponent, NAMES.index(token), FOLLOWING[Side.WHITE], limit)
        return last != duovallis.ENDLESS

    assert ends_within(laps)
    assert not ends_within(laps - 1)


# The end


def test_a_player_without_a_move_loses_even_if_the_opponent_could_not_move_either() -> None:
    stuck = [". . . . . .", ". . . . . .", ". . . . . .", "1w 1w . . . 3b"]
    assert board(*stuck).outcome() == Outcome(Result.BLACK_WINS, Reason.NO_MOVE)
    assert board(*stuck, side="b").outcome() == Outcome(Result.WHITE_WINS, Reason.NO_MOVE)


def test_a_player_with_a_move_plays_on() -> None:
    assert DuovallisPosition.initial().outcome() is UNDECIDED
    assert moves(DuovallisPosition.initial()) == ["a1", "b1", "c1", "d1", "e1", "f1"]


def test_a_match_rule_makes_a_draw() -> None:
    for reason in (Reason.REPETITION, Reason.PLY_LIMIT):
        assert DuovallisPosition.initial().outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)


# Positions


def test_every_field_but_the_ply_counts_for_repetition() -> None:
    texts = [
        "4b,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0/4w,0,0,0,0,0 w 1 0 0",
        "4b,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0/4w,0,0,0,0,0 b 1 0 1",
        "4b,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0/4w,0,0,0,0,0 w 0 1 0",
        "4w,0,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0/4b,0,0,0,0,0 w 1 0 0",
    ]
    assert len({DuovallisPosition.parse(text).key() for text in texts}) == len(texts)
    later = DuovallisPosition.parse(texts[0][:-1] + "4")
    assert later.key() == DuovallisPosition.parse(texts[0]).key()
    assert later != DuovallisPosition.parse(texts[0])


def test_the_board_names_every_hole() -> None:
    cells = DuovallisPosition.parse(ONE_ENDLESS).board()
    assert len(cells) == 24
    assert [cells[name] for name in ("a4", "a3", "e3", "f2", "b1", "f1", "f4")] == [
        *("2b", "1w", "1b", "1w", "2w", "1w1b", "0"),
    ]


BLANK = "0,0,0,0,0,0"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad position ''"),
        (START.replace(" 0 0 0", " 0 0"), "bad position"),
        (f"{BLANK}/{BLANK}/{BLANK} w 0 0 0", "bad rank4/rank3/rank2/rank1"),
        (f"{BLANK}/{BLANK}/{BLANK}/{BLANK}/ w 0 0 0", "5 ranks instead of 4"),
        (f"{BLANK}/{BLANK},0/{BLANK}/{BLANK} w 0 0 0", "bad rank3 '0,0,0,0,0,0,0': 7 holes instead of 6"),
        (START.replace("/4w,4w", "/4w,w"), "bad rank1 hole b1 'w'"),
        (START.replace("0,4w", "00,4w"), "bad rank3 hole a3 '00'"),
        (START.replace("0,4w", ",4w"), "bad rank3 hole a3 ''"),
        (START.replace("0,4w", "0w,4w"), "bad rank3 hole a3 '0w'"),
        (START.replace("0,4w", "01w,4w"), "bad rank3 hole a3 '01w'"),
        (START.replace("0,4w", "1b1w,4w"), "bad rank3 hole a3 '1b1w'"),
        (START.replace("0,4w", "1w0b,4w"), "bad rank3 hole a3 '1w0b'"),
        (START.replace("0,4w", "1W,4w"), "bad rank3 hole a3 '1W'"),
        (START.replace("0,4w", "1,4w"), "bad rank3 hole a3 '1'"),
        (START.replace("0,4w", "-1w,4w"), "bad rank3 hole a3 '-1w'"),
        (START.replace("0,4w", "1w2w,4w"), "bad rank3 hole a3 '1w2w'"),
        (START.replace("0,4w", "\u0661w,4w"), "bad rank3 hole a3 '\u0661w'"),
        (START.replace("0,4w", "1000000000w,4w"), "with numbers up to 999999999"),
        (START.replace("0,4w", "999999999w,4w"), "over 160"),
        (START.replace("0,4w", "1w,4w"), "white + 3·black is 161 with the kept stones, over 160"),
        (f"54w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0", "3·white + black is 162 with the kept stones"),
        (START.replace("0,4w", "1b,4w"), "white + 3·black is 163 with the kept stones, over 160"),
        (START.replace("w 0 0 0", "w 1 0 0"), "white + 3·black is 163 with the kept stones, over 160"),
        (START.replace("w 0 0 0", "w 0 1 0"), "white + 3·black is 161 with the kept stones, over 160"),
        (START.replace("w 0 0 0", "w 3 0 0"), "bad whiteKept '3'"),
        (START.replace("w 0 0 0", "w 0 3 0"), "bad blackKept '3'"),
        (START.replace("w 0 0 0", "w 00 0 0"), "bad whiteKept '00'"),
        (START.replace("w 0 0 0", "w 0 - 0"), "bad blackKept '-'"),
        (START.replace("w 0 0 0", "b 0 0 0"), "bad side 'b'"),
        (START.replace("w 0 0 0", "x 0 0 0"), "bad side 'x'"),
        (START.replace("w 0 0 0", "w 0 0 00"), "bad ply '00'"),
        (START.replace("w 0 0 0", "w 0 0 1000000000"), "bad ply '1000000000'"),
    ],
)
def test_a_position_string_that_is_not_canonical_or_impossible_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(PositionError) as refusal:
        DuovallisPosition.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        f"{BLANK}/{BLANK}/{BLANK}/{BLANK} b 2 2 999999999",
        f"53w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0",
        f"{BLANK}/{BLANK}/{BLANK}/39w40b,0,0,0,0,0 w 0 1 0",
    ],
)
def test_an_unreachable_position_is_read_and_written_back(text: str) -> None:
    position = DuovallisPosition.parse(text)
    assert str(position) == text
    assert position.outcome().decided == (not moves(position))


# Properties


@st.composite
def positions(draw: st.DrawFn) -> DuovallisPosition:
    """Any valid position, reachable or not: stones dropped into random holes."""
    white_kept, black_kept = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    white = draw(st.lists(st.integers(0, 23), max_size=51))
    room = min(MAX_WEIGHT - 3 * (len(white) + black_kept), (MAX_WEIGHT - len(white) - black_kept) // 3)
    black = draw(st.lists(st.integers(0, 23), max_size=max(0, room - white_kept)))
    if room < white_kept:
        white_kept = black_kept = 0
    texts = [
        "".join(f"{of.count(hole)}{c}" for of, c in ((white, "w"), (black, "b")) if hole in of) or "0"
        for hole in range(24)
    ]
    rows = "/".join(",".join(texts[first : first + 6]) for first in range(0, 24, 6))
    ply = draw(st.integers(0, 500))
    return DuovallisPosition.parse(f"{rows} {'wb'[ply % 2]} {white_kept} {black_kept} {ply}")


def weights(position: DuovallisPosition) -> tuple[int, int]:
    """White + 3·black and 3·white + black, kept stones counted."""
    white_kept, black_kept = map(int, kept(position).split())
    white, black = position.stones[0] + black_kept, position.stones[1] + white_kept
    return white + 3 * black, 3 * white + black


@given(positions())
def test_a_capture_by_one_side_keeps_his_weight_and_lowers_the_other(position: DuovallisPosition) -> None:
    heavy_black, heavy_white = weights(position)
    for token in position.legal_moves():
        after_black, after_white = weights(position.play(token))
        if position.side is Side.WHITE:
            assert after_white == heavy_white
            assert after_black <= heavy_black
        else:
            assert after_black == heavy_black
            assert after_white <= heavy_white


@given(positions())
def test_a_written_position_is_read_back(position: DuovallisPosition) -> None:
    assert DuovallisPosition.parse(str(position)) == position


@given(positions())
def test_the_game_is_over_exactly_when_there_is_no_move(position: DuovallisPosition) -> None:
    assert position.outcome().decided == (not moves(position))


@given(positions())
def test_a_hole_is_legal_exactly_when_it_is_listed(position: DuovallisPosition) -> None:
    listed = set(position.legal_moves())
    assert {name for name in NAMES if position.is_legal(name)} == listed
    for name in set(NAMES) - listed:
        with pytest.raises(IllegalMove):
            position.play(name)


@given(positions())
def test_turning_the_board_round_and_changing_colours_changes_nothing(position: DuovallisPosition) -> None:
    turned = turn_round(position)
    assert {turn_name(name) for name in moves(position)} == set(moves(turned))
    for name in moves(position):
        assert turn_round(position.play(name)) == turned.play(turn_name(name))


def turn_name(name: str) -> str:
    return chr(ord("a") + ord("f") - ord(name[0])) + str(5 - int(name[1]))


def turn_round(position: DuovallisPosition) -> DuovallisPosition:
    """The same position seen by the other player, with the colours changed; one ply later."""
    rows, side, white_kept, black_kept, ply = str(position).split(" ")
    texts = [hole for row in rows.split("/") for hole in row.split(",")][::-1]
    swapped = [re.sub(r"^(\d+w)?(\d+b)?$", swap_colours, text) if text != "0" else text for text in texts]
    rows = "/".join(",".join(swapped[first : first + 6]) for first in range(0, 24, 6))
    other = "b" if side == "w" else "w"
    return DuovallisPosition.parse(f"{rows} {other} {black_kept} {white_kept} {int(ply) + 1}")


def swap_colours(hole: re.Match[str]) -> str:
    white, black = hole[1] or "", hole[2] or ""
    return black.replace("b", "w") + white.replace("w", "b")


def test_the_shortcut_for_endless_sowings_gives_the_verdict_of_counting_laps() -> None:
    rng = random.Random(11)
    path = [NAMES.index(name) for name in PATHS[Side.WHITE]]
    verdicts = set()
    for _ in range(3000):
        own, opponent = [0] * 24, [0] * 24
        for stones, number in ((own, rng.randint(3, 15)), (opponent, rng.randint(0, 4))):
            for _ in range(number):
                stones[rng.choice(path)] += 1
        start = max(path, key=lambda hole: (own[hole] >= opponent[hole], own[hole] + opponent[hole]))
        laps = count_laps(list(own), list(opponent), start)
        end = duovallis._sow(own, opponent, start, FOLLOWING[Side.WHITE])
        assert (end == duovallis.ENDLESS) == (laps > MAX_LAPS)
        verdicts.add(laps > MAX_LAPS)
    assert verdicts == {True, False}


def count_laps(own: list[int], opponent: list[int], hole: int) -> int:
    """The laps of a sowing by White, lap after lap and stone after stone; no more than one over the limit."""
    path = [NAMES.index(name) for name in PATHS[Side.WHITE]]
    for lap in range(1, MAX_LAPS + 1):
        stones = [opponent] * opponent[hole] + [own] * own[hole]
        own[hole] = opponent[hole] = 0
        occupied = False
        for colour in stones:
            hole = path[(path.index(hole) + 1) % 14]
            occupied = own[hole] + opponent[hole] > 0
            colour[hole] += 1
        if not occupied or own[hole] < opponent[hole]:
            return lap
    return MAX_LAPS + 1


def test_a_hole_longer_than_any_is_refused_and_not_remembered() -> None:
    before = duovallis._parse_hole.cache_info().currsize
    with pytest.raises(PositionError, match="bad rank4 hole a4 '4444"):
        DuovallisPosition.parse(duovallis.START.replace("4b", "4" * 100_000, 1))
    assert duovallis._parse_hole.cache_info().currsize == before
