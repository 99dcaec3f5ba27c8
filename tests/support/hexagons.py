"""Parses drawings of hexagonal boards in tests into position strings.

The top row comes first, cells are separated by spaces, ``.`` is an empty one::

       . . . .
      . . . . .
     . . r . . .
    . . D R . . .
     . . . . . .
      . . . . .
       . . . .
"""

from __future__ import annotations

from itertools import groupby

from engines.rules import Position, find_game
from tests.literal.hexagon import cells, format_rows, parse_rows

SPELLINGS = ("w", "b", "ww", "wb", "bw", "bb")
DISCS = 11
"""Discs of a colour in DuAlma."""


def drawn(board: str) -> str:
    """The rows of a drawing as in a position string."""
    return "/".join(_row(line.split()) for line in board.strip().splitlines())


def _row(contents: list[str]) -> str:
    words: list[str] = []
    for content, run in groupby(contents):
        same = list(run)
        words += [str(len(same))] if content == "." else same
    return ",".join(words)


def dualma(board: str, side: str = "w") -> Position:
    """A position of the movement phase; missing discs are added singly in the rows a, b, h and i."""
    held = parse_rows(5, drawn(board), SPELLINGS)
    spelled = "".join(held.values())
    left = [letter for letter in "wb" for _ in range(DISCS - spelled.count(letter))]
    free = [cell for cell in cells(5) if cell[0] in "abhi" and not held[cell]]
    held.update(zip(free, left, strict=False))
    return find_game("dualma").position.parse(f"{format_rows(5, held)} {side} {31 if side == 'w' else 32}")


def duploline(board: str, side: str = "w") -> Position:
    """A position in the middle of a game."""
    ply = 10 if side == "w" else 11
    return find_game("duploline").position.parse(f"{drawn(board)} {side} {ply}")


def changed(before: Position, after: Position) -> dict[str, str]:
    """The cells that a turn changed, with their new contents."""
    old = before.board()
    return {cell: content for cell, content in after.board().items() if content != old[cell]}
