"""Boards of holes drawn in tests, read into position strings so that no drawing can be wrong unnoticed.

A rank is its number and its holes between bars, the top rank first, ``.`` for an empty hole. In
Dogon a player's store stands behind his rank; what is not drawn is nothing in White's store and
the seeds missing on the board in Black's::

    2 | 4 4 4 4 4 1 | 1
    1 | 4 4 4 4 4 4 | 2
        a b c d e f
"""

from __future__ import annotations

from engines.rules import Position, find_game

_DOGON = {6: ("dogon-kulei", 48), 8: ("dogon-gagara", 96)}
"""By the holes of a rank: the ladder and its seeds."""


def drawn(board: str) -> str:
    """The ranks of a drawing as in a position string."""
    ranks = _lines(board)
    assert [number for number, _, _ in ranks] == [str(n) for n in range(len(ranks), 0, -1)], board
    return "/".join(",".join("0" if hole == "." else hole for hole in holes) for _, holes, _ in ranks)


def _lines(board: str) -> list[tuple[str, list[str], str]]:
    """Of each rank its number, its holes and what stands behind it."""
    ranks = [line.split("|") for line in board.splitlines() if "|" in line]
    return [(number.strip(), holes.split(), behind.strip()) for number, holes, behind in ranks]


def ranks_of(position: Position) -> str:
    """The ranks of a position, to be compared with ``drawn``."""
    return str(position).split(" ")[0]


def seeds(board: str) -> str:
    """The ranks and both stores of a drawing of Dogon, to be compared with ``seeds_of``."""
    (_, black_row, black), (_, white_row, white) = _lines(board)
    _, total = _DOGON[len(white_row)]
    in_white = int(white or 0)
    on_board = sum(int(hole) for hole in (*black_row, *white_row) if hole != ".")
    return f"{drawn(board)} {in_white} {black or total - in_white - on_board}"


def seeds_of(position: Position) -> str:
    ranks, _, white, black, *_ = str(position).split(" ")
    return f"{ranks} {white} {black}"


def dogon(board: str, side: str = "w", *, passed: bool = False, run: str = "-") -> Position:
    """A position of kulei or gagara, whichever has as many holes."""
    ranks, white, black = seeds(board).split(" ")
    code, _ = _DOGON[len(ranks.split("/")[0].split(","))]
    ply = "0" if side == "w" else "1"
    return find_game(code).position.parse(
        f"{ranks} {side} {white} {black} {'p' if passed else '-'} {run} {ply}"
    )


def duovallis(board: str, side: str = "w", *, kept: str = "0 0") -> Position:
    """A position of Duovallis; ``kept`` are the stones before White and before Black."""
    ply = "0" if side == "w" else "1"
    return find_game("duovallis").position.parse(f"{drawn(board)} {side} {kept} {ply}")
