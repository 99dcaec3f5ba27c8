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

- An active disc moves in one of the six directions, in a straight line, over exactly as many cells as
  its stack is high. What lies between does not matter.
- It ends on an empty cell, or on a single disc of either colour, which makes a stack of two. It never
  leaves the board and never ends on a stack of two. The centre may be used.
- **Bounce**: a disc that leaves a stack of two and lands on a single disc may, instead of staying there,
  bounce to any empty cell adjacent to that single disc.

  **[reading]** The source says "any empty adjacent spot": read as adjacent to the single disc, not to
  the cell the disc came from. The cell it left is never among them (it is two steps away, and not
  empty); the cell it jumped over is, and may be used when it is empty.

A player with no legal move must pass; nobody else may.

**[reading]** What a player without a move does is left open by the source; here he passes, which neither
ends the game nor costs anything.

## End

A player wins at once when three stacks of two with his colour on top stand in a row: consecutive cells
on one line. More than three is also a win. What lies beneath does not matter.

A move uncovers at most a single disc and builds at most a stack of its own colour, so it can give a row
to the mover alone. A given position may still show a row at the start: its owner has won, whoever is to
move; if both players have one, the player who moved last has.

It cannot happen that both players are stuck. *Proof.* Suppose it did. A disc on top of a stack of two
cannot jump, so every cell two steps away from it in a straight line, and on the board, holds a stack of
two; of that stack the same is true, whoever is on top. So stacks fill every cell that can be reached
from the first by such jumps. A jump changes the row by 0 or 2 and the number by 0 or 2; the 61 cells
thus fall into four classes, by the row and the number being even or odd. The class of the centre (a1,
a3, a5, c1, ..., i9) has 19 cells and each of the other three has 14, and within a class every cell is
reached from every other. But 22 discs make at most 11 stacks, too few for any class. So there is no
stack at all, and each of the 22 single discs has a neighbouring cell with no stack of two on it, where
it could go: somebody is not stuck after all.

Match rules, **[reading]**, of this server and not of the game: a position that occurs for the third time
(board and side to move; the position before the first move counts) is a draw, and so is a game that
reaches the ply limit, 400 unless stated otherwise. A game ends first by its own rules, then by repetition,
then by the ply limit.

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

Refused are positions that cannot be: more than eleven discs of a colour or unequal numbers of them; in
the placement phase a stack, a disc on the centre, or a ply that is not the number of discs of a colour;
in the movement phase a ply under 11; a side to move that does not fit the ply, Black moving at even
plies. Whether play can lead to a position is not checked.

## Source

The rules published by Paschalis Antoniou, the inventor, told here in our own words.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side
from engines.rules.hexagon import Hexagon, cells_of
from engines.rules.notation import field_error, parse_turn, split_fields

CREDIT: Final = "Paschalis Antoniou"
DISCS: Final = 11
"""Discs of a colour."""

PASS: Final = "pass"
BOARD: Final = Hexagon(5)

_FIELDS: Final = ("rows", "side", "ply")
_CENTRE: Final = 1 << BOARD.centre
_CONTENTS: Final = frozenset(["w", "b", "ww", "wb", "bw", "bb"])
_WINS: Final = tuple(Outcome(Result.win_for(side), Reason.THREE_IN_A_ROW) for side in Side)


@dataclass(frozen=True, slots=True)
class _Move:
    """One spelling of a movement and the cells it means, as sets of one cell."""

    token: str
    origin: int
    target: int
    """The cell moved to; in a bounce the single disc's."""
    landing: int
    """Where the disc comes to rest: ``target``, but for a bounce."""
    height: int
    """How high the stack must be that the disc leaves."""


def _steps_from(cell: int) -> tuple[_Move, ...]:
    name = BOARD.names
    return tuple(
        _Move(f"{name[cell]}-{name[to]}", 1 << cell, 1 << to, 1 << to, 1) for to in BOARD.at_distance(cell, 1)
    )


def _jumps_from(cell: int) -> tuple[tuple[_Move, tuple[_Move, ...]], ...]:
    name = BOARD.names
    jumps = []
    for to in BOARD.at_distance(cell, 2):
        token = f"{name[cell]}-{name[to]}"
        bounces = [
            _Move(f"{token}-{name[landing]}", 1 << cell, 1 << to, 1 << landing, 2)
            for landing in cells_of(BOARD.around[to])
        ]
        jumps.append((_Move(token, 1 << cell, 1 << to, 1 << to, 2), tuple(bounces)))
    return tuple(jumps)


_STEPS: Final = tuple(_steps_from(cell) for cell in BOARD.cells)
"""By cell: the moves of a single disc on it."""

_JUMPS: Final = tuple(_jumps_from(cell) for cell in BOARD.cells)
"""By cell: the moves of the top of a stack of two on it, each with the bounces from where it lands."""

_MOVES: Final = {
    move.token: move
    for cell in BOARD.cells
    for move in (*_STEPS[cell], *(m for jump, bounces in _JUMPS[cell] for m in (jump, *bounces)))
}
"""Every movement that an empty board has room for; reading a token is looking it up."""

_ROWS_THROUGH: Final = tuple(
    tuple(line for line in BOARD.lines(3) if line >> cell & 1) for cell in BOARD.cells
)
"""By cell: the rows of three that hold it."""


def _has_row(stacks: int, landing: int) -> bool:
    """Whether these stacks make three in a row with the one on the cell in ``landing``."""
    return any(row & stacks == row for row in _ROWS_THROUGH[landing.bit_length() - 1])


class DualmaPosition(Position):
    """A position as four sets of cells, the side to move, the ply and the outcome.

    ``_tops[side]`` are the cells whose topmost disc is that side's, ``_stacks``
    the cells with two discs, ``_white_under`` those stacks whose lower disc is White's.
    ``_verdict`` is the outcome, known when a position is made: only a move that builds
    a row ends this game.
    """

    __slots__ = ("_ply", "_side", "_stacks", "_tops", "_verdict", "_white_under")

    def __init__(
        self, tops: tuple[int, int], stacks: int, white_under: int, side: Side, ply: int, verdict: Outcome
    ) -> None:
        self._tops = tops
        self._stacks = stacks
        self._white_under = white_under
        self._side = side
        self._ply = ply
        self._verdict = verdict

    @property
    def side(self) -> Side:
        return self._side

    @property
    def ply(self) -> int:
        return self._ply

    @property
    def placing(self) -> bool:
        """Whether this is the placement phase."""
        return self._ply < DISCS

    @classmethod
    def initial(cls) -> Self:
        return cls((0, 0), 0, 0, Side.BLACK, 0, UNDECIDED)

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side_text, ply_text = split_fields(text, _FIELDS)
        held = BOARD.parse_rows(rows, _CONTENTS)
        side, ply = parse_turn(side_text, ply_text, Side.BLACK)
        _check_discs(rows, held, ply_text, ply)
        tops = (_cells_holding(held, ("w", "ww", "bw")), _cells_holding(held, ("b", "bb", "wb")))
        stacks = _cells_holding(held, ("ww", "wb", "bw", "bb"))
        white_under = _cells_holding(held, ("ww", "wb"))
        return cls(tops, stacks, white_under, side, ply, _find_verdict(tops, stacks, side))

    def __str__(self) -> str:
        return f"{BOARD.format_rows(self._content)} {self._side.letter} {self._ply}"

    def board(self) -> Mapping[str, str]:
        return {name: self._content(cell) for name, cell in BOARD.numbers.items()}

    def key(self) -> Hashable:
        return self._tops, self._stacks, self._white_under, self._side

    def outcome(self) -> Outcome:
        return self._verdict

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def legal_moves(self) -> Iterator[str]:
        if self._verdict is not UNDECIDED:
            return
        if self.placing:
            yield from self._placements()
            return
        stuck = True
        for token in self._movements():
            stuck = False
            yield token
        if stuck:
            yield PASS

    def is_legal(self, token: str) -> bool:
        return not self._objection(token)

    def play(self, token: str) -> Self:
        objection = self._objection(token)
        if objection:
            raise IllegalMove(token, self, objection)
        if token == PASS:
            return self._after(self._tops, self._stacks, self._white_under, UNDECIDED)
        if self.placing:
            black, white = (1 << BOARD.numbers[name] for name in token.split(":"))
            return self._after((self._tops[0] | white, self._tops[1] | black), 0, 0, UNDECIDED)
        return self._moved(_MOVES[token])

    def _moved(self, move: _Move) -> Self:
        """The position after a legal movement: the disc is taken off its cell, then put down."""
        side, stacks, white_under = self._side, self._stacks, self._white_under
        white, black = self._tops
        if side is Side.WHITE:
            white ^= move.origin
        else:
            black ^= move.origin
        if stacks & move.origin:
            if white_under & move.origin:
                white |= move.origin
            else:
                black |= move.origin
            stacks ^= move.origin
            white_under &= ~move.origin
        covered = (white | black) & move.landing
        stacks |= covered
        white_under |= covered & white
        white &= ~covered
        black &= ~covered
        tops = (white | move.landing, black) if side is Side.WHITE else (white, black | move.landing)
        won = covered and _has_row(tops[side] & stacks, covered)
        return self._after(tops, stacks, white_under, _WINS[side] if won else UNDECIDED)

    def _after(self, tops: tuple[int, int], stacks: int, white_under: int, verdict: Outcome) -> Self:
        return type(self)(tops, stacks, white_under, self._side.other, self._ply + 1, verdict)

    def _placements(self) -> Iterator[str]:
        empty = list(cells_of(BOARD.full & ~(self._tops[0] | self._tops[1] | _CENTRE)))
        for black in empty:
            for white in empty:
                if white != black:
                    yield f"{BOARD.names[black]}:{BOARD.names[white]}"

    def _movements(self) -> Iterator[str]:
        occupied = self._tops[0] | self._tops[1]
        stacks = self._stacks
        for cell in cells_of(self._tops[self._side]):
            if not stacks >> cell & 1:
                for move in _STEPS[cell]:
                    if not move.target & stacks:
                        yield move.token
                continue
            for jump, bounces in _JUMPS[cell]:
                if jump.target & stacks:
                    continue
                yield jump.token
                if jump.target & occupied:
                    for bounce in bounces:
                        if not bounce.landing & occupied:
                            yield bounce.token

    def _objection(self, token: str) -> str:
        """Why ``token`` is illegal, or an empty text when it is legal."""
        if self._verdict is not UNDECIDED:
            return "the game is over"
        if self.placing:
            return self._objection_to_placement(token)
        if token == PASS:
            return "there is a legal move" if any(True for _ in self._movements()) else ""
        move = _MOVES.get(token)
        if move is None:
            return "no movement is spelled like that"
        return self._objection_to_movement(move)

    def _objection_to_placement(self, token: str) -> str:
        black_name, _, white_name = token.partition(":")
        black, white = BOARD.numbers.get(black_name), BOARD.numbers.get(white_name)
        if black is None or white is None:
            return "a placement is two cells joined by a colon"
        if black == white:
            return "both discs on one cell"
        chosen = 1 << black | 1 << white
        if chosen & _CENTRE:
            return "no disc may be placed on the centre"
        if chosen & (self._tops[0] | self._tops[1]):
            return "a cell is occupied"
        return ""

    def _objection_to_movement(self, move: _Move) -> str:
        if not move.origin & self._tops[self._side]:
            return "the mover has no active disc there"
        if (2 if move.origin & self._stacks else 1) != move.height:
            return "a disc moves exactly as many cells as its stack is high"
        if move.target & self._stacks:
            return "no disc may land on a stack of two"
        if move.target != move.landing:
            occupied = self._tops[0] | self._tops[1]
            if not move.target & occupied:
                return "a disc bounces only off a single disc"
            if move.landing & occupied:
                return "a disc bounces only to an empty cell"
        return ""

    def _content(self, cell: int) -> str:
        if self._tops[0] >> cell & 1:
            top = "w"
        elif self._tops[1] >> cell & 1:
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


def _find_verdict(tops: tuple[int, int], stacks: int, side: Side) -> Outcome:
    """The outcome of a position that was not reached by a move; the side that moved last comes first."""
    for owner in (side.other, side):
        own = tops[owner] & stacks
        if any(_has_row(own, 1 << cell) for cell in cells_of(own)):
            return _WINS[owner]
    return UNDECIDED
