"""# DuploLine

A game of discs and rings by José Manuel Astilleros García-Monge. Two players, White (`w`) and Black
(`b`), with eighteen discs and eighteen rings each.

## The board

A hexagon of 37 cells, four to a side. Rows are lettered from the bottom, numbers run along the
diagonals:

```
      g   4 5 6 7
     f   3 4 5 6 7
    e   2 3 4 5 6 7
   d   1 2 3 4 5 6 7
    c   1 2 3 4 5 6
     b   1 2 3 4 5
      a   1 2 3 4
```

The neighbours of d4, the centre, are d3 and d5 beside it, e4 and e5 above, c3 and c4 below. The three
lines through a cell follow these three pairs of opposite neighbours. A cell can hold one disc and one
ring, of whatever colours, and nothing more.

## Turns

White starts by placing one of his pieces, disc or ring, on any cell: a turn of a single action. From
then on, Black first, a turn is one disc action and one ring action, in the order the mover chooses.

- **Disc action**: *add* one of his discs from his supply to an empty cell adjacent to at least one cell
  that holds a piece of the opponent; or *move* one of his unlocked discs to an adjacent cell that holds
  a ring, of either colour, and no disc.
- **Ring action**: *add* one of his rings in the same way; or *move* one of his unlocked rings to an
  adjacent cell that holds a disc, of either colour, and no ring.

A disc and a ring that share a cell are locked: neither moves again.

**Connection rule**: a move of a piece already on the board is illegal when the occupied cells do not
form one connected group after it.

**[reading]** The connection rule is judged after each action, not only at the end of the turn.

**Replacement**: if an action that is due has no legal form, neither an add nor a move, it is replaced:
for a disc action the mover adds a disc from his supply to any cell with a ring and no disc, for a ring
action a ring to any cell with a disc and no ring. A kind whose supply is used up has no replacement.

**[reading]** How replacement works when only one of the two actions cannot be made can be read in more
than one way; here it is decided action by action, on the board as it is when the action is due. So the
mover may begin with either kind that has a legal form or a replacement at that moment. If the second
action then has neither, the turn ends after one action; such a turn may be chosen even if another choice
would have allowed two.

## End

A player wins at once, even after the first action of his turn, with a line of four or more of his discs,
or of four or more of his rings: consecutive cells on one line. What shares these cells does not matter.

An action puts down a piece of the mover's, so it can give a line to the mover alone, and only of that
kind. A given position may still show several lines at the start: the player who moved last comes first,
discs before rings.

If a turn ends without a win and every cell holds at least one piece, the game is drawn.

**[reading]** This is judged at the end of the turn: a first action that fills the board may be followed
by a second that wins.

**[reading]** If at the start of a turn neither kind has a legal form or a replacement, the game is
drawn. The source leaves this open.

Match rules, **[reading]**, of this server and not of the game: a position that occurs for the third time
(board and side to move; the position before the first move counts) is a draw, and so is a game that
reaches the ply limit, 200 unless stated otherwise. A game ends first by its own rules, then by repetition,
then by the ply limit.

## Notation

- An action is `Dd4` (add a disc on d4; also as a replacement), `Dc3-d4` (move), `Re5` or `Rd5-e5`.
- A turn joins two with a colon, first action first: `Dd4:Rd5-e5`. The two orders of the same two actions
  are two moves.
- A turn of one action has no colon: White's first, a win by the first action, and a turn whose second
  action was not possible.

A position string has three fields: rows, side to move, plies played. The rows go from g down to a,
separated by `/`, cells from left to right separated by `,`. A cell is `D` or `d`, a white or black disc,
`R` or `r`, a white or black ring, or disc then ring when it holds both: `Dr`. A number stands for that
many empty cells in a row. A supply is 18 less the pieces on the board. The game starts from
`4/5/6/7/6/5/4 w 0`; a white disc on d4 and Black's answer `De4:Re5` give

`4/5/2,d,r,2/3,D,3/6/5/4 w 2`

Refused are positions that cannot be: more than eighteen pieces of a kind and colour, pieces in more than
one group, an empty board at any other ply than 0, a side to move that does not fit the ply, White moving
at even plies. Whether play can lead to a position is not checked.

## Source

The rules published by José Manuel Astilleros García-Monge, the inventor, told here in our own words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side
from engines.rules.hexagon import Hexagon, cells_of
from engines.rules.notation import field_error, parse_turn, split_fields

CREDIT: Final = "José Manuel Astilleros García-Monge"
SUPPLY: Final = 18
"""Pieces of a kind and colour."""

DISC: Final = 0
RING: Final = 1
KINDS: Final = (DISC, RING)

PITCH: Final = 8
"""Longest row plus one: the eighth column is no cell and stops what is shifted off a row (see hexagon)."""

BOARD: Final = Hexagon(4, PITCH)

_FIELDS: Final = ("rows", "side", "ply")
_CONTENTS: Final = frozenset(["D", "d", "R", "r", "DR", "Dr", "dR", "dr"])
_LETTERS: Final = ("DR", "dr")
"""By side and kind, as in position strings."""

_WINS: Final = tuple(
    tuple(Outcome(Result.win_for(side), reason) for reason in (Reason.FOUR_DISCS, Reason.FOUR_RINGS))
    for side in Side
)
"""By side and kind of the line."""

_BOARD_FULL: Final = Outcome(Result.DRAW, Reason.BOARD_FULL)
_NO_ACTION: Final = Outcome(Result.DRAW, Reason.NO_ACTION)

_Pieces = tuple[int, int]
"""One side's pieces: the cells of its discs, the cells of its rings."""


@dataclass(frozen=True, slots=True)
class _Action:
    """One spelling of an action and the cells it means, as sets of one cell."""

    token: str
    kind: int
    origin: int
    """Empty for an add."""
    target: int


_ADDS: Final = tuple(
    {cell: _Action(letter + name, kind, 0, 1 << cell) for name, cell in BOARD.numbers.items()}
    for kind, letter in enumerate(_LETTERS[Side.WHITE])
)
"""By kind and cell."""

_MOVES: Final = tuple(
    {
        cell: tuple(
            _Action(f"{add.token}-{BOARD.names[to]}", kind, add.target, 1 << to)
            for to in BOARD.at_distance(cell, 1)
        )
        for cell, add in adds.items()
    }
    for kind, adds in enumerate(_ADDS)
)
"""By kind and the cell left."""

_ACTIONS: Final = {
    action.token: action
    for kind in KINDS
    for cell in BOARD.cells
    for action in (_ADDS[kind][cell], *_MOVES[kind][cell])
}
"""Every action that the board has room for; reading one is looking it up."""

_FULL: Final = BOARD.full
_SHIFTS: Final = (1, PITCH, PITCH + 1)
"""One step along each axis."""


def _next_to(cells: int) -> int:
    """The cells that have a neighbour in the set; they may belong to the set themselves."""
    spread = (
        cells << 1 | cells >> 1 | cells << PITCH | cells >> PITCH | cells << PITCH + 1 | cells >> PITCH + 1
    )
    return spread & _FULL


def _joined(goal: int, within: int) -> bool:
    """Whether one connected group of ``within`` holds all of ``goal``: a flood fill from one of its cells."""
    reached = goal & -goal
    while goal & ~reached:
        grown = (reached | _next_to(reached)) & within
        if grown == reached:
            return False
        reached = grown
    return True


def _has_line(pieces: int) -> bool:
    """Whether the set has four consecutive cells on a line: a pair, and another pair two steps on."""
    for shift in _SHIFTS:
        pairs = pieces & pieces >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False


def _acted(mine: _Pieces, action: _Action) -> _Pieces:
    """The mover's pieces after an action."""
    changed = action.origin | action.target
    discs, rings = mine
    return (discs ^ changed, rings) if action.kind == DISC else (discs, rings ^ changed)


class _Due:
    """An action of one kind that is due, and the board as its rules see it."""

    __slots__ = ("_in_supply", "_joinable", "_kind", "_mine", "_occupied", "_opponent", "_unlocked")

    def __init__(self, mine: _Pieces, theirs: _Pieces, kind: int) -> None:
        same = mine[kind] | theirs[kind]
        others = mine[1 - kind] | theirs[1 - kind]
        self._kind = kind
        self._mine = mine[kind]
        self._occupied = same | others
        self._in_supply = self._mine.bit_count() < SUPPLY
        self._unlocked = self._mine & ~others
        self._joinable = others & ~same
        """Where a piece of this kind may join one of the other kind."""
        self._opponent = theirs[DISC] | theirs[RING]

    def actions(self) -> Iterator[_Action]:
        """The legal adds and moves, or the replacements where there are none."""
        due = True
        if self._in_supply:
            for cell in cells_of(self._beside()):
                due = False
                yield _ADDS[self._kind][cell]
        for move in self._moves():
            due = False
            yield move
        if due and self._in_supply:
            for cell in cells_of(self._joinable):
                yield _ADDS[self._kind][cell]

    def possible(self) -> bool:
        """Whether there is any action, or a replacement of one."""
        if self._in_supply and (self._joinable or self._beside()):
            return True  # a joinable cell takes a replacement, unless an add or a move makes that needless
        return self._can_move()

    def objection(self, action: _Action) -> str:
        """Why an action of this kind is not legal now, or an empty text when it is."""
        if action.origin:
            return self._objection_to_move(action)
        if not self._in_supply:
            return "the supply is used up"
        if not action.target & self._occupied:
            return "" if action.target & self._beside() else "an add must touch an opponent's piece"
        if not action.target & self._joinable:
            return "the cell holds a piece of this kind"
        if self._beside() or self._can_move():
            return "only an action with no legal form is replaced, and this one has one"
        return ""

    def _objection_to_move(self, move: _Action) -> str:
        if not move.origin & self._mine:
            return "the mover has no such piece there"
        if not move.origin & self._unlocked:
            return "a disc and a ring that share a cell are locked"
        if not move.target & self._joinable:
            return "a piece moves only onto a single piece of the other kind"
        return "" if self._may_leave(move.origin) else "the occupied cells would not form one group"

    def _beside(self) -> int:
        """The empty cells beside the opponent's pieces."""
        return _next_to(self._opponent) & ~self._occupied

    def _moves(self) -> Iterator[_Action]:
        for cell in cells_of(self._unlocked & _next_to(self._joinable)):
            if self._may_leave(1 << cell):
                for move in _MOVES[self._kind][cell]:
                    if move.target & self._joinable:
                        yield move

    def _can_move(self) -> bool:
        return any(True for _ in self._moves())

    def _may_leave(self, origin: int) -> bool:
        """The connection rule for a piece that leaves its cell empty and joins an occupied one.

        The cells are one group before, and every way through the cell left leads over
        its neighbours: they stay one group if these neighbours are joined without it.
        """
        rest = self._occupied & ~origin
        return _joined(rest & _next_to(origin), rest)


class DuplolinePosition(Position):
    """A position as four sets of cells, the side to move and the ply.

    ``_pieces[side][kind]`` are the cells with that side's discs or rings. ``_verdict``
    is what the last turn settled, a line or a full board; whether the side to move
    has any action is looked for only when the outcome is asked for.
    """

    __slots__ = ("_pieces", "_ply", "_side", "_verdict")

    def __init__(self, pieces: tuple[_Pieces, _Pieces], side: Side, ply: int, verdict: Outcome) -> None:
        self._pieces = pieces
        self._side = side
        self._ply = ply
        self._verdict = verdict

    @property
    def side(self) -> Side:
        return self._side

    @property
    def ply(self) -> int:
        return self._ply

    @classmethod
    def initial(cls) -> Self:
        return cls(((0, 0), (0, 0)), Side.WHITE, 0, UNDECIDED)

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side_text, ply_text = split_fields(text, _FIELDS)
        held = BOARD.parse_rows(rows, _CONTENTS)
        side, ply = parse_turn(side_text, ply_text, Side.WHITE)
        _check_pieces(rows, held, ply)
        white, black = (
            (_cells_with(held, letters[DISC]), _cells_with(held, letters[RING])) for letters in _LETTERS
        )
        return cls((white, black), side, ply, _find_verdict((white, black), side))

    def __str__(self) -> str:
        return f"{BOARD.format_rows(self._content)} {self._side.letter} {self._ply}"

    def board(self) -> Mapping[str, str]:
        return {name: self._content(cell) for name, cell in BOARD.numbers.items()}

    def key(self) -> Hashable:
        return self._pieces, self._side

    def outcome(self) -> Outcome:
        if self._verdict is not UNDECIDED or self._is_empty:
            return self._verdict
        mine, theirs = self._seats
        if any(_Due(mine, theirs, kind).possible() for kind in KINDS):
            return UNDECIDED
        return _NO_ACTION

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def legal_moves(self) -> Iterator[str]:
        if self._verdict is not UNDECIDED:
            return
        for kind in KINDS:
            if self._is_empty:
                yield from (add.token for add in _ADDS[kind].values())
            else:
                yield from self._turns(kind)

    def is_legal(self, token: str) -> bool:
        return not self._objection(token)

    def play(self, token: str) -> Self:
        objection = self._objection(token)
        if objection:
            raise IllegalMove(token, self, objection)
        mine, theirs = self._seats
        for word in token.split(":"):
            action = _ACTIONS[word]
            mine = _acted(mine, action)
        pieces = (mine, theirs) if self._side is Side.WHITE else (theirs, mine)
        verdict = UNDECIDED
        if _has_line(mine[action.kind]):
            verdict = _WINS[self._side][action.kind]
        elif _occupied(pieces) == _FULL:
            verdict = _BOARD_FULL
        return type(self)(pieces, self._side.other, self._ply + 1, verdict)

    @property
    def _is_empty(self) -> bool:
        return not _occupied(self._pieces)

    @property
    def _seats(self) -> tuple[_Pieces, _Pieces]:
        """The mover's pieces and the opponent's."""
        white, black = self._pieces
        return (white, black) if self._side is Side.WHITE else (black, white)

    def _turns(self, kind: int) -> Iterator[str]:
        """The legal turns that begin with an action of this kind."""
        mine, theirs = self._seats
        for first in _Due(mine, theirs, kind).actions():
            after = _acted(mine, first)
            alone = True
            if not _has_line(after[kind]):
                for second in _Due(after, theirs, 1 - kind).actions():
                    alone = False
                    yield f"{first.token}:{second.token}"
            if alone:
                yield first.token

    def _objection(self, token: str) -> str:
        """Why ``token`` is illegal, or an empty text when it is legal."""
        if self._verdict is not UNDECIDED:
            return "the game is over"
        first_word, colon, second_word = token.partition(":")
        first = _ACTIONS.get(first_word)
        second = _ACTIONS.get(second_word)
        if first is None or (colon and second is None):
            return "no turn is spelled like that"
        if self._is_empty:
            return "the first turn adds a single piece" if first.origin or colon else ""
        return self._objection_to_turn(first, second)

    def _objection_to_turn(self, first: _Action, second: _Action | None) -> str:
        mine, theirs = self._seats
        objection = _Due(mine, theirs, first.kind).objection(first)
        if objection:
            return objection
        after = _acted(mine, first)
        if _has_line(after[first.kind]):
            return "the first action wins already" if second else ""
        due = _Due(after, theirs, 1 - first.kind)
        if second is None:
            return "a second action is possible, and so it is due" if due.possible() else ""
        if second.kind == first.kind:
            return "a turn is a disc action and a ring action"
        return due.objection(second)

    def _content(self, cell: int) -> str:
        return "".join(
            _LETTERS[side][kind] for kind in KINDS for side in Side if self._pieces[side][kind] >> cell & 1
        )


def _occupied(pieces: tuple[_Pieces, _Pieces]) -> int:
    white, black = pieces
    return white[DISC] | white[RING] | black[DISC] | black[RING]


def _cells_with(held: dict[int, str], letter: str) -> int:
    return sum(1 << cell for cell, content in held.items() if letter in content)


def _check_pieces(rows: str, held: dict[int, str], ply: int) -> None:
    spelled = "".join(held.values())
    for letter in "DRdr":
        if spelled.count(letter) > SUPPLY:
            raise field_error(
                "rows", rows, f"{spelled.count(letter)} pieces {letter!r}, but there are {SUPPLY} of each"
            )
    cells = sum(1 << cell for cell in held)
    if not _joined(cells, cells):
        raise field_error("rows", rows, "the occupied cells do not form one connected group")
    if not held and ply:
        raise field_error("rows", rows, "the board is empty only at the start, at ply 0")


def _find_verdict(pieces: tuple[_Pieces, _Pieces], side: Side) -> Outcome:
    """The verdict on a position that was not reached by a turn; the side that moved last comes first."""
    for owner in (side.other, side):
        for kind in KINDS:
            if _has_line(pieces[owner][kind]):
                return _WINS[owner][kind]
    return _BOARD_FULL if _occupied(pieces) == _FULL else UNDECIDED
