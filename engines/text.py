"""A board as text, for terminals, messages and tests: ``draw(position)``.

Holes are drawn as a grid, hexagons as staggered rows; contents are spelled as in
the position string, and the cells of the last move are in brackets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engines.rules.base import Position, Side
from engines.svg.trace import paths
from engines.svg.words import NAMES, game_code, game_name, holding, standing

STEP: Final = 4
"""Columns from one cell of a hexagon to the next."""

HEXAGON_SIDES: Final = {"dualma": 5, "duploline": 4}


def draw(position: Position, *, last_move: str = "", flip: bool = False) -> str:
    """The board with its coordinates and each player's captures or supply, White below unless ``flip``.

    Lines end in newlines and have no trailing spaces. ``last_move`` may be any
    text: names that are not cells of the board are ignored.
    """
    board = position.board()
    touched = {name for path in paths(last_move, board) for name in path}
    side = HEXAGON_SIDES.get(game_code(position))
    lines = _hexagon(board, touched, side, flip) if side else _holes(board, touched, flip)
    far, near = (Side.WHITE, Side.BLACK) if flip else (Side.BLACK, Side.WHITE)
    head = f"{game_name(position)}, ply {position.ply}"
    page = [head, "", _player(position, far), "", *lines, "", _player(position, near)]
    return "".join(f"{line.rstrip()}\n" for line in page)


def _player(position: Position, side: Side) -> str:
    parts = (NAMES[side], holding(position, side), standing(position, side))
    return "  " + "   ".join(part for part in parts if part)


def _holes(board: Mapping[str, str], touched: set[str], flip: bool) -> list[str]:
    """A grid; the line between ranks 2 and 3 of Duovallis is double."""
    files = sorted({name[0] for name in board}, reverse=flip)
    ranks = sorted({name[1:] for name in board}, key=int, reverse=not flip)
    width = max(map(len, board.values())) + 2
    lines = [_rule("┌┬┐", "─", width, len(files))]
    for index, rank in enumerate(ranks):
        cells = (_bracketed(board[file + rank], file + rank in touched, width) for file in files)
        lines.append(f"{rank:>3} │" + "│".join(cells) + "│")
        if rank != ranks[-1]:
            between_valleys = index == 1 and len(ranks) == 4
            lines.append(_rule(*(("╞╪╡", "═") if between_valleys else ("├┼┤", "─")), width, len(files)))
    letters = " ".join(file.center(width) for file in files)
    return [*lines, _rule("└┴┘", "─", width, len(files)), f"     {letters}"]


def _rule(joints: str, dash: str, width: int, files: int) -> str:
    return "    " + joints[0] + joints[1].join([dash * width] * files) + joints[2]


def _bracketed(content: str, bracket: bool, width: int) -> str:
    return (f"[{content}]" if bracket else f"{content} ").rjust(width)


def _hexagon(board: Mapping[str, str], touched: set[str], side: int, flip: bool) -> list[str]:
    """Rows shifted by half a cell; letters at their left, numbers at the lower end of each diagonal."""
    rows = 2 * side - 1
    turned = -1 if flip else 1
    canvas = [[" "] * (STEP * (rows + 4)) for _ in range(rows + 1)]

    def put(row: int, n: int, text: str) -> None:
        across = STEP * (n - side) - STEP // 2 * (row - side + 1)
        line = row if flip else rows - 1 - row
        column = STEP * (rows + 3) // 2 + turned * across
        canvas[line][column : column + len(text)] = text

    for name, content in board.items():
        text = content or "."
        put(_row(name), int(name[1:]), f"[{text}]" if name in touched else f" {text}")
    for name in _edge(board, flip):
        row, n = _row(name), int(name[1:])
        put(row + turned * -1, n, f" {n}")
    for row in range(rows):
        numbers = [int(name[1:]) for name in board if _row(name) == row]
        put(row, max(numbers) + 1 if flip else min(numbers) - 1, f" {'abcdefghi'[row]}")
    return ["".join(line) for line in canvas]


def _row(name: str) -> int:
    return ord(name[0]) - ord("a")


def _edge(board: Mapping[str, str], flip: bool) -> list[str]:
    """The lowest cell of each diagonal as drawn."""
    ends: dict[int, str] = {}
    for name in sorted(board, reverse=not flip):
        ends[int(name[1:])] = name
    return list(ends.values())
