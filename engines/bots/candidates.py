"""Candidate moves for a search, the most promising first, found without playing them.

Where there are few moves, all are candidates. DuAlma has up to 3,540 placements and
DuploLine a thousand turns: there every cell gets a value, the best cells are combined,
and the rules check each combination. An immediate win may be missing: ``winning_move``
finds those.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, cast

from engines.bots.evaluation import BESIDE, BEYOND, CACHED, THIRDS, mine_first, placement_value, rows_of_four
from engines.rules.base import Position, Side
from engines.rules.cellsets import BOARD as LINE
from engines.rules.cellsets import next_to
from engines.rules.dualma import BOARD as ALMA
from engines.rules.dualma import DualmaPosition
from engines.rules.duploline import KINDS, SUPPLY, DuplolinePosition
from engines.rules.hexagon import cells_of

Candidates = tuple[list[str], bool]
"""Moves to search, the most promising first, and whether these are all legal moves."""


@dataclass(frozen=True, slots=True)
class Guide:
    """How a search finds the moves of a game."""

    candidates: Callable[[Position], Candidates]
    winning_move: Callable[[Position], str | None]
    """A move that wins at once, if one is easily found; None does not mean that there is none."""


def all_moves(position: Position) -> Candidates:
    return list(position.legal_moves()), True


def other_moves(position: Position, known: Collection[str]) -> Iterator[str]:
    """The legal moves that are not among these, lazily."""
    known = frozenset(known)
    return (token for token in position.legal_moves() if token not in known)


def no_winning_move(position: Position) -> None:
    """For games with few moves, where the search finds an immediate win quickly."""


# DuAlma

CELLS: Final = 5
"""Candidate cells for each of the two discs of a placement."""


def candidates_dualma(position: Position) -> Candidates:
    dualma = cast(DualmaPosition, position)
    if not dualma.placing:
        return all_moves(position)
    own, other = mine_first(dualma.tops, dualma.side)
    empty = list(cells_of(ALMA.full & ~(own | other | 1 << ALMA.centre)))
    good = heapq.nlargest(CELLS, empty, key=lambda cell: placement_value(cell, own))
    bad = heapq.nsmallest(
        CELLS, (cell for cell in empty if cell not in good), key=lambda cell: placement_value(cell, other)
    )
    names = ALMA.names
    if dualma.side is Side.WHITE:
        return [f"{names[b]}:{names[a]}" for a in good for b in bad], False
    return [f"{names[a]}:{names[b]}" for a in good for b in bad], False


def winning_movement(position: Position) -> str | None:
    """A movement that makes a stack and with it a row of three stacks."""
    dualma = cast(DualmaPosition, position)
    own, other = mine_first(dualma.tops, dualma.side)
    stacks = dualma.stacks
    tops = own & stacks
    if tops.bit_count() < 2:
        return None
    singles = (own | other) & ~stacks
    for one, two in combinations(cells_of(tops), 2):
        for cell in cells_of(THIRDS[one][two] & singles):
            movers = BESIDE[cell] & own & ~stacks | BEYOND[cell] & tops & ~(1 << one | 1 << two)
            for mover in cells_of(movers):
                return f"{ALMA.names[mover]}-{ALMA.names[cell]}"
    return None


# DuploLine

LETTERS: Final = "DR"
"""The letter of each kind, as in tokens."""
WIDTH: Final = 16
"""Candidate turns."""
ACTIONS: Final = 8
"""Actions of each kind that are combined into turns."""
COMBINED: Final = [(i, j) for i in range(ACTIONS) for j in range(ACTIONS) if (i + 1) * (j + 1) <= WIDTH]
"""Ranks by value of a disc and a ring action that together can be one of the best turns."""
BUILDING: Final = (1, 4, 20, 10_000)
"""The value of adding another piece, by the own pieces of the kind in a row without the opponent's."""
BLOCKING: Final = (0, 3, 15, 1_000)
"""The value of blocking a row, by the opponent's pieces in it without own ones."""
ROWS: Final = tuple((row, tuple(cells_of(row))) for row in LINE.lines(4))

ADDS: Final = [[letter + name for name in LINE.names] for letter in LETTERS]
MOVES: Final = [[[f"{add}-{target}" for target in LINE.names] for add in adds] for adds in ADDS]
"""The tokens of adds and moves, by kind and cell numbers."""

Actions = list[tuple[int, str]]
"""Values and tokens of actions of one kind."""


def candidates_duploline(position: Position) -> Candidates:
    """The best disc actions combined with the best ring actions, in the first order that is legal."""
    duploline = cast(DuplolinePosition, position)
    mine, theirs = mine_first(duploline.pieces, duploline.side)
    discs, rings = (sorted(actions(mine, theirs, kind), reverse=True)[:ACTIONS] for kind in KINDS)
    turns = sorted(
        (-discs[i][0] - rings[j][0], i, j) for i, j in COMBINED if i < len(discs) and j < len(rings)
    )
    found: list[str] = []
    for _, i, j in turns:
        disc, ring = discs[i][1], rings[j][1]
        if position.is_legal(token := f"{disc}:{ring}") or position.is_legal(token := f"{ring}:{disc}"):
            found.append(token)
            if len(found) == WIDTH:
                break
    return (found, False) if found else all_moves(position)


def actions(mine: tuple[int, int], theirs: tuple[int, int], kind: int) -> Actions:
    """The actions with a piece of this kind, without replacements; a move may break the connection rule."""
    values = cell_values(mine[kind], theirs[kind])
    same, others = mine[kind] | theirs[kind], mine[1 - kind] | theirs[1 - kind]
    adds, moves = ADDS[kind], MOVES[kind]
    found: Actions = []
    if mine[kind].bit_count() < SUPPLY:
        beside = next_to(theirs[0] | theirs[1]) & ~(same | others)
        found = [(values[cell], adds[cell]) for cell in cells_of(beside)]
    joinable = others & ~same
    for cell in cells_of(mine[kind] & ~others & next_to(joinable)):
        for target in cells_of(LINE.around[cell] & joinable):
            found.append((values[target] - values[cell], moves[cell][target]))
    return found


@lru_cache(CACHED)
def cell_values(own: int, other: int) -> tuple[int, ...]:
    """The value of a piece on each cell, by the rows of four that it extends or blocks."""
    values = [0] * len(LINE.names)
    for row, cells in ROWS:
        mine, theirs = (row & own).bit_count(), (row & other).bit_count()
        if mine and theirs:
            continue
        for cell in cells:
            values[cell] += BLOCKING[theirs] if theirs else BUILDING[mine - (own >> cell & 1)]
    return tuple(values)


def winning_turn(position: Position) -> str | None:
    """A turn that completes a row of four."""
    duploline = cast(DuplolinePosition, position)
    mine, theirs = mine_first(duploline.pieces, duploline.side)
    for kind in KINDS:
        _, gaps = rows_of_four(mine[kind], theirs[kind])
        for gap in cells_of(gaps):
            for token in ways_to_fill(gap, mine, theirs, kind):
                if position.is_legal(token) and position.play(token).outcome().decided:
                    return token
    return None


def ways_to_fill(gap: int, mine: tuple[int, int], theirs: tuple[int, int], kind: int) -> Iterator[str]:
    """Turns that may bring a piece of this kind to a cell; some of them may be illegal."""
    letter, other = LETTERS[kind], LETTERS[1 - kind]
    names, cell = LINE.names, LINE.names[gap]
    others = mine[1 - kind] | theirs[1 - kind]
    yield letter + cell
    if not others >> gap & 1:
        return
    moves = [f"{letter}{names[near]}-{cell}" for near in cells_of(LINE.around[gap] & mine[kind] & ~others)]
    yield from moves
    if mine[1 - kind] >> gap & 1:  # first remove the piece in the way
        for near in cells_of(LINE.around[gap]):
            yield f"{other}{cell}-{names[near]}:{letter}{cell}"
    for empty in cells_of(LINE.full & ~(others | mine[kind] | theirs[kind]) if moves else 0):
        for move in moves:  # first add a piece that keeps the group connected
            yield f"{other}{names[empty]}:{move}"


ALL: Final = Guide(all_moves, no_winning_move)
GUIDES: Final = {
    "dualma": Guide(candidates_dualma, winning_movement),
    "duploline": Guide(candidates_duploline, winning_turn),
}
"""The guide of each ladder with many moves, by its code."""


def guide_of(code: str) -> Guide:
    """The guide of a game; in games without one in ``GUIDES``, all moves are candidates."""
    return GUIDES.get(code, ALL)
