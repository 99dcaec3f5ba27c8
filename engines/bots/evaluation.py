"""Evaluation functions: the score of a position for its mover, found without a search.

``evaluation_of`` a ladder is a function. Its scores are in hundredths of a seed or a
stone, and of a comparable unit in the games that are won by a row. Greedy and the
searching bots use the same functions. They are not defined for decided positions: use
``final_score``.

Unless stated otherwise, the weights were found by matches of a hundred games each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar, cast

from engines.rules.base import Outcome, Position, Result, Side
from engines.rules.cellsets import BOARD as LINE
from engines.rules.cellsets import PITCH, SLANT, has_line, may_leave, next_to
from engines.rules.dogon import DogonPosition
from engines.rules.dualma import BOARD as ALMA
from engines.rules.dualma import DualmaPosition
from engines.rules.duovallis import BACK_ROWS, FRONT_ROWS, NAMES, DuovallisPosition
from engines.rules.duploline import KINDS, SUPPLY, DuplolinePosition
from engines.rules.hexagon import cells_of

T = TypeVar("T")

MATE: Final = 1_000_000
"""The score of a won game; a win in n plies scores n less."""
WIN_NEXT: Final = 20_000
"""The value of a winning next move, as far as it can be found without playing it."""
CACHED: Final = 1 << 14
"""Size of caches; many turns of a position share the same few actions."""


def final_score(outcome: Outcome, side: Side, plies: int = 0) -> int:
    """The score for ``side`` of a decided game that ends in ``plies``; a faster win scores more."""
    if outcome.result is Result.DRAW:
        return 0
    return MATE - plies if outcome.result is Result.win_for(side) else plies - MATE


def mine_first(pair: tuple[T, T], side: Side) -> tuple[T, T]:
    """White's and Black's, in the order of the mover ``side`` and its opponent."""
    return pair if side is Side.WHITE else pair[::-1]


# Dogon

SEED: Final = 100
HOME: Final = 30


def evaluate_dogon(position: Position) -> int:
    """Captured seeds, and a third of their value for seeds in own holes, which their owner may receive."""
    dogon = cast(DogonPosition, position)
    holes = dogon.holes
    width = len(holes) // 2
    white, black = dogon.stores
    score = SEED * (white - black) + HOME * (sum(holes[:width]) - sum(holes[width:]))
    return score if dogon.side is Side.WHITE else -score


# Duovallis

STONE: Final = 100
NEUTRAL: Final = 75
"""The additional value of a stone in a neutral hole."""
OPENING: Final = 330
"""The value of a hole of the back row that its owner may choose."""
OWNED: Final = frozenset(name for row in (*BACK_ROWS, *FRONT_ROWS) for name in row)
NEUTRAL_HOLES: Final = tuple(hole for hole, name in enumerate(NAMES) if name not in OWNED)
WHITE_BACK, BLACK_BACK = (slice(NAMES.index(row[0]), NAMES.index(row[-1]) + 1) for row in BACK_ROWS)


def evaluate_duovallis(position: Position) -> int:
    """Stones of the own colour, and holes that may be chosen: a player without any loses.

    Only holes of the back row count: the front row cannot be chosen while there is one.
    The weights come from a logistic regression over 400 games of Alphabeta against itself.
    """
    duovallis = cast(DuovallisPosition, position)
    white, black = duovallis.holes
    openings = count_openings(white[WHITE_BACK], black[WHITE_BACK])
    openings -= count_openings(black[BLACK_BACK], white[BLACK_BACK])
    neutral = sum([white[hole] - black[hole] for hole in NEUTRAL_HOLES])
    score = STONE * (sum(white) - sum(black)) + NEUTRAL * neutral + OPENING * openings
    return score if duovallis.side is Side.WHITE else -score


def count_openings(own: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many of these holes have two stones or more, at least half of them ``own``."""
    return sum([mine >= theirs and mine + theirs > 1 for mine, theirs in zip(own, other, strict=True)])


# DuAlma

ROW: Final = 3
ADJACENT: Final = 10
"""The value of two adjacent discs of a colour in the placement phase."""
TWO_APART: Final = 4
"""The same for two discs with one cell between them."""
FREE: Final = 20
"""The value of a disc on top."""
STACK: Final = 30
"""The value of a stack for the owner of its topmost disc."""
EMPTY_GAP: Final = 25
"""The value of a row that lacks one stack, if the missing cell is empty."""
SINGLE_GAP: Final = 60
"""The same if the missing cell holds a single disc and no own disc can reach it."""
REACHABLE_GAP: Final = 200
"""The same if an own disc can reach it, while the opponent is to move."""


def _thirds() -> tuple[tuple[int, ...], ...]:
    """By two cells: the cells that make a row of three with both."""
    thirds = [[0] * len(ALMA.cells) for _ in ALMA.cells]
    for row in ALMA.lines(ROW):
        for one in cells_of(row):
            for other in cells_of(row & ~(1 << one)):
                thirds[one][other] |= row & ~(1 << one | 1 << other)
    return tuple(map(tuple, thirds))


THIRDS: Final = _thirds()
BESIDE: Final = ALMA.around
BEYOND: Final = tuple(sum(1 << cell for cell in ALMA.at_distance(centre, 2)) for centre in ALMA.cells)
"""The cells two steps away from each cell in a straight line: the top of a stack can come from there."""


def evaluate_dualma(position: Position) -> int:
    """Discs on top, stacks, and above all rows that lack one stack and can be completed."""
    dualma = cast(DualmaPosition, position)
    mine, theirs = mine_first(dualma.tops, dualma.side)
    if dualma.placing:
        return placement_score(mine) - placement_score(theirs)
    stacks = dualma.stacks
    return evaluate_side(mine, theirs, stacks, WIN_NEXT) - evaluate_side(theirs, mine, stacks, REACHABLE_GAP)


@lru_cache(CACHED)
def placement_score(discs: int) -> int:
    """Discs near one another, which can later build stacks in a row."""
    return sum(placement_value(cell, discs) for cell in cells_of(discs))


def placement_value(cell: int, discs: int) -> int:
    """The value of a disc on this cell by its distance to other ``discs`` of its colour."""
    return ADJACENT * (BESIDE[cell] & discs).bit_count() + TWO_APART * (BEYOND[cell] & discs).bit_count()


def evaluate_side(own: int, other: int, stacks: int, threat: int) -> int:
    """The score of one side's discs; ``threat`` is the value of being able to complete a row."""
    tops = own & stacks
    score = FREE * own.bit_count() + STACK * tops.bit_count()
    occupied = own | other
    free = own & ~stacks
    cells = list(cells_of(tops))
    for index, one in enumerate(cells):
        for two in cells[:index]:
            lacking = THIRDS[one][two] & ~stacks
            if lacking:
                movers = tops & ~(1 << one | 1 << two)
                score += sum(gap_value(cell, occupied, free, movers, threat) for cell in cells_of(lacking))
    return score


def gap_value(cell: int, occupied: int, free: int, movers: int, threat: int) -> int:
    """The value of a row that lacks only a stack on this cell."""
    if not occupied >> cell & 1:
        return EMPTY_GAP
    return threat if BESIDE[cell] & free or BEYOND[cell] & movers else SINGLE_GAP


# DuploLine

AXES: Final = (1, PITCH, SLANT)
SINGLE: Final = 10
PAIR: Final = 40
TRIPLE: Final = 120
"""The value of a row of four with one, two or three pieces of one kind, all of one colour."""
READY: Final = (0, 400, 1_500, 6_000)
"""The additional value by the number of cells that complete a row, while the opponent is to move: to block
one he needs an action, for two his whole turn, and three cannot be blocked."""
STARTS: Final = tuple(
    sum(line & -line for line in LINE.lines(4) if line & line >> axis & line >> 2 * axis) for axis in AXES
)
"""The first cells of all rows of four, by axis."""


def evaluate_duploline(position: Position) -> int:
    """Rows of four with pieces of one side only, above all those that can be completed."""
    duploline = cast(DuplolinePosition, position)
    mine, theirs = mine_first(duploline.pieces, duploline.side)
    score = threats = 0
    for kind in KINDS:
        value, gaps = rows_of_four(mine[kind], theirs[kind])
        score += value
        if gaps and playable(gaps, mine, theirs, kind):
            score += WIN_NEXT
        value, gaps = rows_of_four(theirs[kind], mine[kind])
        score -= value
        if gaps:
            threats += playable(gaps, theirs, mine, kind).bit_count()
    return score - READY[min(threats, len(READY) - 1)]


@lru_cache(CACHED)
def rows_of_four(own: int, other: int) -> tuple[int, int]:
    """The score of the rows of four without ``other``, and the cells where one piece completes a row.

    All rows along an axis are evaluated together: shifted sets align their first,
    second, third and fourth cells.
    """
    score = gaps = 0
    for axis, starts in zip(AXES, STARTS, strict=True):
        open_rows = starts & ~(other | other >> axis | other >> 2 * axis | other >> 3 * axis)
        first, second, third, fourth = own, own >> axis, own >> 2 * axis, own >> 3 * axis
        one_left, two_left = (first ^ second) & open_rows, first & second & open_rows
        one_right, two_right = (third ^ fourth) & open_rows, third & fourth & open_rows
        none_left, none_right = open_rows & ~(first | second), open_rows & ~(third | fourth)
        triples = one_left & two_right | two_left & one_right
        pairs = two_left & none_right | none_left & two_right | one_left & one_right
        singles = one_left & none_right | none_left & one_right
        score += SINGLE * singles.bit_count() + PAIR * pairs.bit_count() + TRIPLE * triples.bit_count()
        if triples:
            gaps |= triples & ~first | (triples & ~second) << axis
            gaps |= (triples & ~third) << 2 * axis | (triples & ~fourth) << 3 * axis
    return score, gaps


def playable(gaps: int, own: tuple[int, int], other: tuple[int, int], kind: int) -> int:
    """The cells where ``own`` completes a row with a single action."""
    others = own[1 - kind] | other[1 - kind]
    found = gaps & ~others & next_to(other[0] | other[1]) if own[kind].bit_count() < SUPPLY else 0
    unlocked, occupied = own[kind] & ~others, own[kind] | other[kind] | others
    for gap in cells_of(gaps & others & next_to(unlocked)):
        for mover in cells_of(LINE.around[gap] & unlocked):
            if has_line(own[kind] ^ (1 << mover | 1 << gap)) and may_leave(1 << mover, occupied):
                found |= 1 << gap
    return found


EVALUATIONS: Final[dict[str, Callable[[Position], int]]] = {
    "duovallis": evaluate_duovallis,
    "dualma": evaluate_dualma,
    "dogon-kulei": evaluate_dogon,
    "dogon-gagara": evaluate_dogon,
    "duploline": evaluate_duploline,
}
"""The evaluation of each ladder, by its code; ``evaluation_of`` also knows games without one."""


def evaluation_of(code: str) -> Callable[[Position], int]:
    """The evaluation of a game; 0 for every position if ``EVALUATIONS`` has none."""
    return EVALUATIONS.get(code, evaluate_nothing)


def evaluate_nothing(position: Position) -> int:
    """All undecided positions are equal, so that only the ends of games count."""
    return 0
