"""Boards of hexagons drawn in tests, turned into the rows of a position string."""

from __future__ import annotations

from itertools import groupby


def drawn(board: str) -> str:
    """The rows of a drawing: top row first, cells apart by spaces, ``.`` for an empty one."""
    return "/".join(_row(line.split()) for line in board.strip().splitlines())


def _row(cells: list[str]) -> str:
    words: list[str] = []
    for content, run in groupby(cells):
        same = list(run)
        words += [str(len(same))] if content == "." else same
    return ",".join(words)
