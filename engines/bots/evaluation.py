"""What a position is worth to its mover, for every game: one number, found without looking ahead.

``EVALUATIONS`` has a function for each ladder. Worth is in hundredths of what the
game is won with (a seed, a stone) or, in the games that are won by a row, of what
such a unit would be; the search and the bot that looks one move ahead go by the
same numbers. A position that is over has no worth here: its outcome says it all.

The weights were found by playing one against another, a hundred games each, where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, cast

from engines.rules.base import Outcome, Position, Result, Side
from engines.rules.cellsets import BOARD as LINE
from engines.rules.cellsets import PITCH, SLANT, has_line, may_leave, next_to
from engines.rules.dogon import DogonPosition
from engines.rules.dualma import BOARD as ALMA
from engines.rules.dualma import DualmaPosition
from engines.rules.duovallis import BACK_ROWS, FRONT_ROWS, NAMES, DuovallisPosition
from engines.rules.duploline import KINDS, SUPPLY, DuplolinePosition
from engines.rules.hexagon import cells_of

MATE: Final = 1_000_000
"""A game won; a win in n plies is worth n less."""
WIN_NEXT: Final = 20_000
"""What it is worth to be able to win with the next move, as far as can be seen without making it."""
CACHED: Final = 1 << 14
"""Results kept of what many turns of one position share, as they are combined of few actions."""


def worth_of(outcome: Outcome, side: Side, plies: int = 0) -> int:
    """A game that is over, to ``side``, so many plies from now; a win is better the sooner it comes."""
    if outcome.result is Result.DRAW:
        return 0
    return MATE - plies if outcome.result is Result.win_for(side) else plies - MATE


# Dogon

SEED: Final = 100
HOME: Final = 30


def evaluate_dogon(position: Position) -> int:
    """Seeds captured, and a third of it for seeds at home: they are one's own if both sides dry up."""
    dogon = cast(DogonPosition, position)
    holes = dogon.holes
    width = len(holes) // 2
    white, black = dogon.stores
    worth = SEED * (white - black) + HOME * (sum(holes[:width]) - sum(holes[width:]))
    return worth if dogon.side is Side.WHITE else -worth


# Duovallis

STONE: Final = 100
NEUTRAL: Final = 75
"""What it is worth beyond that if it lies in a hole that is nobody's."""
OPENING: Final = 330
"""What a hole of the back row is worth that its owner may start from."""
OWNED: Final = frozenset(name for row in (*BACK_ROWS, *FRONT_ROWS) for name in row)
NEUTRAL_HOLES: Final = tuple(hole for hole, name in enumerate(NAMES) if name not in OWNED)
WHITE_BACK, BLACK_BACK = (slice(NAMES.index(row[0]), NAMES.index(row[-1]) + 1) for row in BACK_ROWS)


def evaluate_duovallis(position: Position) -> int:
    """Stones of one's own colour, and holes to start from: who runs out of these has lost.

    Those of the back row count alone. While there is one, the front row is kept in reserve.
    The weights are those of a logistic regression over 400 games of Alphabeta against itself.
    """
    duovallis = cast(DuovallisPosition, position)
    white, black = duovallis.holes
    openings = count_openings(white[WHITE_BACK], black[WHITE_BACK])
    openings -= count_openings(black[BLACK_BACK], white[BLACK_BACK])
    neutral = sum([white[hole] - black[hole] for hole in NEUTRAL_HOLES])
    worth = STONE * (sum(white) - sum(black)) + NEUTRAL * neutral + OPENING * openings
    return worth if duovallis.side is Side.WHITE else -worth


def count_openings(own: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many of these holes hold two stones or more, at least half of them ``own``."""
    return sum([mine >= theirs and mine + theirs > 1 for mine, theirs in zip(own, other, strict=True)])


# DuAlma

ROW: Final = 3
COMPANY: Final = 10
"""What a disc of the same colour beside it is worth to a disc that was placed …"""
NEARNESS: Final = 4
"""… and one that is two cells away."""
FREE: Final = 20
"""What a disc is worth that nothing lies upon."""
STACK: Final = 30
"""What a stack is worth to him who topped it."""
HOPE: Final = 25
"""What a row is worth that lacks one stack, on a cell that is empty as yet …"""
CHANCE: Final = 60
"""… on a single disc that none of one's own can reach yet …"""
THREAT: Final = 200
"""… and on one that can be reached, while the opponent is to move."""


def _thirds() -> tuple[tuple[int, ...], ...]:
    """By two cells: those that make a row of three with both."""
    thirds = [[0] * len(ALMA.cells) for _ in ALMA.cells]
    for row in ALMA.lines(ROW):
        for one in cells_of(row):
            for other in cells_of(row & ~(1 << one)):
                thirds[one][other] |= row & ~(1 << one | 1 << other)
    return tuple(map(tuple, thirds))


THIRDS: Final = _thirds()
BESIDE: Final = ALMA.around
BEYOND: Final = tuple(sum(1 << cell for cell in ALMA.at_distance(centre, 2)) for centre in ALMA.cells)
"""By cell: the cells two steps away in a straight line, from where a stack's top comes."""


def evaluate_dualma(position: Position) -> int:
    """Free discs, stacks topped, and above all rows that lack one stack and can be completed."""
    dualma = cast(DualmaPosition, position)
    white, black = dualma.tops
    if dualma.placing:
        worth = worth_of_discs(white) - worth_of_discs(black)
        return worth if dualma.side is Side.WHITE else -worth
    mine, theirs = (white, black) if dualma.side is Side.WHITE else (black, white)
    stacks = dualma.stacks
    return standing(mine, theirs, stacks, WIN_NEXT) - standing(theirs, mine, stacks, THREAT)


@lru_cache(CACHED)
def worth_of_discs(discs: int) -> int:
    """Discs placed near one another: from there they build stacks in a row."""
    return sum(
        COMPANY * (BESIDE[cell] & discs).bit_count() + NEARNESS * (BEYOND[cell] & discs).bit_count()
        for cell in cells_of(discs)
    )


def standing(own: int, other: int, stacks: int, threat: int) -> int:
    """What one side's discs are worth, ``threat`` being what it is worth to be able to complete a row."""
    tops = own & stacks
    worth = FREE * own.bit_count() + STACK * tops.bit_count()
    occupied = own | other
    free = own & ~stacks
    cells = list(cells_of(tops))
    for index, one in enumerate(cells):
        for two in cells[:index]:
            lacking = THIRDS[one][two] & ~stacks
            if lacking:
                movers = tops & ~(1 << one | 1 << two)
                worth += sum(worth_of_gap(cell, occupied, free, movers, threat) for cell in cells_of(lacking))
    return worth


def worth_of_gap(cell: int, occupied: int, free: int, movers: int, threat: int) -> int:
    """What it is worth that a row lacks a stack on this cell alone."""
    if not occupied >> cell & 1:
        return HOPE
    return threat if BESIDE[cell] & free or BEYOND[cell] & movers else CHANCE


# DuploLine

AXES: Final = (1, PITCH, SLANT)
SINGLE: Final = 10
PAIR: Final = 40
TRIPLE: Final = 120
"""What a row of four is worth that holds one, two, three pieces of one kind, all of one colour."""
READY: Final = (0, 400, 1_500, 6_000)
"""What it is worth beyond that if so many of the missing pieces can be played, while the opponent is to
move: against one of them he needs an action, against two his turn, against three nothing helps for long."""
STARTS: Final = tuple(
    sum(line & -line for line in LINE.lines(4) if line & line >> axis & line >> 2 * axis) for axis in AXES
)
"""By axis: the first cells of all rows of four."""


def evaluate_duploline(position: Position) -> int:
    """Rows of four that one side has to itself, above all those that lack one piece, if it can be played."""
    duploline = cast(DuplolinePosition, position)
    white, black = duploline.pieces
    mine, theirs = (white, black) if duploline.side is Side.WHITE else (black, white)
    worth = threats = 0
    for kind in KINDS:
        value, gaps = rows_of_four(mine[kind], theirs[kind])
        worth += value
        if gaps and playable(gaps, mine, theirs, kind):
            worth += WIN_NEXT
        value, gaps = rows_of_four(theirs[kind], mine[kind])
        worth -= value
        if gaps:
            threats += playable(gaps, theirs, mine, kind).bit_count()
    return worth - READY[min(threats, len(READY) - 1)]


@lru_cache(CACHED)
def rows_of_four(own: int, other: int) -> tuple[int, int]:
    """What the rows of four are worth that ``other`` is not in, and the cells where one piece completes one.

    All rows along an axis are looked at together: shifted, their first, second, third
    and fourth cells come to lie upon one another.
    """
    worth = gaps = 0
    for axis, starts in zip(AXES, STARTS, strict=True):
        open_rows = starts & ~(other | other >> axis | other >> 2 * axis | other >> 3 * axis)
        first, second, third, fourth = own, own >> axis, own >> 2 * axis, own >> 3 * axis
        one_left, two_left = (first ^ second) & open_rows, first & second & open_rows
        one_right, two_right = (third ^ fourth) & open_rows, third & fourth & open_rows
        none_left, none_right = open_rows & ~(first | second), open_rows & ~(third | fourth)
        triples = one_left & two_right | two_left & one_right
        pairs = two_left & none_right | none_left & two_right | one_left & one_right
        singles = one_left & none_right | none_left & one_right
        worth += SINGLE * singles.bit_count() + PAIR * pairs.bit_count() + TRIPLE * triples.bit_count()
        if triples:
            gaps |= triples & ~first | (triples & ~second) << axis
            gaps |= (triples & ~third) << 2 * axis | (triples & ~fourth) << 3 * axis
    return worth, gaps


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
"""By the ladder's code."""
