"""Sets of cells of the hexagon with four to a side: neighbours, steps, connection and lines.

A set is a machine word, with the cells numbered by a pitch (see ``hexagon``): one
shift moves all its cells one step, so that most functions compute their result for
every cell of the board at once, by some twenty operations and no loop.
"""

from __future__ import annotations

from typing import Final

from engines.rules.hexagon import Hexagon
from engines.rules.native import i64

PITCH: Final = 8
"""Longest row plus one: the eighth column has no cells and absorbs bits that are shifted off a row."""

SLANT: Final = PITCH + 1
"""The step to the row above at the next number; the two other steps are 1 and ``PITCH``."""

BOARD: Final = Hexagon(4, PITCH)
FULL: Final[i64] = BOARD.full

_EVEN: Final = 0x55_5555_5555_5555
_PAIRS: Final = 0x33_3333_3333_3333
_NIBBLES: Final = 0x0F_0F0F_0F0F_0F0F
"""Every other bit, pair of bits and four bits of the seven rows."""


def count_steps(origins: i64, targets: i64) -> i64:
    """The number of steps from a cell of one set to a neighbour in the other; the sets must be disjoint.

    A step along an axis, in either direction, is marked at its upper end. As the sets are
    disjoint, no mark stands for two steps, and three sets of marks are enough instead of six.
    """
    along = (origins << 1 & targets) | (targets << 1 & origins)
    upright = (origins << PITCH & targets) | (targets << PITCH & origins)
    aslant = (origins << SLANT & targets) | (targets << SLANT & origins)
    return _total(_by_fours(along) + _by_fours(upright) + _by_fours(aslant))


def _by_fours(cells: i64) -> i64:
    """The bit counts of each group of four bits; three such words can be added without a carry."""
    pairs = cells - (cells >> 1 & _EVEN)
    return (pairs & _PAIRS) + (pairs >> 2 & _PAIRS)


def _total(fours: i64) -> i64:
    """The sum of the groups of four bits, at most 254; the remainder by 255 adds up the bytes."""
    return ((fours & _NIBBLES) + (fours >> 4 & _NIBBLES)) % 255


def next_to(cells: i64) -> i64:
    """The cells with a neighbour in the set; they may be in the set themselves."""
    along = cells << 1 | cells >> 1
    upright = cells << PITCH | cells >> PITCH
    aslant = cells << SLANT | cells >> SLANT
    return (along | upright | aslant) & FULL


def joined(goal: i64, within: i64) -> bool:
    """Whether one connected group of ``within`` contains all of ``goal``; a flood fill."""
    reached = goal & -goal
    while goal & ~reached:
        grown = (reached | next_to(reached)) & within
        if grown == reached:
            return False
        reached = grown
    return True


def may_leave(cell: i64, group: i64) -> bool:
    """Whether a connected group stays connected without one of its cells, given as a set.

    Every path through the cell passes its neighbours, so the rest is one group
    if these are connected without it.
    """
    rest = group ^ cell
    return joined(rest & next_to(cell), rest)


def leavers(cells: i64, group: i64) -> i64:
    """Those of ``cells`` without which their connected group stays connected, each considered alone.

    If the neighbours of a cell that belong to the group are consecutive around it, they
    are connected without it. Only the few other cells need a flood fill.
    """
    doubtful = cells & parting(group)
    found = cells ^ doubtful
    while doubtful:
        cell = doubtful & -doubtful
        if may_leave(cell, group):
            found |= cell
        doubtful ^= cell
    return found


def parting(group: i64) -> i64:
    """The cells of the board around which the members of the group form more than one run.

    A run begins at each member whose predecessor around the cell is not a member. Two successive
    neighbours cannot both begin a run, so in each of three pairs of neighbours at most one does,
    and there is more than one run if two of the three pairs have a beginning.
    """
    right, upper_right, upper_left = group >> 1, group >> SLANT, group >> PITCH
    left, lower_left, lower_right = group << 1, group << SLANT, group << PITCH
    one = (right & ~lower_right) | (upper_right & ~right)
    two = (upper_left & ~upper_right) | (left & ~upper_left)
    three = (lower_left & ~left) | (lower_right & ~lower_left)
    return (one & two | two & three | three & one) & FULL


def has_line(cells: i64) -> bool:
    """Whether the set has four consecutive cells on a line: a pair, and another pair two steps further."""
    along = cells & cells >> 1
    upright = cells & cells >> PITCH
    aslant = cells & cells >> SLANT
    return (along & along >> 2 | upright & upright >> 2 * PITCH | aslant & aslant >> 2 * SLANT) != 0
