"""Greedy: looks one move ahead, wins at once if it can, and else takes what looks best.

For each game there is a *scorer*: given the position it returns a function from
a legal move to a number, the higher the better. Equals are drawn by lot.

- Mancala and DuAlma's movements are few: each is played, and what it leads to is
  counted. Seeds captured (Dogon), stones of one's own colour (Duovallis) and
  stacks topped (DuAlma) are what these games are won with.
- DuAlma's 3,540 placements and DuploLine's thousand turns are not played. A
  cell is given a worth once, and a move is worth its cells: that takes a few
  milliseconds instead of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, cast

from engines.rules.base import Position, Result, Side
from engines.rules.dogon import DogonPosition
from engines.rules.dualma import DualmaPosition
from engines.rules.duovallis import DuovallisPosition
from engines.rules.hexagon import Hexagon, cells_of
from engines.sdk import Turn, run

Score = Callable[[str], float]


def choose(turn: Turn) -> str:
    score = SCORERS[turn.game.code](turn.position)
    scores = {token: score(token) for token in turn.position.legal_moves()}
    best = max(scores.values())
    return turn.random.choice([token for token, worth in scores.items() if worth == best])


def by_playing(position: Position, count: Callable[[Position, Side], float]) -> Score:
    """Scores a move by what the mover has after it; the end of the game counts above all."""
    side = position.side

    def score(token: str) -> float:
        after = position.play(token)
        outcome = after.outcome()
        if not outcome.decided:
            return count(after, side) - count(after, side.other)
        if outcome.result is Result.DRAW:
            return 0.0
        return math.inf if outcome.result is Result.win_for(side) else -math.inf

    return score


def score_dogon(position: Position) -> Score:
    return by_playing(position, lambda after, side: cast(DogonPosition, after).stores[side])


def score_duovallis(position: Position) -> Score:
    return by_playing(position, lambda after, side: cast(DuovallisPosition, after).stones[side])


# DuAlma

ALMA: Final = Hexagon(5)
ROWS_OF_THREE: Final = ALMA.lines(3)


def score_dualma(position: Position) -> Score:
    if cast(DualmaPosition, position).placing:
        return score_placement(position)
    return by_playing(position, count_rows)


def count_rows(position: Position, side: Side) -> float:
    """Stacks topped by ``side``; two in one row of three count as much as three more stacks."""
    board = position.board()
    tops = sum(1 << ALMA.numbers[name] for name, discs in board.items() if discs[1:] == side.letter)
    pairs = sum((row & tops).bit_count() == 2 for row in ROWS_OF_THREE)
    return tops.bit_count() + 3 * pairs


def score_placement(position: Position) -> Score:
    """One's own disc goes beside others of its colour, the opponent's away from his."""
    board = position.board()
    own = position.side.letter
    company = {
        (name, colour): sum(board[ALMA.names[cell]] == colour for cell in cells_of(ALMA.around[number]))
        for name, number in ALMA.numbers.items()
        for colour in "bw"
    }

    def score(token: str) -> float:
        black, white = token.split(":")
        worth = company[black, "b"] - company[white, "w"]
        return worth if own == "b" else -worth

    return score


# DuploLine

LINE: Final = Hexagon(4)
ROWS_OF_FOUR: Final = [[LINE.names[cell] for cell in cells_of(row)] for row in LINE.lines(4)]
BUILDING: Final = (1, 4, 20, 10_000)
"""What it is worth to add to a row that holds so many own pieces of the kind, and none of the opponent's."""
BLOCKING: Final = (0, 2, 12, 1_000)
"""What it is worth to end a row that holds so many of the opponent's, and none of one's own."""


def score_duploline(position: Position) -> Score:
    """A turn is worth its cells; a piece that moves loses the worth of the cell it leaves."""
    board = position.board()
    white = position.side is Side.WHITE
    worth = {
        "D": worth_of_cells(board, *("Dd" if white else "dD")),
        "R": worth_of_cells(board, *("Rr" if white else "rR")),
    }

    def score(token: str) -> float:
        total = 0
        for action in token.split(":"):
            cells = action[1:].split("-")
            total += worth[action[0]][cells[-1]]
            if len(cells) == 2:
                total -= worth[action[0]][cells[0]]
        return total

    return score


def worth_of_cells(board: Mapping[str, str], own: str, other: str) -> dict[str, int]:
    """What a piece ``own`` is worth on each cell: rows of four it builds, rows of ``other`` it ends."""
    worth = dict.fromkeys(board, 0)
    for row in ROWS_OF_FOUR:
        mine = [name for name in row if own in board[name]]
        theirs = sum(other in board[name] for name in row)
        if mine and theirs:
            continue
        for name in row:
            others = len(mine) - (name in mine)
            worth[name] += BLOCKING[theirs] if theirs else BUILDING[others]
    return worth


SCORERS: Final[dict[str, Callable[[Position], Score]]] = {
    "duovallis": score_duovallis,
    "dualma": score_dualma,
    "dogon-kulei": score_dogon,
    "dogon-gagara": score_dogon,
    "duploline": score_duploline,
}


if __name__ == "__main__":
    run(choose, name="Greedy", author="Duarena")
