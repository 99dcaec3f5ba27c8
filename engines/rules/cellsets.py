"""Sets of cells of the hexagon with four to a side: neighbours, steps, connection and lines.

A set is a machine word, with the cells numbered by a pitch (see ``hexagon``): one
shift moves all its cells one step, so that most questions are answered for every
cell of the board at once, by some twenty operations and no loop. What a game
makes of the answers is not told here.
"""

from __future__ import annotations

from typing import Final

from engines.rules.hexagon import Hexagon
from engines.rules.native import i64

PITCH: Final = 8
"""Longest row plus one: the eighth column is no cell and stops what is shifted off a row."""

SLANT: Final = PITCH + 1
"""The step to the row above at the next number; the two other steps are 1 and ``PITCH``."""

BOARD: Final = Hexagon(4, PITCH)
FULL: Final[i64] = BOARD.full

_EVEN: Final = 0x55_5555_5555_5555
_PAIRS: Final = 0x33_3333_3333_3333
_NIBBLES: Final = 0x0F_0F0F_0F0F_0F0F
"""Every other bit, pair of bits and four bits of the seven rows."""


def count_steps(origins: i64, targets: i64) -> i64:
    """How many steps lead from a cell of one set to a neighbour in the other; they must share no cell.

    A step along an axis, there or back, is marked at its upper end. As the sets share no
    cell, no mark stands for two steps, and three sets of marks take the place of six.
    """
    along = (origins << 1 & targets) | (targets << 1 & origins)
    upright = (origins << PITCH & targets) | (targets << PITCH & origins)
    aslant = (origins << SLANT & targets) | (targets << SLANT & origins)
    return _total(_by_fours(along) + _by_fours(upright) + _by_fours(aslant))


def _by_fours(cells: i64) -> i64:
    """The bits of every four counted in their place; three such words can be added without a carry."""
    pairs = cells - (cells >> 1 & _EVEN)
    return (pairs & _PAIRS) + (pairs >> 2 & _PAIRS)


def _total(fours: i64) -> i64:
    """The sum of numbers of four bits each, at most 254: 256 leaves 1, so bytes add up in the remainder."""
    return ((fours & _NIBBLES) + (fours >> 4 & _NIBBLES)) % 255


def next_to(cells: i64) -> i64:
    """The cells that have a neighbour in the set; they may belong to the set themselves."""
    along = cells << 1 | cells >> 1
    upright = cells << PITCH | cells >> PITCH
    aslant = cells << SLANT | cells >> SLANT
    return (along | upright | aslant) & FULL


def joined(goal: i64, within: i64) -> bool:
    """Whether one connected group of ``within`` holds all of ``goal``: a flood fill from one of its cells."""
    reached = goal & -goal
    while goal & ~reached:
        grown = (reached | next_to(reached)) & within
        if grown == reached:
            return False
        reached = grown
    return True


def may_leave(cell: i64, group: i64) -> bool:
    """Whether a connected group stays connected without one of its cells, given as a set.

    Every way through the cell leads over its neighbours: the rest stays one group
    if these are joined without it.
    """
    rest = group ^ cell
    return joined(rest & next_to(cell), rest)


def leavers(cells: i64, group: i64) -> i64:
    """Those of ``cells`` that may leave the connected group they belong to, each by itself.

    Where the neighbours of a cell that belong to the group stand in one row around it,
    they are joined without it. Only the few others need a flood fill.
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
    """The cells of the board around which members of the group stand in more than one row.

    A row begins at each member whose predecessor, going round, is none. Rows cannot begin
    at two successive neighbours, so of the six at most one in each of three pairs begins
    one, and there is more than one row where two of the three pairs have a beginning.
    """
    right, upper_right, upper_left = group >> 1, group >> SLANT, group >> PITCH
    left, lower_left, lower_right = group << 1, group << SLANT, group << PITCH
    one = (right & ~lower_right) | (upper_right & ~right)
    two = (upper_left & ~upper_right) | (left & ~upper_left)
    three = (lower_left & ~left) | (lower_right & ~lower_left)
    return (one & two | two & three | three & one) & FULL


def has_line(cells: i64) -> bool:
    """Whether the set has four consecutive cells on a line: a pair, and another pair two steps on."""
    along = cells & cells >> 1
    upright = cells & cells >> PITCH
    aslant = cells & cells >> SLANT
    return (along & along >> 2 | upright & upright >> 2 * PITCH | aslant & aslant >> 2 * SLANT) != 0
