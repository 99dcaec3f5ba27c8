"""Hexagonal boards, literally: rows lettered from the bottom, numbers along the diagonals."""

from __future__ import annotations

import re
from collections.abc import Collection

from tests.literal.base import refuse_if, split

ROWS = {
    5: {
        "a": (1, 5),
        "b": (1, 6),
        "c": (1, 7),
        "d": (1, 8),
        "e": (1, 9),
        "f": (2, 9),
        "g": (3, 9),
        "h": (4, 9),
        "i": (5, 9),
    },
    4: {"a": (1, 4), "b": (1, 5), "c": (1, 6), "d": (1, 7), "e": (2, 7), "f": (3, 7), "g": (4, 7)},
}
# the six steps as (row, number); opposite ones side by side
DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1)]


def cells(size: int) -> list[str]:
    """All cells, bottom row first."""
    return [f"{row}{n}" for row, (low, high) in ROWS[size].items() for n in range(low, high + 1)]


def step(size: int, cell: str, direction: tuple[int, int], times: int = 1) -> str | None:
    """The cell so many steps away, or None off the board."""
    row = chr(ord(cell[0]) + direction[0] * times)
    n = int(cell[1]) + direction[1] * times
    if row not in ROWS[size]:
        return None
    low, high = ROWS[size][row]
    return f"{row}{n}" if low <= n <= high else None


def neighbours(size: int, cell: str) -> list[str]:
    near = [step(size, cell, direction) for direction in DIRECTIONS]
    return [name for name in near if name is not None]


def lines(size: int, length: int) -> list[list[str]]:
    """Every run of so many consecutive cells on a line, once."""
    found = []
    for cell in cells(size):
        for direction in ((0, 1), (1, 0), (1, 1)):
            line = [step(size, cell, direction, k) for k in range(length)]
            whole = [name for name in line if name is not None]
            if len(whole) == length:
                found.append(whole)
    return found


def parse_rows(size: int, text: str, spellings: Collection[str]) -> dict[str, str]:
    """Rows from the top down; a number stands for that many empty cells, else a cell has its spelling."""
    board = {}
    for row, part in zip(reversed(ROWS[size]), split(text, "/", len(ROWS[size])), strict=True):
        contents: list[str] = []
        for item in part.split(","):
            is_number = re.fullmatch("[1-9]", item) is not None
            refuse_if(not is_number and item not in spellings, "cell")
            contents += [""] * int(item) if is_number else [item]
        low, high = ROWS[size][row]
        refuse_if(len(contents) != high - low + 1, "row")
        board.update({f"{row}{n}": content for n, content in enumerate(contents, low)})
    # One canonical spelling
    refuse_if(format_rows(size, board) != text, "rows")
    return board


def format_rows(size: int, board: dict[str, str]) -> str:
    rows = []
    for row in reversed(ROWS[size]):
        low, high = ROWS[size][row]
        items: list[str] = []
        empty = 0
        for n in range(low, high + 1):
            content = board[f"{row}{n}"]
            if content == "":
                empty += 1
                continue
            if empty:
                items.append(str(empty))
            empty = 0
            items.append(content)
        if empty:
            items.append(str(empty))
        rows.append(",".join(items))
    return "/".join(rows)
