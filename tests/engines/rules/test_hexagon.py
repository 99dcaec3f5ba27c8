"""The geometry of the hexagonal boards, and the rows of their position strings."""

from __future__ import annotations

import random

import pytest

from engines.rules.base import PositionError
from engines.rules.hexagon import Hexagon, cell_at, cells_of, count_cells, lowest_cell

PACKED = Hexagon(5)
PITCHED = Hexagon(4, 8)
BOTH = pytest.mark.parametrize("board", [PACKED, PITCHED], ids=["side 5, packed", "side 4, pitch 8"])


def names(board: Hexagon, cells: int) -> str:
    return " ".join(sorted(board.names[cell] for cell in cells_of(cells)))


def test_rows_are_lettered_from_the_bottom_and_those_of_side_5_are_a1_to_a5_up_to_i5_to_i9() -> None:
    assert [(board_row(PACKED, 0)), board_row(PACKED, 4), board_row(PACKED, 8)] == [
        "a1 a2 a3 a4 a5",
        "e1 e2 e3 e4 e5 e6 e7 e8 e9",
        "i5 i6 i7 i8 i9",
    ]
    assert [len(row) for row in PACKED.rows] == [5, 6, 7, 8, 9, 8, 7, 6, 5]
    assert [PACKED.names[row[0]] for row in PACKED.rows] == "a1 b1 c1 d1 e1 f2 g3 h4 i5".split()


def test_rows_of_side_4_are_a1_to_a4_up_to_g4_to_g7() -> None:
    assert [len(row) for row in PITCHED.rows] == [4, 5, 6, 7, 6, 5, 4]
    assert [PITCHED.names[row[0]] for row in PITCHED.rows] == "a1 b1 c1 d1 e2 f3 g4".split()
    assert [PITCHED.names[row[-1]] for row in PITCHED.rows] == "a4 b5 c6 d7 e7 f7 g7".split()


def board_row(board: Hexagon, row: int) -> str:
    return " ".join(board.names[cell] for cell in board.rows[row])


def test_the_centres_are_e5_and_d4() -> None:
    assert PACKED.names[PACKED.centre] == "e5"
    assert PITCHED.names[PITCHED.centre] == "d4"


def test_packed_cells_are_numbered_without_gaps_and_pitched_ones_leave_a_column() -> None:
    assert PACKED.cells == tuple(range(61))
    assert PACKED.full == 2**61 - 1
    assert len(PITCHED.cells) == 37
    assert all(cell % 8 != 7 for cell in PITCHED.cells)
    assert PITCHED.full.bit_length() < 63


@BOTH
def test_names_and_numbers_are_inverse(board: Hexagon) -> None:
    assert all(board.names[cell] == name for name, cell in board.numbers.items())
    assert sorted(board.numbers.values()) == list(cells_of(board.full))
    assert [name for name in board.names if name] == list(board.numbers)


@pytest.mark.parametrize(
    ("board", "cell", "around"),
    [
        (PACKED, "e5", "d4 d5 e4 e6 f5 f6"),
        (PACKED, "a1", "a2 b1 b2"),
        (PACKED, "e1", "d1 e2 f2"),
        (PACKED, "i9", "h8 h9 i8"),
        (PACKED, "f9", "e8 e9 f8 g9"),
        (PITCHED, "d4", "c3 c4 d3 d5 e4 e5"),
        (PITCHED, "d7", "c6 d6 e7"),
        (PITCHED, "g4", "f3 f4 g5"),
        (PITCHED, "c1", "b1 c2 d1 d2"),
    ],
)
def test_a_cell_s_neighbours_are_two_beside_it_two_above_and_two_below(
    board: Hexagon, cell: str, around: str
) -> None:
    assert names(board, board.around[board.numbers[cell]]) == around


@BOTH
def test_neighbourhood_is_mutual(board: Hexagon) -> None:
    for cell in board.cells:
        assert all(board.around[near] >> cell & 1 for near in cells_of(board.around[cell]))


@BOTH
def test_a_cell_alone_is_the_first_of_its_set(board: Hexagon) -> None:
    assert [lowest_cell(1 << cell) for cell in board.cells] == list(board.cells)


@BOTH
def test_the_cells_of_a_set_are_counted_and_found_by_their_index(board: Hexagon) -> None:
    rng = random.Random(board.side)
    for size in range(len(board.cells) + 1):
        chosen = sorted(rng.sample(board.cells, size))
        bits = sum(1 << cell for cell in chosen)
        assert list(cells_of(bits)) == chosen
        assert count_cells(bits) == size
        assert [cell_at(bits, index) for index in range(size)] == chosen


def test_a_step_of_two_goes_straight_on_in_each_direction() -> None:
    jumps = [PACKED.names[cell] for cell in PACKED.at_distance(PACKED.numbers["e5"], 2)]
    assert jumps == ["e7", "g7", "g5", "e3", "c3", "c5"]
    assert [PACKED.names[cell] for cell in PACKED.at_distance(PACKED.numbers["a1"], 2)] == ["a3", "c3", "c1"]


def test_with_a_pitch_every_step_is_the_same_shift() -> None:
    for cell in PITCHED.cells:
        steps = {near - cell for near in cells_of(PITCHED.around[cell])}
        assert steps <= {1, -1, 8, -8, 9, -9}


@pytest.mark.parametrize(("board", "length", "count"), [(PACKED, 3, 129), (PACKED, 9, 3), (PITCHED, 4, 48)])
def test_lines_are_all_there_once(board: Hexagon, length: int, count: int) -> None:
    lines = board.lines(length)
    assert len(lines) == len(set(lines)) == count
    assert all(line.bit_count() == length for line in lines)


def test_the_three_lines_through_a_cell_follow_the_pairs_of_opposite_neighbours() -> None:
    assert {names(PACKED, line) for line in PACKED.lines(9)} == {
        "e1 e2 e3 e4 e5 e6 e7 e8 e9",
        "a1 b2 c3 d4 e5 f6 g7 h8 i9",
        "a5 b5 c5 d5 e5 f5 g5 h5 i5",
    }


ROWS = "2,x,1/5/1,y,4/7/y,x,4/x,y,x,y,x/4"


def test_rows_are_read_from_the_top_down_and_written_the_same() -> None:
    held = PITCHED.parse_rows(ROWS, {"x", "y"})
    assert {PITCHED.names[cell]: content for cell, content in held.items()} == {
        "g6": "x",
        "e3": "y",
        "c1": "y",
        "c2": "x",
        **dict(zip("b1 b2 b3 b4 b5".split(), "xyxyx", strict=True)),
    }
    assert PITCHED.format_rows(lambda cell: held.get(cell, "")) == ROWS


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("4/5/6/7/6/5", ["bad rows", "6 rows instead of 7"]),
        ("4/5/6/7/6/5/4/4", ["bad rows", "8 rows instead of 7"]),
        ("", ["bad rows ''", "1 row "]),
        ("4/5/6/7/6/5/3", ["'3'", "row a has 3 cells instead of 4"]),
        ("4/5/6/7/6/5/x,4", ["'x,4'", "row a has 5 cells instead of 4"]),
        ("4/5/6/7/6/5/x,x,x,x,x", ["row a has 5 cells instead of 4"]),
        ("4/5/6/7/6/5/5", ["in row a, '5' is no cell"]),
        ("4/5/6/1,6/6/5/4", ["'1,6'", "row d", "two numbers"]),
        ("4/5/6/0,7/6/5/4", ["in row d, '0'"]),
        ("4/5/6/07/6/5/4", ["in row d, '07'"]),
        ("4/5/6/7,/6/5/4", ["in row d, ''"]),
        ("4/5/6/x6/6/5/4", ["in row d, 'x6'"]),
        ("4/5/6/6,z/6/5/4", ["in row d, 'z'"]),
        ("4/5/6/6, x/6/5/4", ["in row d, ' x'"]),
        ("4/5/6/٧/6/5/4", ["in row d, '٧'"]),
        ("4/5/6/9999999999/6/5/4", ["in row d, '9999999999'"]),
        ("4/5/6/-7/6/5/4", ["in row d, '-7'"]),
        ("4//6/7/6/5/4", ["in row f, ''"]),
    ],
)
def test_rows_spelled_any_other_way_are_refused_and_quoted(rows: str, words: list[str]) -> None:
    with pytest.raises(PositionError) as refused:
        PITCHED.parse_rows(rows, {"x", "y"})
    assert all(word in str(refused.value) for word in words), str(refused.value)
    assert "rows" in str(refused.value)
