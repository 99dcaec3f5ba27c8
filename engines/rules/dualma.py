# The same rules in the plainest Python, sentence by sentence, are in tests/literal/dualma.py.
"""# DuAlma

A game of stacks by Paschalis Antoniou. Two players, White (`w`) and Black (`b`), eleven discs each.

## The board

A hexagon of 61 cells, five to a side. Rows are lettered from the bottom, numbers run along the
diagonals:

```
        i   5 6 7 8 9
       h   4 5 6 7 8 9
      g   3 4 5 6 7 8 9
     f   2 3 4 5 6 7 8 9
    e   1 2 3 4 5 6 7 8 9
     d   1 2 3 4 5 6 7 8
      c   1 2 3 4 5 6 7
       b   1 2 3 4 5 6
        a   1 2 3 4 5
```

The neighbours of e5, the centre, are e4 and e6 beside it, f5 and f6 above, d4 and d5 below. The three
lines through a cell follow these three pairs of opposite neighbours.

## Placement phase

The board is empty at first and Black starts. A turn places one black and one white disc on two different
empty cells, neither of them the centre. After eleven turns, six by Black and five by White, all discs
are on the board.

## Movement phase

White starts; then turns alternate. The mover moves one active disc of his colour. A disc is active when
it is the topmost of its stack, which is one or two discs high; the disc beneath another is not.

- An active disc moves in one of the six directions, in a straight line, by exactly as many cells as
  its stack is high. The cell between does not matter.
- It ends on an empty cell, or on a single disc of either colour, which makes a stack of two. It never
  leaves the board and never ends on a stack of two. The centre may be used.
- **Bounce**: a disc that leaves a stack of two and lands on a single disc may, instead of staying there,
  bounce to any empty cell adjacent to that single disc.

  **[reading]** The source says "any empty adjacent spot": read as adjacent to the single disc, not to
  the cell the disc came from. The cell it left is never among them (it is two steps away, and not
  empty); the cell it jumped over is, and may be used when it is empty.

A player with no legal move must pass; nobody else may.

**[reading]** The source does not say what a player without a move does; here he passes, which neither
ends the game nor costs anything.

## The end

A player wins at once when three stacks of two with his colour on top stand in a row: consecutive cells
on one line. More than three is also a win. The lower discs do not matter.

A move uncovers at most a single disc and builds at most a stack of its own colour, so it can give a row
to the mover alone. A given start position may still have a row: its owner has won, even if he is not to
move; if both players have a row, the player who moved last has won.

It cannot happen that both players are stuck. *Proof.* Suppose it did. A disc on top of a stack of two
cannot jump, so every cell two steps away from it in a straight line, and on the board, holds a stack of
two; the same is true of that stack, with either colour on top. So stacks fill every cell that can be reached
from the first by such jumps. A jump changes the row by 0 or 2 and the number by 0 or 2; the 61 cells
thus fall into four classes, by the row and the number being even or odd. The class of the centre (a1,
a3, a5, c1, ..., i9) has 19 cells and each of the other three has 14, and within a class every cell is
reached from every other. But 22 discs make at most 11 stacks, too few for any class. So there is no
stack at all, and each of the 22 single discs has a neighbouring cell with no stack of two on it, where
it could go: so one of the players is not stuck.

Match rules, of this server and not of the game: a position that occurs for the third time (board and side
to move; the position before the first move counts) is a draw, and so is a game that reaches the ply limit,
400 unless stated otherwise. A game ends first by its own rules, then by repetition, then by the ply limit.
**[reading]** The source does not have these rules.

## Notation

- Placement `e4:f5`: the black disc on e4, the white disc on f5.
- Movement `e4-e5`: from, to.
- Bounce `e4-e6-f6`: from, the single disc, the landing cell.
- `pass`.

A position string has three fields: rows, side to move, plies played. The rows go from i down to a,
separated by `/`, cells from left to right separated by `,`. A cell is `w`, `b` or a stack, bottom first:
`bw` is White on top of Black. A number stands for that many empty cells in a row. Fewer than 22 discs is
the placement phase. The game starts from `5/6/7/8/9/8/7/6/5 b 0`. In the following position White has no
move and must pass:

`5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21`

Impossible positions are refused: more than eleven discs of a colour or unequal numbers of them; in
the placement phase a stack, a disc on the centre, or a ply that is not the number of discs of a colour;
in the movement phase a ply under 11; a side to move that does not agree with the ply (Black moves at even
plies). Whether a position can be reached in play is not checked.

## Source

The rules published by Paschalis Antoniou, the inventor, in our own words.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Final, Self, final

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side, Word, next_ply
from engines.rules.hexagon import Hexagon, by_remainder, cell_at, cells_of, count_cells, remainder
from engines.rules.native import i64, mypyc_attr
from engines.rules.notation import field_error, parse_turn, split_fields
from engines.rules.symmetry import Symmetry

CREDIT: Final = "Paschalis Antoniou"
DISCS: Final = 11
"""Discs of a colour."""

PASS: Final = "pass"
WORDS: Final = {PASS: Word("Pass", "a pass")}
BOARD: Final = Hexagon(5)

_FIELDS: Final = ("rows", "side", "ply")
_CENTRE: Final[i64] = 1 << BOARD.centre
_FULL: Final[i64] = BOARD.full
_ROWS: Final = BOARD.lines(3)
_CONTENTS: Final = frozenset(["w", "b", "ww", "wb", "bw", "bb"])
_SIDES: Final[tuple[Side, ...]] = (Side.BLACK, Side.WHITE)
"""The side to move at even and at odd plies."""
_WINS: Final = tuple(Outcome(Result.win_for(side), Reason.THREE_IN_A_ROW) for side in _SIDES)
"""The outcome if a move at an even or at an odd ply wins."""


@final
class _Move:
    """A movement: its token and its cells, as sets of one cell."""

    __slots__ = ("height", "landing", "origin", "target", "token")

    def __init__(self, path: tuple[int, ...], height: int) -> None:
        self.token = "-".join(BOARD.names[cell] for cell in path)
        self.origin: i64 = 1 << path[0]
        self.target: i64 = 1 << path[1]
        """The cell moved to; in a bounce that of the single disc."""
        self.landing: i64 = 1 << path[-1]
        """The final cell of the disc: ``target``, except in a bounce."""
        self.height: i64 = height
        """The required height of the stack that the disc leaves."""


@final
class _Jump:
    """The movement of a stack's top to a cell two steps away, and its bounces from there."""

    __slots__ = ("bounces", "move")

    def __init__(self, origin: int, target: int) -> None:
        self.move = _Move((origin, target), 2)
        self.bounces = tuple(_Move((origin, target, to), 2) for to in cells_of(BOARD.around[target]))


@final
class _Cell:
    """Tables for one cell of the board, independent of its contents.

    Sets of cells are attributes, which are machine words when compiled; a tuple would
    store each number as an object.
    """

    __slots__ = ("far", "jumps", "name", "near", "only", "rows", "steps")

    def __init__(self, cell: int) -> None:
        far = BOARD.at_distance(cell, 2)
        self.name = BOARD.names[cell]
        self.only: i64 = 1 << cell
        """The set of only this cell."""
        self.near: i64 = BOARD.around[cell]
        """Where a single disc may step."""
        self.far: i64 = sum(1 << to for to in far)
        """Where the top of a stack may jump."""
        self.steps = tuple(_Move((cell, to), 1) for to in BOARD.at_distance(cell, 1))
        self.jumps = tuple(_Jump(cell, to) for to in far)
        self.rows = tuple(row for row in _ROWS if row >> cell & 1)
        """The rows of three that contain it."""


_CELLS: Final = tuple(_Cell(cell) for cell in BOARD.cells)
_LOWEST: Final = by_remainder(_CELLS, _CELLS[0])
"""The lowest cell of a set, by ``remainder``."""
_PLACES: Final = {here.name: here.only for here in _CELLS}
"""The set of only one cell, by the cell's name."""

_MOVES: Final = {
    move.token: move
    for here in _CELLS
    for move in (*here.steps, *(move for jump in here.jumps for move in (jump.move, *jump.bounces)))
}
"""Every movement that is possible on some board, by its token."""


def _makes_row(stacks: i64, landing: i64) -> bool:
    """Whether these stacks make three in a row with the one on ``landing``, a set of one cell."""
    here = _LOWEST[remainder(landing)]
    if not stacks & here.near:
        return False  # any row through a cell contains a neighbour of it
    return any(row & stacks == row for row in here.rows)


@mypyc_attr(free_list_len=1)
@final
class DualmaPosition(Position):
    """A position as four sets of cells, the ply and the outcome.

    ``_white`` and ``_black`` are the cells whose topmost disc is that side's, ``_stacks``
    the cells with two discs, ``_white_under`` the stacks whose lower disc is White's.
    ``_verdict`` is the outcome, which is known when a position is created: only a move that
    builds a row ends this game.

    Moves are counted cell by cell without generating them, and the move at an index is
    found by these counts: only the moves of one disc are generated.
    """

    __slots__ = ("_black", "_ply", "_stacks", "_verdict", "_white", "_white_under")

    def __init__(
        self, white: i64, black: i64, stacks: i64, white_under: i64, ply: i64, verdict: Outcome
    ) -> None:
        self._white = white
        self._black = black
        self._stacks = stacks
        self._white_under = white_under
        self._ply = ply
        self._verdict = verdict

    @property
    def side(self) -> Side:
        return _SIDES[self._ply & 1]

    @property
    def ply(self) -> int:
        return self._ply

    @property
    def placing(self) -> bool:
        """Whether this is the placement phase."""
        return self._ply < DISCS

    @property
    def tops(self) -> tuple[int, int]:
        """The cells with White's disc on top, and those with Black's, as bitboards of ``BOARD``."""
        return self._white, self._black

    @property
    def stacks(self) -> int:
        """The cells with two discs."""
        return self._stacks

    @property
    def white_under(self) -> int:
        """The stacks whose lower disc is White's."""
        return self._white_under

    @classmethod
    def initial(cls) -> Self:
        return cls(0, 0, 0, 0, 0, UNDECIDED)

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side_text, ply_text = split_fields(text, _FIELDS)
        held = BOARD.parse_rows(rows, _CONTENTS)
        _, ply = parse_turn(side_text, ply_text, Side.BLACK)
        _check_discs(rows, held, ply_text, ply)
        white = _cells_holding(held, ("w", "ww", "bw"))
        black = _cells_holding(held, ("b", "bb", "wb"))
        stacks = _cells_holding(held, ("ww", "wb", "bw", "bb"))
        white_under = _cells_holding(held, ("ww", "wb"))
        return cls(white, black, stacks, white_under, ply, _find_verdict(white, black, stacks, ply))

    def __str__(self) -> str:
        return f"{BOARD.format_rows(self._content)} {self.side.letter} {self._ply}"

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return WORDS

    def board(self) -> Mapping[str, str]:
        return {name: self._content(cell) for name, cell in BOARD.numbers.items()}

    def key(self) -> Hashable:
        return self._white, self._black, self._stacks, self._white_under, self._ply & 1

    @classmethod
    def symmetries(cls) -> tuple[Symmetry, ...]:
        return BOARD.symmetries

    def form(self, number: int) -> Hashable:
        return (
            BOARD.turned(self._white, number),
            BOARD.turned(self._black, number),
            BOARD.turned(self._stacks, number),
            BOARD.turned(self._white_under, number),
            self._ply & 1,
        )

    def outcome(self) -> Outcome:
        return self._verdict

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def legal_moves(self) -> Iterator[str]:
        if self._verdict is not UNDECIDED:
            return iter(())
        if self.placing:
            return self._placements()
        if self._is_stuck():
            return iter((PASS,))
        return self._movements()

    def count_moves(self) -> int:
        if self._verdict is not UNDECIDED:
            return 0
        if self.placing:
            return self._places_left * (self._places_left - 1)
        return max(self._count_movements(), 1)  # the pass

    def move_at(self, index: int) -> str:
        if not 0 <= index < self.count_moves():
            raise IndexError(f"no legal move at index {index}")
        if self.placing:
            return self._placement_at(index)
        move = self._movement_at(index)
        return PASS if move is None else move.token

    def play_at(self, index: int) -> tuple[str, Self]:
        moving = self._verdict is UNDECIDED and index >= 0 and not self.placing
        move = self._movement_at(index) if moving else None
        return super().play_at(index) if move is None else (move.token, self._moved(move))

    def is_legal(self, token: str) -> bool:
        return not self._objection(token)

    def play(self, token: str) -> Self:
        objection = self._objection(token)
        if objection:
            raise IllegalMove(token, self, objection)
        if self.placing:
            black, white = _PLACES[token[:2]], _PLACES[token[3:]]
            return self._after(self._white | white, self._black | black, 0, 0, UNDECIDED)
        if token == PASS:
            return self._after(self._white, self._black, self._stacks, self._white_under, UNDECIDED)
        return self._moved(_MOVES[token])

    def _moved(self, move: _Move) -> Self:
        """The position after a legal movement: the disc is removed from its cell, then added to another."""
        black_under = self._stacks ^ self._white_under
        white = self._white & ~move.origin | self._white_under & move.origin
        black = self._black & ~move.origin | black_under & move.origin
        covered = (white | black) & move.landing
        stacks = self._stacks & ~move.origin | covered
        white_under = self._white_under & ~move.origin | white & move.landing
        white &= ~move.landing
        black &= ~move.landing
        if self._ply & 1:
            own = white = white | move.landing
        else:
            own = black = black | move.landing
        verdict = UNDECIDED
        if covered and _makes_row(own & stacks, covered):
            verdict = _WINS[self._ply & 1]
        return self._after(white, black, stacks, white_under, verdict)

    def _after(self, white: i64, black: i64, stacks: i64, white_under: i64, verdict: Outcome) -> Self:
        return DualmaPosition(white, black, stacks, white_under, next_ply(self._ply), verdict)

    @property
    def _places_left(self) -> int:
        """The number of cells for the next disc of the placement phase, without the centre."""
        return len(_CELLS) - 1 - 2 * self._ply

    @property
    def _free(self) -> i64:
        """The cells left for placements."""
        return _FULL & ~(_CENTRE | self._white | self._black)

    def _placements(self) -> Iterator[str]:
        names = [BOARD.names[cell] for cell in cells_of(self._free)]
        for black in names:
            for white in names:
                if white != black:
                    yield f"{black}:{white}"

    def _placement_at(self, index: int) -> str:
        others = self._places_left - 1
        black = _CELLS[cell_at(self._free, index // others)]
        white = _CELLS[cell_at(self._free ^ black.only, index % others)]
        return f"{black.name}:{white.name}"

    @property
    def _own(self) -> i64:
        """The cells with an active disc of the mover's."""
        return self._white if self._ply & 1 else self._black

    def _is_stuck(self) -> bool:
        """Whether no active disc can move; where a bounce is legal, the jump without it is legal too."""
        left = self._own
        while left:
            here = _LOWEST[remainder(left)]
            reach = here.far if here.only & self._stacks else here.near
            if reach & ~self._stacks:
                return False
            left &= left - 1
        return True

    def _count_movements(self) -> i64:
        """The number of movements; generates none."""
        count: i64 = 0
        left = self._own
        while left:
            count += self._count_from(_LOWEST[remainder(left)])
            left &= left - 1
        return count

    def _count_from(self, here: _Cell) -> i64:
        """The number of movements of the active disc of this cell."""
        landings = (here.far if here.only & self._stacks else here.near) & ~self._stacks
        count = count_cells(landings)
        if here.only & self._stacks:
            occupied = self._white | self._black
            singles = landings & occupied
            while singles:
                count += count_cells(_LOWEST[remainder(singles)].near & ~occupied)
                singles &= singles - 1
        return count

    def _movement_at(self, index: int) -> _Move | None:
        """The movement at this index; None beyond the last."""
        left = self._own
        while left:
            here = _LOWEST[remainder(left)]
            count: int = self._count_from(here)  # an object: the index may not fit into a machine word
            if index < count:
                return self._movements_from(here)[index]
            index -= count
            left &= left - 1
        return None

    def _movements(self) -> Iterator[str]:
        """The tokens of all movements."""
        left = self._own
        while left:
            for move in self._movements_from(_LOWEST[remainder(left)]):
                yield move.token
            left &= left - 1

    def _movements_from(self, here: _Cell) -> list[_Move]:
        """The movements of the active disc of this cell, in the order of ``legal_moves``."""
        stacks = self._stacks
        if not here.only & stacks:
            return [step for step in here.steps if not step.target & stacks]
        occupied = self._white | self._black
        found: list[_Move] = []
        for jump in here.jumps:
            if not jump.move.target & stacks:
                found.append(jump.move)
                if jump.move.target & occupied:
                    found += [bounce for bounce in jump.bounces if not bounce.landing & occupied]
        return found

    def _objection(self, token: str) -> str:
        """Why ``token`` is illegal; empty if it is legal."""
        if self._verdict is not UNDECIDED:
            return "the game is over"
        if self.placing:
            return self._objection_to_placement(token)
        if token == PASS:
            return "" if self._is_stuck() else "there is a legal move"
        move = _MOVES.get(token)
        if move is None:
            return "no movement is spelled like that"
        return self._objection_to_movement(move)

    def _objection_to_placement(self, token: str) -> str:
        black, white = _PLACES.get(token[:2]), _PLACES.get(token[3:])
        if black is None or white is None or token[2] != ":":
            return "a placement is two cells joined by a colon"
        if black == white:
            return "both discs on one cell"
        if (black | white) & _CENTRE:
            return "no disc may be placed on the centre"
        if (black | white) & (self._white | self._black):
            return "a cell is occupied"
        return ""

    def _objection_to_movement(self, move: _Move) -> str:
        occupied = self._white | self._black
        if not move.origin & self._own:
            return "the mover has no active disc there"
        if (2 if move.origin & self._stacks else 1) != move.height:
            return "a disc moves exactly as many cells as its stack is high"
        if move.target & self._stacks:
            return "no disc may land on a stack of two"
        if move.target != move.landing:
            if not move.target & occupied:
                return "a disc bounces only off a single disc"
            if move.landing & occupied:
                return "a disc bounces only to an empty cell"
        return ""

    def _content(self, cell: int) -> str:
        if self._white >> cell & 1:
            top = "w"
        elif self._black >> cell & 1:
            top = "b"
        else:
            return ""
        if not self._stacks >> cell & 1:
            return top
        return ("w" if self._white_under >> cell & 1 else "b") + top


def _cells_holding(held: dict[int, str], contents: Collection[str]) -> int:
    return sum(1 << cell for cell, content in held.items() if content in contents)


def _check_discs(rows: str, held: dict[int, str], ply_text: str, ply: int) -> None:
    white, black = ("".join(held.values()).count(letter) for letter in "wb")
    if max(white, black) > DISCS:
        raise field_error("rows", rows, f"{white} white and {black} black discs, but each colour has {DISCS}")
    if white != black:
        raise field_error(
            "rows", rows, f"{white} white and {black} black discs, but they are placed in pairs"
        )
    if white == DISCS:
        if ply < DISCS:
            raise field_error("ply", ply_text, f"all discs are placed only after {DISCS} plies")
        return
    if any(len(content) == 2 for content in held.values()):
        raise field_error("rows", rows, "a stack before all discs are placed")
    if BOARD.centre in held:
        raise field_error("rows", rows, "a disc on the centre before all discs are placed")
    if ply != white:
        raise field_error("ply", ply_text, f"{white} discs of a colour are placed after {white} plies")


def _find_verdict(white: int, black: int, stacks: int, ply: int) -> Outcome:
    """The outcome of a parsed position; the side that moved last takes precedence."""
    for parity in (1 - ply % 2, ply % 2):
        own = (white if parity else black) & stacks
        if any(_makes_row(own, 1 << cell) for cell in cells_of(own)):
            return _WINS[parity]
    return UNDECIDED
