"""Hard positions of each ladder with their perft counts, to test a move generator, from ``data/positions``.

A line is a position string and the number of sequences of 1, 2, 3 … moves from it. A position that is
over has its result as well, in a game with scores followed by White's and Black's::

    4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0 ;D1 8 ;D2 70 ;D3 558
    0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 21 ;D1 0 ;D2 0 ;D3 0 ;result 1/2-1/2 seeds 24 24

The smallest positions have more depths, because a few wrong rules show only there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "data" / "positions"


@dataclass(frozen=True, slots=True)
class HardPosition:
    """A position string with its perft counts from depth 1; ``result`` is "" unless the game is over."""

    position: str
    counts: tuple[int, ...]
    result: str

    def __str__(self) -> str:
        """The line of the file."""
        parts = [self.position, *(f"D{depth} {count}" for depth, count in enumerate(self.counts, start=1))]
        return " ;".join([*parts, f"result {self.result}"] if self.result else parts)


def read_hard_positions(code: str) -> tuple[HardPosition, ...]:
    """The positions of a ladder in the order of its file; none if it has no file."""
    path = FOLDER / f"{code}.txt"
    if not path.exists():
        return ()
    return tuple(_parse(line) for line in path.read_text(encoding="ascii").splitlines())


def _parse(line: str) -> HardPosition:
    position, *parts = line.split(" ;")
    words = dict(part.split(" ", 1) for part in parts)
    result = words.pop("result", "")
    return HardPosition(position, tuple(int(count) for count in words.values()), result)
