# The same rules in the plainest Python, sentence by sentence, are in tests/literal/duploline.py.
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

White starts by placing one of his pieces, disc or ring, on any cell: a turn of a single action, because the
board is empty. Every other turn, also the first from a given position with pieces, is one disc action and
one ring action, in the order the mover chooses.

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

Replacement is decided action by action, on the board as it is when the action is due. So the mover may
begin with either kind that has a legal form or a replacement at that moment. If the second action then
has neither, the turn ends after one action; such a turn may be chosen even if another choice would have
allowed two. **[reading]** How replacement works when only one of the two actions cannot be made can be
read in more than one way.

## The end

A player wins at once, even after the first action of his turn, with a line of four or more of his discs,
or of four or more of his rings: consecutive cells on one line. Other pieces on these cells do not matter.

An action places a piece of the mover, so it can give a line to the mover alone, and only of that
kind. A given start position may still have several lines: the player who moved last takes precedence,
and discs take precedence over rings.

If a turn ends without a win and every cell holds at least one piece, the game is drawn.

**[reading]** This is judged at the end of the turn: a first action that fills the board may be followed
by a second that wins.

If at the start of a turn neither kind has a legal form or a replacement, the game is drawn.
**[reading]** The source leaves this open.

Match rules, of this server and not of the game: a position that occurs for the third time (board and side
to move; the position before the first move counts) is a draw, and so is a game that reaches the ply limit,
200 unless stated otherwise. A game ends first by its own rules, then by repetition, then by the ply limit.
**[reading]** The source does not have these rules.

## Notation

- An action is `Dd4` (add a disc on d4; also as a replacement), `Dc3-d4` (move), `Re5` or `Rd5-e5`.
- A turn joins two with a colon, first action first: `Dd4:Rd5-e5`. The two orders of the same two actions
  are two moves.
- A turn of one action has no colon: that on the empty board, a win by the first action, and a turn whose
  second action was not possible.

A position string has three fields: rows, side to move, plies played. The rows go from g down to a,
separated by `/`, cells from left to right separated by `,`. A cell is `D` or `d`, a white or black disc,
`R` or `r`, a white or black ring, or disc then ring when it holds both: `Dr`. A number stands for that
many empty cells in a row. A supply is 18 less the pieces on the board. The game starts from
`4/5/6/7/6/5/4 w 0`; a white disc on d4 and Black's answer `De4:Re5` give

`4/5/2,d,r,2/3,D,3/6/5/4 w 2`

Impossible positions are refused: more than eighteen pieces of a kind and colour, pieces in more than
one group, an empty board at any other ply than 0, a side to move that does not agree with the ply (White
moves at even plies). Whether a position can be reached in play is not checked.

## Source

The rules published by José Manuel Astilleros García-Monge, the inventor, in our own words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Final, Self, final

from engines.rules.base import UNDECIDED, IllegalMove, Outcome, Position, Reason, Result, Side, Word, next_ply
from engines.rules.cellsets import BOARD as BOARD
from engines.rules.cellsets import (
    FULL,
    count_steps,
    has_line,
    joined,
    leavers,
    may_leave,
    next_to,
    parting,
)
from engines.rules.hexagon import count_cells, lowest_cell
from engines.rules.native import i64, mypyc_attr
from engines.rules.notation import field_error, parse_turn, split_fields
from engines.rules.symmetry import Symmetry

CREDIT: Final = "José Manuel Astilleros García-Monge"
SUPPLY: Final = 18
"""Pieces of a kind and colour."""

DISC: Final = 0
RING: Final = 1
KINDS: Final = (DISC, RING)

_FIELDS: Final = ("rows", "side", "ply")
_CONTENTS: Final = frozenset(["D", "d", "R", "r", "DR", "Dr", "dR", "dr"])
WORDS: Final = {"D": Word("Disc", "a disc"), "R": Word("Ring", "a ring")}
_LETTERS: Final = ("DR", "dr")
"""The letters by side and kind, as in position strings."""

_SPELLINGS: Final = tuple(
    "".join(letter for place, letter in enumerate("DdRr") if pieces >> place & 1) for pieces in range(16)
)
"""The contents of a cell, by the bits of a white disc, a black disc, a white ring and a black ring."""

_SIDES: Final[tuple[Side, ...]] = (Side.WHITE, Side.BLACK)
"""The side to move at even and at odd plies."""

_WINS: Final = tuple(
    tuple(Outcome(Result.win_for(side), reason) for reason in (Reason.FOUR_DISCS, Reason.FOUR_RINGS))
    for side in Side
)
"""The outcome of a winning line, by side and kind of the line."""

_BOARD_FULL: Final = Outcome(Result.DRAW, Reason.BOARD_FULL)
_NO_ACTION: Final = Outcome(Result.DRAW, Reason.NO_ACTION)

_Pieces = tuple[i64, i64]
"""One side's pieces: the cells of its discs, the cells of its rings."""

_Choices = tuple[i64, i64, i64]
"""The legal actions of one kind: the cells of the adds (or of the replacements), the pieces that may move,
and the cells where a piece may join another. A move leads from such a piece to such a cell beside it."""


@final
class _Action:
    """An action: its token and its cells, as sets of one cell."""

    __slots__ = ("kind", "origin", "target", "token")

    def __init__(self, token: str, kind: int, origin: int, target: int) -> None:
        self.token = token
        self.kind = kind
        self.origin: i64 = origin
        """Empty for an add."""
        self.target: i64 = target


_ADDS: Final = tuple(
    tuple(_Action(letter + name, kind, 0, 1 << cell) for cell, name in enumerate(BOARD.names))
    for kind, letter in enumerate(_LETTERS[Side.WHITE])
)
"""Additions by kind and cell number; entries for numbers without a cell are not used."""

_MOVES: Final = tuple(
    tuple(
        tuple(
            _Action(f"{adds[cell].token}-{BOARD.names[to]}", kind, 1 << cell, 1 << to)
            for to in (BOARD.at_distance(cell, 1) if name else ())
        )
        for cell, name in enumerate(BOARD.names)
    )
    for kind, adds in enumerate(_ADDS)
)
"""Movements by kind and the number of the cell left."""

_ACTIONS: Final = {
    action.token: action
    for kind in KINDS
    for cell in BOARD.cells
    for action in (_ADDS[kind][cell], *_MOVES[kind][cell])
}
"""Every action that is possible on some board, by its token."""

_FIRST_TURNS: Final = [[_ADDS[kind][cell]] for kind in KINDS for cell in BOARD.cells]
"""The legal turns of the empty board."""


def _read(token: str) -> list[_Action]:
    """The one or two actions of a turn; none if ``token`` is not spelled like a turn."""
    words = token.split(":", 2)
    found = [_ACTIONS[word] for word in words if word in _ACTIONS]
    return found if len(found) == len(words) < 3 else []


def _spell(turn: list[_Action]) -> str:
    return ":".join([action.token for action in turn])


def _acted(mine: _Pieces, action: _Action) -> _Pieces:
    """The mover's pieces after an action."""
    changed = action.origin | action.target
    discs, rings = mine
    return (discs ^ changed, rings) if action.kind == DISC else (discs, rings ^ changed)


@final
@mypyc_attr(free_list_len=1)
class _Due:
    """The legal actions of one kind, for a turn in which such an action is due."""

    __slots__ = (
        "_beside",
        "_freeing",
        "_held",
        "_in_supply",
        "_joinable",
        "_kind",
        "_leavers",
        "_mine",
        "_near_opponent",
        "_occupied",
        "_same",
        "_unlocked",
    )

    def __init__(self, mine: _Pieces, theirs: _Pieces, kind: int) -> None:
        discs, rings = mine[DISC] | theirs[DISC], mine[RING] | theirs[RING]
        same, others = (discs, rings) if kind == DISC else (rings, discs)
        self._kind = kind
        self._mine = mine[DISC] if kind == DISC else mine[RING]
        self._same = same
        """The cells with a piece of this kind, of either colour."""
        self._occupied = same | others
        self._unlocked = self._mine & ~others
        self._joinable = others & ~same
        """The cells where a piece of this kind may join one of the other kind."""
        self._near_opponent = next_to(theirs[DISC] | theirs[RING])
        self._beside = self._near_opponent & ~self._occupied
        """The empty cells beside the opponent's pieces."""
        self._in_supply = count_cells(self._mine) < SUPPLY
        self._leavers: i64 = -1
        """The unlocked pieces that may leave their cells; -1 until computed, with the next two."""
        self._held: i64 = 0
        """The unlocked pieces that may not."""
        self._freeing: i64 = 0
        """The cells where an add of the other kind may free a held piece."""

    def possible(self) -> bool:
        """Whether there is any legal action or replacement."""
        if self._in_supply and (self._joinable or self._beside):
            return True  # a joinable cell allows a replacement, if there is no add or move
        return self._can_move()

    def objection(self, action: _Action) -> str:
        """Why an action of this kind is illegal; empty if it is legal."""
        if action.origin:
            return self._objection_to_move(action)
        if not self._in_supply:
            return "the supply is used up"
        if not action.target & self._occupied:
            return "" if action.target & self._beside else "an add must touch an opponent's piece"
        if not action.target & self._joinable:
            return "the cell holds a piece of this kind"
        if self._beside or self._can_move():
            return "only an action with no legal form is replaced, and this one has one"
        return ""

    def _objection_to_move(self, move: _Action) -> str:
        if not move.origin & self._mine:
            return "the mover has no such piece there"
        if not move.origin & self._unlocked:
            return "a disc and a ring that share a cell are locked"
        if not move.target & self._joinable:
            return "a piece moves only onto a single piece of the other kind"
        return "" if may_leave(move.origin, self._occupied) else "the occupied cells would not form one group"

    def _can_move(self) -> bool:
        return leavers(self._unlocked & next_to(self._joinable), self._occupied) != 0

    def wins(self, action: _Action) -> bool:
        """Whether an action of this kind makes a line of four."""
        return has_line((self._mine ^ action.origin) | action.target)

    def actions(self) -> list[_Action]:
        """The legal adds and moves, or the replacements if there are none."""
        return _listed(self._kind, self._choices_after(0, 0))

    def count_turns(self, other: _Due) -> i64:
        """The number of turns that begin with an action of this kind; ``other`` is the other kind.

        It lists no actions, since lists would take most of the time.
        """
        adds, movers, joinable = self._choices_after(0, 0)
        count: i64 = 0
        while adds:
            count += self._count_with(0, adds & -adds, other)
            adds &= adds - 1
        while movers:
            origin = movers & -movers
            targets = next_to(origin) & joinable
            while targets:
                count += self._count_with(origin, targets & -targets, other)
                targets &= targets - 1
            movers ^= origin
        return count

    def turn_at(self, index: i64, other: _Due) -> list[_Action]:
        """The turn at an index among those that ``count_turns`` counts."""
        for first in self.actions():
            count = self._count_with(first.origin, first.target, other)
            if index < count:
                seconds = self.seconds(first, other)
                return [first, seconds[index]] if seconds else [first]
            index -= count
        raise IndexError

    def _count_with(self, origin: i64, target: i64, other: _Due) -> i64:
        """The number of turns that begin with this action; it is a complete turn if no second one follows."""
        if has_line((self._mine ^ origin) | target):
            return 1
        adds, movers, joinable = other._choices_after(origin, target)
        return max(1, count_cells(adds) + count_steps(movers, joinable))

    def seconds(self, first: _Action, other: _Due) -> list[_Action]:
        """The second actions after ``first``; none if it wins."""
        if self.wins(first):
            return []
        return _listed(other._kind, other._choices_after(first.origin, first.target))

    def _choices_after(self, origin: i64, target: i64) -> _Choices:
        """The choices after a piece of the other kind has moved from ``origin`` to ``target``."""
        movers = self._leavers_after(origin, target)
        joinable = (self._joinable ^ origin) | (target & ~self._same)
        if not self._in_supply:
            return 0, movers, joinable
        adds = self._near_opponent & ~((self._occupied ^ origin) | target)
        if adds or movers & next_to(joinable):
            return adds, movers, joinable
        return joinable, 0, 0

    def _leavers_after(self, origin: i64, target: i64) -> i64:
        """The unlocked pieces that may leave their cells after that.

        All are computed again only if a cell was left empty. A replacement only locks a piece.
        After an add, pieces that could leave still can: the new piece touches one of the
        opponent's, so it does not depend on a piece of the mover. But a held piece may now be
        able to leave.
        """
        if origin:
            return leavers(self._unlocked & ~target, self._occupied ^ origin)
        if self._leavers < 0:
            self._find_leavers()
        free = self._leavers & ~target
        return free | leavers(self._held, self._occupied | target) if target & self._freeing else free

    def _find_leavers(self) -> None:
        """Compute the leavers and the held pieces.

        An add can free a held piece only if it is beside it, or if it touches two parts of the group
        that the held piece connects: two runs of cells around the new one.
        """
        self._leavers = leavers(self._unlocked, self._occupied)
        self._held = self._unlocked ^ self._leavers
        if self._held:
            self._freeing = (next_to(self._held) | parting(self._occupied)) & self._beside


def _listed(kind: int, choices: _Choices) -> list[_Action]:
    """The actions of a kind in a fixed order: adds by their cells, then moves by their origins."""
    adds, movers, joinable = choices
    movers &= next_to(joinable)
    found: list[_Action] = []
    while adds:
        found.append(_ADDS[kind][lowest_cell(adds)])
        adds &= adds - 1
    while movers:
        found += [move for move in _MOVES[kind][lowest_cell(movers)] if move.target & joinable]
        movers &= movers - 1
    return found


@final
@mypyc_attr(free_list_len=1)
class _Turns:
    """The legal turns of a position whose board is not empty.

    There are hundreds of turns, but only about thirty first actions. The second actions of each are
    counted as sets of cells, without listing them; the turn at an index is found by these
    counts. The sets of cells at the start of the turn are computed once, and updated for each
    first action.
    """

    __slots__ = ("_discs", "_rings", "_with_disc", "_with_ring")

    def __init__(self, mine: _Pieces, theirs: _Pieces) -> None:
        self._discs = _Due(mine, theirs, DISC)
        self._rings = _Due(mine, theirs, RING)
        self._with_disc: i64 = -1
        self._with_ring: i64 = -1

    def count(self) -> int:
        if self._with_disc < 0:
            self._with_disc = self._discs.count_turns(self._rings)
            self._with_ring = self._rings.count_turns(self._discs)
        return self._with_disc + self._with_ring

    def at(self, index: i64) -> list[_Action]:
        """The turn at an index below ``count()``, which must be called first."""
        if index < self._with_disc:
            return self._discs.turn_at(index, self._rings)
        return self._rings.turn_at(index - self._with_disc, self._discs)

    def tokens(self) -> Iterator[str]:
        for due, other in ((self._discs, self._rings), (self._rings, self._discs)):
            for first in due.actions():
                seconds = due.seconds(first, other)
                if not seconds:
                    yield first.token
                for second in seconds:
                    yield f"{first.token}:{second.token}"


@mypyc_attr(free_list_len=1)
@final
class DuplolinePosition(Position):
    """A position as four sets of cells and the ply, which tells the side to move.

    ``_mine`` are the cells with the mover's discs and rings, ``_theirs`` the opponent's.
    ``_verdict`` is the outcome of the last turn, by a line or a full board; ``outcome`` also checks
    whether the side to move has any action. ``_turns`` are kept after they are counted, since
    a caller that counts turns usually draws one.
    """

    __slots__ = ("_mine", "_ply", "_theirs", "_turns", "_verdict")

    def __init__(self, mine: _Pieces, theirs: _Pieces, ply: int, verdict: Outcome) -> None:
        self._mine = mine
        self._theirs = theirs
        self._ply = ply
        self._verdict = verdict
        self._turns: _Turns | None = None

    @property
    def side(self) -> Side:
        return _SIDES[self._ply % 2]

    @property
    def ply(self) -> int:
        return self._ply

    @property
    def pieces(self) -> tuple[_Pieces, _Pieces]:
        """For White and for Black: the cells of discs and of rings, as bitboards of ``BOARD``."""
        return (self._theirs, self._mine) if self._ply % 2 else (self._mine, self._theirs)

    @classmethod
    def initial(cls) -> Self:
        return cls((0, 0), (0, 0), 0, UNDECIDED)

    @classmethod
    def parse(cls, text: str) -> Self:
        rows, side_text, ply_text = split_fields(text, _FIELDS)
        held = BOARD.parse_rows(rows, _CONTENTS)
        side, ply = parse_turn(side_text, ply_text, Side.WHITE)
        _check_pieces(rows, held, ply)
        mine, theirs = _pieces_of(held, side), _pieces_of(held, side.other)
        return cls(mine, theirs, ply, _find_verdict(mine, theirs, side))

    def __str__(self) -> str:
        return f"{BOARD.format_rows(self._content)} {self.side.letter} {self._ply}"

    @classmethod
    def words(cls) -> Mapping[str, Word]:
        return WORDS

    def board(self) -> Mapping[str, str]:
        return {name: self._content(cell) for name, cell in BOARD.numbers.items()}

    def key(self) -> Hashable:
        return self.pieces, self.side

    @classmethod
    def symmetries(cls) -> tuple[Symmetry, ...]:
        return BOARD.symmetries

    def form(self, number: int) -> Hashable:
        white, black = self.pieces
        return (
            (BOARD.turned(white[DISC], number), BOARD.turned(white[RING], number)),
            (BOARD.turned(black[DISC], number), BOARD.turned(black[RING], number)),
        ), int(self.side)

    def outcome(self) -> Outcome:
        if self._verdict is not UNDECIDED or self._is_empty:
            return self._verdict
        if self._due(DISC).possible() or self._due(RING).possible():
            return UNDECIDED
        return _NO_ACTION

    def outcome_by_match_rule(self, reason: Reason) -> Outcome:
        return Outcome(Result.DRAW, reason)

    def legal_moves(self) -> Iterator[str]:
        if self._verdict is not UNDECIDED:
            return
        if self._is_empty:
            yield from map(_spell, _FIRST_TURNS)
        else:
            yield from (self._turns or _Turns(self._mine, self._theirs)).tokens()

    def count_moves(self) -> int:
        if self._verdict is not UNDECIDED:
            return 0
        return len(_FIRST_TURNS) if self._is_empty else self._found_turns().count()

    def move_at(self, index: int) -> str:
        return _spell(self._turn_at(index))

    def play_at(self, index: int) -> tuple[str, Self]:
        turn = self._turn_at(index)
        return _spell(turn), self._after(turn)

    def is_legal(self, token: str) -> bool:
        return not self._objection(_read(token))

    def play(self, token: str) -> Self:
        actions = _read(token)
        objection = self._objection(actions)
        if objection:
            raise IllegalMove(token, self, objection)
        return self._after(actions)

    def _after(self, turn: list[_Action]) -> Self:
        """The position after a legal turn."""
        mine = self._mine
        for action in turn:
            mine = _acted(mine, action)
        verdict = UNDECIDED
        if has_line(mine[DISC] if action.kind == DISC else mine[RING]):
            verdict = _WINS[self.side][action.kind]
        elif _occupied(mine, self._theirs) == FULL:
            verdict = _BOARD_FULL
        return DuplolinePosition(self._theirs, mine, next_ply(self._ply), verdict)

    @property
    def _is_empty(self) -> bool:
        return self._ply == 0 and not _occupied(self._mine, self._theirs)

    def _due(self, kind: int) -> _Due:
        return _Due(self._mine, self._theirs, kind)

    def _found_turns(self) -> _Turns:
        if self._turns is None:
            self._turns = _Turns(self._mine, self._theirs)
        return self._turns

    def _turn_at(self, index: int) -> list[_Action]:
        if not 0 <= index < self.count_moves():
            raise IndexError(f"no legal move at index {index}")
        return _FIRST_TURNS[index] if self._is_empty else self._found_turns().at(index)

    def _objection(self, turn: list[_Action]) -> str:
        """Why a parsed turn is illegal; empty if it is legal."""
        if self._verdict is not UNDECIDED:
            return "the game is over"
        if not turn:
            return "no turn is spelled like that"
        if self._is_empty:
            return "the first turn adds a single piece" if turn[0].origin or len(turn) > 1 else ""
        return self._objection_to_turn(turn[0], turn[1] if len(turn) > 1 else None)

    def _objection_to_turn(self, first: _Action, second: _Action | None) -> str:
        due = self._due(first.kind)
        objection = due.objection(first)
        if objection:
            return objection
        if due.wins(first):
            return "the first action wins already" if second else ""
        due = _Due(_acted(self._mine, first), self._theirs, 1 - first.kind)
        if second is None:
            return "a second action is possible, and so it is due" if due.possible() else ""
        if second.kind == first.kind:
            return "a turn is a disc action and a ring action"
        return due.objection(second)

    def _content(self, cell: int) -> str:
        white, black = self.pieces
        discs = white[DISC] >> cell & 1 | (black[DISC] >> cell & 1) << 1
        rings = white[RING] >> cell & 1 | (black[RING] >> cell & 1) << 1
        return _SPELLINGS[discs | rings << 2]


def _occupied(mine: _Pieces, theirs: _Pieces) -> i64:
    return mine[DISC] | mine[RING] | theirs[DISC] | theirs[RING]


def _pieces_of(held: dict[int, str], side: Side) -> _Pieces:
    disc, ring = _LETTERS[side]
    return _cells_with(held, disc), _cells_with(held, ring)


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
    if not joined(cells, cells):
        raise field_error("rows", rows, "the occupied cells do not form one connected group")
    if not held and ply:
        raise field_error("rows", rows, "the board is empty only at the start, at ply 0")


def _find_verdict(mine: _Pieces, theirs: _Pieces, side: Side) -> Outcome:
    """The verdict on a parsed position; the side that moved last takes precedence."""
    for owner, pieces in ((side.other, theirs), (side, mine)):
        for kind in KINDS:
            if has_line(pieces[kind]):
                return _WINS[owner][kind]
    return _BOARD_FULL if _occupied(mine, theirs) == FULL else UNDECIDED
