"""DuAlma, literally."""

from __future__ import annotations

from typing import Self

from tests.literal.base import LiteralGame, LiteralOutcome, other, refuse_if, split, turn, win_for
from tests.literal.hexagon import DIRECTIONS, cells, format_rows, lines, neighbours, parse_rows, step

SIZE = 5
CENTRE = "e5"
ROWS_OF_THREE = lines(SIZE, 3)


class LiteralDualma(LiteralGame):
    def __init__(self, board: dict[str, str], side: str, ply: int) -> None:
        self.board = board
        self.side = side
        self.ply = ply

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side, ply = split(text, " ", 3)
        # a cell is `w`, `b` or a stack bottom first then top
        board = parse_rows(SIZE, rows, ("w", "b", "ww", "wb", "bw", "bb"))
        mover, plies = turn(side, ply, "b")
        discs = "".join(board.values())
        # more than 11 discs a colour, unequal numbers of them
        refuse_if(discs.count("w") > 11 or discs.count("b") > 11, "discs")
        refuse_if(discs.count("w") != discs.count("b"), "unequal")
        if len(discs) < 22:
            # in the placement phase a stack, a disc on the centre or a ply that is not the number of discs
            # a colour
            refuse_if(any(len(stack) == 2 for stack in board.values()), "stack")
            refuse_if(board[CENTRE] != "", "centre")
            refuse_if(plies != discs.count("w"), "ply")
        else:
            # in the movement phase a ply under 11
            refuse_if(plies < 11, "ply")
        return cls(board, mover, plies)

    def text(self) -> str:
        return f"{format_rows(SIZE, self.board)} {self.side} {self.ply}"

    def placing(self) -> bool:
        """Fewer than 22 discs on the board is the placement phase."""
        return sum(len(stack) for stack in self.board.values()) < 22

    def placements(self) -> list[str]:
        """One black and one white disc on two different empty cells, neither of them the centre."""
        free = [cell for cell in cells(SIZE) if self.board[cell] == "" and cell != CENTRE]
        return [f"{black}:{white}" for black in free for white in free if black != white]

    def movements(self) -> list[str]:
        tokens = []
        for origin in cells(SIZE):
            stack = self.board[origin]
            # The topmost disc of a stack is active; the disc beneath it is not.
            if stack == "" or stack[-1] != self.side:
                continue
            for direction in DIRECTIONS:
                # over exactly as many cells as its stack is high; what lies between does not matter
                target = step(SIZE, origin, direction, len(stack))
                if target is None or len(self.board[target]) == 2:
                    continue
                tokens.append(f"{origin}-{target}")
                # A disc that leaves a stack of two and lands on a single disc may instead bounce from there.
                if len(stack) == 2 and len(self.board[target]) == 1:
                    tokens += [
                        f"{origin}-{target}-{landing}"
                        for landing in neighbours(SIZE, target)
                        if self.board[landing] == ""
                    ]
        return tokens

    def outcome(self) -> LiteralOutcome | None:
        """Three stacks of height two with his colour on top stand in a row."""
        for side in (other(self.side), self.side):
            for row in ROWS_OF_THREE:
                if all(len(self.board[cell]) == 2 and self.board[cell][1] == side for cell in row):
                    return win_for(side), "three-in-a-row", None, None
        return None

    def legal(self) -> list[str]:
        if self.outcome() is not None:
            return []
        if self.placing():
            return self.placements()
        return self.movements() or ["pass"]

    def play(self, token: str) -> Self:
        board = dict(self.board)
        if ":" in token:
            black, white = token.split(":")
            board[black] = "b"
            board[white] = "w"
        elif token != "pass":
            path = token.split("-")
            board[path[0]] = board[path[0]][:-1]
            board[path[-1]] += self.side
        return type(self)(board, other(self.side), self.next_ply())
