"""Counting move sequences: the usual check of one move generator against another."""

from __future__ import annotations

from engines.rules.base import Position


def perft(position: Position, depth: int) -> int:
    """How many sequences of exactly ``depth`` tokens the rules of the game allow from here.

    Two tokens that lead to the same position are two moves; match rules do not
    apply. The cost is the count of the depth before, in played moves: the last ply is counted, not played.
    """
    if depth == 0:
        return 1
    if depth == 1:
        return position.count_moves()
    return sum(perft(position.play(token), depth - 1) for token in position.legal_moves())
