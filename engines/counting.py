"""Perft within limits: it ends at Ctrl-C, and counts no further than it may.

Compiled rules notice no signal, so plain Python plays all but the last plies.
"""

from __future__ import annotations

from engines.rules import perft as rules_perft
from engines.rules.base import Position

LAST_PLIES = 2
"""A count of so many plies takes far less than a second."""


def perft(position: Position, depth: int) -> int:
    """As ``engines.rules.perft``, at the same speed."""
    if depth <= LAST_PLIES:
        return rules_perft(position, depth)
    return sum(perft(position.play(token), depth - 1) for token in position.legal_moves())


def perft_until(position: Position, depth: int, most: int) -> list[int]:
    """The counts of depth 1, 2, … ``depth``; fewer if the next one would play more than ``most`` moves.

    A count plays as many moves as those of lesser depth have counted.
    """
    counts: list[int] = []
    while len(counts) < depth and sum(counts) <= most:
        counts.append(perft(position, len(counts) + 1))
    return counts
