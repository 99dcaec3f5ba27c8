"""The tree of a search that tries good moves more often (UCT): what is known of each, how it is carried up.

A node is a move and the position after it. Chances go from 0, lost, to 1, won; those
of a node are the chances of the side that made its move, so from one node to the
next they turn around.

- *Minimax.* A mean hides the one good reply. So the chance of a move is part mean of
  all that was found beyond it, part what the best reply leaves of it (Lanctot and
  others, "Monte Carlo Tree Search with Heuristic Evaluations using Implicit Minimax
  Backups", 2014).
- *Widening.* Of many moves, the most promising come first, and only as many as the
  visits are worth (Chaslot and others, "Progressive Strategies for Monte-Carlo Tree
  Search", 2008).
- *Proofs.* The end of the game is carried up as such, and what is proven is visited
  no more (Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver", 2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from engines.rules.base import Position

EXPLORATION: Final = 0.05
"""How much a move is worth trying only because it was tried less than others."""
MINIMAX: Final = 0.5
"""The part of a move's chance that comes from the best reply; the rest is the mean."""
WIDENING: Final = 2.0
"""The children that the first visit is worth; those that many are worth grow with their root."""
WON: Final = 1.0
DRAWN: Final = 0.5
LOST: Final = 0.0
NO_MORE: Final[Iterator[str]] = iter(())


class Node:
    """A move in the tree. What it promised when it was added counts as its first visit."""

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
        """What the move is taken to be worth; see ``count``."""
        self.total = chance
        """Of the chances found, one a visit."""
        self.left = chance
        """The chance that the best reply leaves."""
        self.verdict = verdict
        """``WON``, ``DRAWN`` or ``LOST`` where that is proven, so many plies from here."""
        self.plies = 0
        self.children: Sequence[Node] = ()
        self.undecided: list[Node] = []
        """Those children that are not proven."""
        self.assured = LOST
        """What the best of the others gives to the side to move."""
        self.rest = NO_MORE
        """The moves that are not among the children, once there are any; the most promising first."""
        self.complete = False
        """Whether the children are all the moves there are."""

    def is_narrow(self) -> bool:
        """Whether the visits are worth more moves than were looked at, or all of those are proven."""
        if self.complete:
            return False
        return not self.undecided or len(self.children) < WIDENING * math.sqrt(self.visits)

    def select(self) -> Node:
        """The child to visit next: a good one, or one that was visited little (UCB1)."""
        curiosity = EXPLORATION * math.sqrt(math.log(self.visits + 1))
        sqrt = math.sqrt
        hopes = [child.chance + curiosity / sqrt(child.visits) for child in self.undecided]
        return self.undecided[hopes.index(max(hopes))]

    def best(self) -> Node | None:
        """The move to play: a win, else the most visited, but a draw before the worse half; None of none."""
        best = max(self.undecided, key=lambda child: (child.visits, child.chance), default=None)
        if best is not None and self.assured <= best.chance:
            return best
        proven = [child for child in self.children if child.verdict == self.assured]
        if self.assured == LOST:
            return max(proven, key=lambda child: child.plies, default=None)
        return min(proven, key=lambda child: child.plies)

    def grow(self, children: Sequence[Node], complete: bool) -> None:
        """Add moves; ``complete`` if there are no others now."""
        self.children = [*self.children, *children]
        self.complete = complete
        for child in children:
            if child.verdict is None:
                self.undecided.append(child)
            else:
                self.assured = max(self.assured, child.verdict)
        self.conclude()

    def settle(self, child: Node) -> None:
        """Take note that a child is proven."""
        assert child.verdict is not None
        self.undecided.remove(child)
        self.assured = max(self.assured, child.verdict)
        self.conclude()

    def conclude(self) -> None:
        """A side has won with one move that wins, and has not lost before all moves are lost."""
        if self.assured == WON or (self.complete and not self.undecided):
            best = self.best()
            assert best is not None
            self.verdict = 1 - self.assured
            self.plies = best.plies + 1
        else:
            self.left = 1 - max([self.assured, *[child.left for child in self.undecided]])

    def count(self, chance: float) -> None:
        """One visit more, which found this chance."""
        self.visits += 1
        self.total += chance
        mean = self.total / self.visits
        self.chance = mean + MINIMAX * (self.left - mean) if self.verdict is None else self.verdict


def carry_up(path: Sequence[Node]) -> None:
    """What the last node of a path turned out to be, to all those it was reached through."""
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
