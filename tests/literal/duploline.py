"""DuploLine, literally."""

from __future__ import annotations

from typing import Self

from tests.literal.base import LiteralGame, LiteralOutcome, other, refuse_if, split, turn, win_for
from tests.literal.hexagon import cells, format_rows, lines, neighbours, parse_rows

SIZE = 4
PIECES = 18
CELLS = cells(SIZE)
ROWS_OF_FOUR = lines(SIZE, 4)
LETTER = {("disc", "w"): "D", ("disc", "b"): "d", ("ring", "w"): "R", ("ring", "b"): "r"}
COLOUR = {letter: key for key, letter in LETTER.items()}
WORD = {"disc": "D", "ring": "R"}


class Board:
    """A board: ``discs`` and ``rings`` map a cell to the colour of its piece."""

    def __init__(self, discs: dict[str, str], rings: dict[str, str]) -> None:
        self.at = {"disc": discs, "ring": rings}

    def copy(self) -> Board:
        return Board(dict(self.at["disc"]), dict(self.at["ring"]))

    def occupied(self, cell: str) -> bool:
        return cell in self.at["disc"] or cell in self.at["ring"]

    def empty(self) -> bool:
        return not self.at["disc"] and not self.at["ring"]

    def holds_piece_of(self, cell: str, side: str) -> bool:
        return self.at["disc"].get(cell) == side or self.at["ring"].get(cell) == side

    def supply(self, kind: str, side: str) -> int:
        """18 less the pieces on the board."""
        return PIECES - sum(1 for colour in self.at[kind].values() if colour == side)

    def connected(self) -> bool:
        """The occupied cells form one connected group."""
        todo = {cell for cell in CELLS if self.occupied(cell)}
        frontier = [todo.pop()]
        while frontier:
            for near in neighbours(SIZE, frontier.pop()):
                if near in todo:
                    todo.remove(near)
                    frontier.append(near)
        return not todo

    def line(self, kind: str, side: str) -> bool:
        """A line of four or more of his colour; what shares the cells does not matter."""
        return any(all(self.at[kind].get(cell) == side for cell in row) for row in ROWS_OF_FOUR)

    def win(self, side: str) -> str:
        if self.line("disc", side):
            return "four-discs"
        return "four-rings" if self.line("ring", side) else ""

    def after(self, action: str, side: str) -> Board:
        board = self.copy()
        at = board.at["disc" if action[0] == "D" else "ring"]
        *origin, target = action[1:].split("-")
        for cell in origin:
            del at[cell]
        at[target] = side
        return board

    def actions(self, kind: str, side: str) -> list[str]:
        """The legal forms of an action, or what replaces it; empty when there is neither."""
        partner = "ring" if kind == "disc" else "disc"
        found = []
        # add one from his supply to an empty cell adjacent to at least one cell with an opponent's piece
        if self.supply(kind, side) > 0:
            for cell in CELLS:
                around = neighbours(SIZE, cell)
                if not self.occupied(cell) and any(self.holds_piece_of(n, other(side)) for n in around):
                    found.append(WORD[kind] + cell)
        # move one of his unlocked pieces to an adjacent cell that holds the other kind (of any colour) and
        # none of this kind; after a move the occupied cells must form one connected group
        for cell, colour in self.at[kind].items():
            if colour != side or cell in self.at[partner]:
                continue
            for near in neighbours(SIZE, cell):
                if near in self.at[partner] and near not in self.at[kind]:
                    action = f"{WORD[kind]}{cell}-{near}"
                    if self.after(action, side).connected():
                        found.append(action)
        if found:
            return found
        # If, when an action is due, it has no legal form, it is replaced: an add to any cell holding only the
        # other kind
        if self.supply(kind, side) == 0:
            return []
        return [WORD[kind] + cell for cell in self.at[partner] if cell not in self.at[kind]]


class LiteralDuploline(LiteralGame):
    def __init__(self, board: Board, side: str, ply: int) -> None:
        self.board = board
        self.side = side
        self.ply = ply

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side, ply = split(text, " ", 3)
        board = Board({}, {})
        # a cell is a disc, a ring, or disc then ring when both
        spellings = ("D", "d", "R", "r", "DR", "Dr", "dR", "dr")
        for cell, contents in parse_rows(SIZE, rows, spellings).items():
            for letter in contents:
                kind, colour = COLOUR[letter]
                board.at[kind][cell] = colour
        mover, plies = turn(side, ply, "w")
        # more than 18 pieces of a kind, pieces in more than one group, an empty board other than the start
        refuse_if(any(board.supply(kind, colour) < 0 for kind, colour in LETTER), "supply")
        refuse_if(not board.empty() and not board.connected(), "groups")
        refuse_if(board.empty() and plies > 0, "empty")
        return cls(board, mover, plies)

    def text(self) -> str:
        contents = {}
        for cell in CELLS:
            pieces = [(kind, self.board.at[kind].get(cell)) for kind in ("disc", "ring")]
            contents[cell] = "".join(LETTER[kind, colour] for kind, colour in pieces if colour is not None)
        return f"{format_rows(SIZE, contents)} {self.side} {self.ply}"

    def outcome(self) -> LiteralOutcome | None:
        for side in (other(self.side), self.side):
            reason = self.board.win(side)
            if reason:
                return win_for(side), reason, None, None
        # If a turn ends without a win and every cell holds at least one piece, the game is drawn
        if all(self.board.occupied(cell) for cell in CELLS):
            return "1/2-1/2", "board-full", None, None
        # If at the start of a turn neither kind has either, the game is drawn
        if not self.board.empty() and not any(
            self.board.actions(kind, self.side) for kind in ("disc", "ring")
        ):
            return "1/2-1/2", "no-action", None, None
        return None

    def legal(self) -> list[str]:
        if self.outcome() is not None:
            return []
        # White starts by placing one of his pieces on any cell: a turn of a single action.
        if self.board.empty():
            return [word + cell for word in "DR" for cell in CELLS]
        turns = []
        for kind, second_kind in (("disc", "ring"), ("ring", "disc")):
            for first in self.board.actions(kind, self.side):
                after = self.board.after(first, self.side)
                # a player wins at once, even after the first action of his turn
                if after.win(self.side):
                    turns.append(first)
                    continue
                second = after.actions(second_kind, self.side)
                # If the second action then has neither, the turn ends after one action
                turns += [f"{first}:{action}" for action in second] or [first]
        return turns

    def play(self, token: str) -> Self:
        board = self.board
        for action in token.split(":"):
            board = board.after(action, self.side)
        return type(self)(board, other(self.side), self.next_ply())
