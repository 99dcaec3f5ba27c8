from __future__ import annotations

import pytest

from engines.rules import MAX_NUMBER, PositionError, Side
from engines.rules.base import quote
from engines.rules.notation import parse_number, parse_turn, split_fields, split_parts


@pytest.mark.parametrize("number", [0, 1, 9, 10, 999, 1000, 40_320, MAX_NUMBER])
def test_a_plain_number_is_read(number: int) -> None:
    assert parse_number(str(number), "ply") == number


NO_NUMBERS = ["", " ", "-1", "+1", "-0", "1.0", "1e3", "1_000", "0x1", " 1", "1 ", "1\n", "one", *"١²¹１"]
REFUSED = {
    "bad ply .*: not a number in plain digits": NO_NUMBERS,
    "leading zero": ["00", "01", "007", "00000000000"],
    f"no number may be over {MAX_NUMBER}": [str(MAX_NUMBER + 1), "9" * 10, "1" * 5000],
}


@pytest.mark.parametrize(
    ("text", "complaint"), [(text, complaint) for complaint, texts in REFUSED.items() for text in texts]
)
def test_anything_but_a_number_in_plain_digits_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(PositionError, match=complaint):
        parse_number(text, "ply")


def test_a_refusal_names_the_field_and_the_text() -> None:
    with pytest.raises(PositionError) as refusal:
        parse_number("x7", "whiteStore")
    assert str(refusal.value) == "bad whiteStore 'x7': not a number in plain digits"


def test_fields_are_split_at_single_spaces() -> None:
    assert split_fields("5/5 w 0", ("rows", "side", "ply")) == ["5/5", "w", "0"]


@pytest.mark.parametrize("text", ["", "5/5 w", "5/5 w 0 0", "5/5  w 0", " 5/5 w 0", "5/5 w 0 ", "5/5\tw\t0"])
def test_another_number_of_fields_is_refused(text: str) -> None:
    with pytest.raises(PositionError, match="instead of 3, separated by single spaces: rows side ply"):
        split_fields(text, ("rows", "side", "ply"))


def test_another_number_of_parts_is_refused() -> None:
    assert split_parts("1/2", "/", 2, "rows", "rows") == ["1", "2"]
    with pytest.raises(PositionError, match="bad board '1/2': 2 rows instead of 3, separated by '/'"):
        split_parts("1/2", "/", 3, "board", "rows")


@pytest.mark.parametrize(
    ("side", "ply", "first"),
    [("w", 0, Side.WHITE), ("b", 1, Side.WHITE), ("b", 0, Side.BLACK), ("w", 11, Side.BLACK)],
)
def test_a_side_that_fits_the_ply_is_read(side: str, ply: int, first: Side) -> None:
    assert parse_turn(side, str(ply), first) == (Side.WHITE if side == "w" else Side.BLACK, ply)


@pytest.mark.parametrize(
    ("side", "ply", "first"),
    [("b", "0", Side.WHITE), ("w", "1", Side.WHITE), ("w", "0", Side.BLACK), ("b", "999999999", Side.BLACK)],
)
def test_a_side_that_does_not_fit_the_ply_is_refused(side: str, ply: str, first: Side) -> None:
    with pytest.raises(PositionError, match=f"bad side '{side}': at ply {ply} the other side is to move"):
        parse_turn(side, ply, first)


@pytest.mark.parametrize("side", ["", "W", "B", "white", "-", "wb"])
def test_another_side_is_refused(side: str) -> None:
    with pytest.raises(PositionError, match=r"bad side .*: neither 'w' nor 'b'"):
        parse_turn(side, "0", Side.WHITE)


def test_a_long_text_is_quoted_in_part() -> None:
    assert quote("short") == "'short'"
    assert quote("x" * 1000) == "'" + "x" * 80 + "'…"
