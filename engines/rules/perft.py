"""Counts move sequences, to compare one move generator with another."""

from __future__ import annotations

from engines.rules.base import Position


def perft(position: Position, depth: int) -> int:
    """The number of sequences of exactly ``depth`` legal tokens from ``position``.

    Two tokens that lead to the same position are two moves; match rules do not
    apply. The last ply is counted, not played, so the cost is that of playing ``depth - 1`` plies.
    """
    if depth == 0:
        return 1
    if depth == 1:
        return position.count_moves()
    return sum(perft(position.play(token), depth - 1) for token in position.legal_moves())
