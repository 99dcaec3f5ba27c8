"""The tree of a Monte Carlo tree search (UCT): its nodes and how values are backed up.

A node is a move and the position after it. Chances are from 0 (lost) to 1 (won), for
the side that made the node's move, so they are inverted from one node to the next.

- *Minimax.* A mean hides a single good reply. So the chance of a move is partly the mean
  of all values below it, partly the value after the best reply (Lanctot and others,
  "Monte Carlo Tree Search with Heuristic Evaluations using Implicit Minimax Backups",
  2014).
- *Widening.* Of many moves the most promising are added first, and more with the
  number of visits (Chaslot and others, "Progressive Strategies for Monte-Carlo Tree
  Search", 2008).
- *Proofs.* Decided games are backed up as proven values, and proven nodes are not
  visited again (Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver", 2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from engines.rules.base import Position

EXPLORATION: Final = 0.05
"""The weight of exploring moves with few visits."""
MINIMAX: Final = 0.5
"""The part of a move's chance that comes from the best reply; the rest is the mean."""
WIDENING: Final = 2.0
"""The number of children after the first visit; it grows with the square root of the visits."""
WON: Final = 1.0
DRAWN: Final = 0.5
LOST: Final = 0.0
NO_MORE: Final[Iterator[str]] = iter(())


class Node:
    """A move in the tree. Its initial value counts as its first visit."""

    __slots__ = (
        "assured",
        "chance",
        "children",
        "complete",
        "left",
        "plies",
        "position",
        "rest",
        "token",
        "total",
        "undecided",
        "verdict",
        "visits",
    )

    def __init__(self, token: str = "", chance: float = DRAWN, verdict: float | None = None) -> None:
        self.token = token
        self.position: Position | None = None
        """None before the node is visited."""
        self.visits = 1
        self.chance = chance
        """The estimated chance of the move; see ``count``."""
        self.total = chance
        """The sum of the chances found, one a visit."""
        self.left = chance
        """The chance after the best reply."""
        self.verdict = verdict
        """``WON``, ``DRAWN`` or ``LOST`` if proven, ``plies`` from here; else None."""
        self.plies = 0
        self.children: Sequence[Node] = ()
        self.undecided: list[Node] = []
        """The children that are not proven."""
        self.assured = LOST
        """The best proven result of a child for the side to move."""
        self.rest = NO_MORE
        """The moves that are not among the children after the first expansion, most promising first."""
        self.complete = False
        """Whether the children are all legal moves."""

    def is_narrow(self) -> bool:
        """Whether moves should be added: there are few for the number of visits, or all are proven."""
        if self.complete:
            return False
        return not self.undecided or len(self.children) < WIDENING * math.sqrt(self.visits)

    def select(self) -> Node:
        """The child to visit next: one with a high chance or with few visits (UCB1)."""
        exploration = EXPLORATION * math.sqrt(math.log(self.visits + 1))
        sqrt = math.sqrt
        bounds = [child.chance + exploration / sqrt(child.visits) for child in self.undecided]
        return self.undecided[bounds.index(max(bounds))]

    def best(self) -> Node | None:
        """The move to play: a win, else the most visited, or a proven draw if better; None if none."""
        best = max(self.undecided, key=lambda child: (child.visits, child.chance), default=None)
        if best is not None and self.assured <= best.chance:
            return best
        proven = [child for child in self.children if child.verdict == self.assured]
        if self.assured == LOST:
            return max(proven, key=lambda child: child.plies, default=None)
        return min(proven, key=lambda child: child.plies)

    def grow(self, children: Sequence[Node], complete: bool) -> None:
        """Add children; ``complete`` if these are the last moves."""
        self.children = [*self.children, *children]
        self.complete = complete
        for child in children:
            if child.verdict is None:
                self.undecided.append(child)
            else:
                self.assured = max(self.assured, child.verdict)
        self.conclude()

    def settle(self, child: Node) -> None:
        """Record that a child is proven."""
        assert child.verdict is not None
        self.undecided.remove(child)
        self.assured = max(self.assured, child.verdict)
        self.conclude()

    def conclude(self) -> None:
        """Prove the node if possible: one winning move proves a win, a loss needs all moves to be lost."""
        if self.assured == WON or (self.complete and not self.undecided):
            best = self.best()
            assert best is not None
            self.verdict = 1 - self.assured
            self.plies = best.plies + 1
        else:
            self.left = 1 - max([self.assured, *[child.left for child in self.undecided]])

    def count(self, chance: float) -> None:
        """Record a visit that found this chance."""
        self.visits += 1
        self.total += chance
        mean = self.total / self.visits
        self.chance = mean + MINIMAX * (self.left - mean) if self.verdict is None else self.verdict


def back_up(path: Sequence[Node]) -> None:
    """Back up the value of the last node of a path to all nodes before it."""
    last = path[-1]
    chance = last.left if last.verdict is None else last.verdict
    last.count(chance)
    child = last
    for node in path[-2::-1]:
        if child.verdict is None:
            node.conclude()
        else:
            node.settle(child)
        chance = 1 - chance if node.verdict is None else node.verdict
        node.count(chance)
        child = node
