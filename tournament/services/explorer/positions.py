"""The numbers of positions in the tables of the explorer.

A number has 63 bits: the ladder's in the upper ones, so that a ladder's positions are a range; the side to
move in the lowest; between them a hash of the canonical form. The chance that any two of twenty million
positions of a ladder have the same number is about one in 200.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Final

from engines.rules.base import Side

LADDER_BIT: Final = 56
LADDERS: Final = 1 << (63 - LADDER_BIT)
_HASHED: Final = (1 << LADDER_BIT) - 2
"""The bits of the hash."""


def position_number(ladder: str, form: Hashable, side: Side) -> int:
    """The number of a position by its canonical form (``Position.canonical``), and its side to move."""
    digest = blake2b(repr(form).encode(), digest_size=8).digest()
    return first_number(ladder) | (int.from_bytes(digest, "big") & _HASHED) | int(side)


def first_number(ladder: str) -> int:
    """The least number of a position of the ladder."""
    return zlib.crc32(ladder.encode()) % LADDERS << LADDER_BIT


def ranges(ladder: str, count: int) -> Iterator[tuple[int, int]]:
    """The numbers of a ladder in ``count`` ranges of the same length, each from its first to its last."""
    first, size = first_number(ladder), 1 << LADDER_BIT
    bounds = [first + size * n // count for n in range(count + 1)]
    for begin, end in pairwise(bounds):
        yield begin, end - 1
