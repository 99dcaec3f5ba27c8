"""A task as a line of ``data/tasks``: kind, position, the moves that solve it, and the defence.

A win in two also has the opponent's best defence, which leaves the fewest winning moves::

    capture ;0,2,4,3,0,1/0,2,3,2,11,1 b 11 8 - - 21 ;c2+
    win-in-two ;0,0,0,0,0,11/8,8,3,9,1,3 w 5 0 - - 10 ;c1- ;f2+

The files were made by these commands, the second for every ladder; both bots depend on the seed and the depth
alone, so they make the same bytes everywhere::

    python3 -m workers match -engine cmd="python3 -m engines.bots.alphabeta_bot" name=Alphabeta \\
        -engine cmd="python3 -m engines.bots.greedy_bot" name=Greedy -each depth=2 -rounds 60 -seed 1 \\
        -game duovallis dualma dogon-kulei dogon-gagara duploline -records games.pgn
    python3 -m engines tasks GAME --seed 1 games.pgn
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "data" / "tasks"


class Kind(enum.StrEnum):
    """What a task asks of the side to move."""

    CAPTURE = "capture"
    """Capture more than with any other move."""
    FORCE_PASS = "force-pass"
    """Leave the opponent without any move but a pass."""
    WIN_IN_ONE = "win-in-one"
    DEFEND = "defend"
    """Leave the opponent no move that wins at once."""
    WIN_IN_TWO = "win-in-two"
    """Win with the next move but one, whatever the opponent answers."""


@dataclass(frozen=True, slots=True)
class Task:
    """``moves`` are all moves that solve it; ``defence`` answers the only one of a win in two, else ""."""

    kind: Kind
    position: str
    moves: tuple[str, ...]
    defence: str = ""

    def __str__(self) -> str:
        """The line of the file."""
        parts = [self.kind, self.position, " ".join(self.moves)]
        return " ;".join([*parts, self.defence] if self.defence else parts)


@cache
def read_tasks(code: str) -> tuple[Task, ...]:
    """The tasks of a ladder, easiest first; none if it has no file."""
    path = FOLDER / f"{code}.txt"
    if not path.exists():
        return ()
    return tuple(_parse(line) for line in path.read_text(encoding="ascii").splitlines())


def _parse(line: str) -> Task:
    kind, position, moves, *defence = line.split(" ;")
    return Task(Kind(kind), position, tuple(moves.split()), "".join(defence))
