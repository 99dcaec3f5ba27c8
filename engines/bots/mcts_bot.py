"""MCTS: a tree that grows where the good moves are (UCT), within its clock.

From top to bottom: ``choose`` has ``MctsSearch`` make one simulation after the other. A
simulation goes down the tree to a position not looked at before, which is one node,
adds its moves, and carries what they promise back up. What a move promises is what
``evaluation`` says of the position after it, as a chance to win. How the tree is grown
is told in ``tree``, which moves are looked at in ``candidates``, when to answer in
``pace``.

No game is played on by lot. Against itself without, with six plies of that before the
evaluation it had 48 % of the points in Duovallis and in Dogon kulei, 50 in DuAlma and 32 in
DuploLine; with games played to the end 20 % in Dogon kulei.

The score is the chance ``p`` to win, as the tree sees it, in hundredths of
``ln(p / (1 - p))``: 0 is even, 100 is 73 %, 220 is 90 %. The percentage stands beside it.
With ``go nodes`` or ``go depth`` and a seed its games can be repeated.
"""

from __future__ import annotations

import gc
import math
from itertools import islice
from typing import Final

from engines.bots.candidates import GUIDES, Candidates, other_moves
from engines.bots.endings import Endings
from engines.bots.evaluation import EVALUATIONS, MATE, worth_of
from engines.bots.pace import SearchPace
from engines.bots.tree import LOST, WON, Node, carry_up
from engines.rules.base import Position
from engines.sdk import BotTurn, run

SCALES: Final = {
    "duovallis": 1200.0,
    "dualma": 150.0,
    "dogon-kulei": 500.0,
    "dogon-gagara": 800.0,
    "duploline": 900.0,
}
"""By the ladder's code: to be ahead by so much is a chance of 73 %.

About what games of the bot against itself show; in Duovallis it plays better for believing less.
"""
SURE: Final = 12.0
"""The most that is believed of what is not proven, in such units."""
BATCH: Final = 16
"""Moves that are added at a time to those worth looking at first."""
A_PLY: Final = 400
"""Simulations that ``go depth`` gets for each ply: a tree has no depth that it is done with."""
FULL: Final = 300_000
"""Moves in a tree, at some 300 bytes each; a full one grows no more."""
UNLIMITED: Final = 1 << 62
PACE: Final = SearchPace()


def choose(turn: BotTurn) -> str:
    PACE.begin(turn)
    return MctsSearch(turn, MEMORY).choose()


class Memory:
    """The tree of a move, for the next of the same game."""

    def __init__(self) -> None:
        self.root: Node | None = None

    def forget(self) -> None:
        self.root = None

    def recall(self, position: Position) -> Node | None:
        """The node of ``position``, two plies into the tree; the rest of it is forgotten."""
        old, self.root = self.root, None
        for child in old.children if old is not None else ():
            for answer in child.children:
                if answer.position == position:
                    return answer
        return None


MEMORY: Final = Memory()


class MctsSearch:
    """One search; its tree is left in the memory."""

    def __init__(self, turn: BotTurn, memory: Memory) -> None:
        self.turn = turn
        self.memory = memory
        self.guide = GUIDES[turn.game.code]
        self.evaluate = EVALUATIONS[turn.game.code]
        self.scale = SCALES[turn.game.code]
        self.endings = Endings(turn.history)
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_depth = UNLIMITED if depth is None else max(depth, 0)
        self.most_nodes = min(UNLIMITED if nodes is None else nodes, A_PLY * self.most_depth)
        self.nodes = 0
        known = memory.recall(turn.position)
        # a tree grown before a position was seen twice knows nothing of the draw that has come near
        self.root = Node() if known is None or self.endings.repeated else known
        self.root.position = turn.position
        self.size = size_of(self.root)

    def choose(self) -> str:
        """The best move of the tree when it has grown for as long as it may."""
        next_report = 64
        while self.nodes < self.most_nodes and self.is_open() and not PACE.must_answer():
            self.simulate()
            if self.nodes == next_report:
                self.report()
                next_report *= 2
        self.report()
        if not self.endings.repeated:
            self.memory.root = self.root
        best = self.root.best()
        return next(self.turn.position.legal_moves()) if best is None else best.token

    def is_open(self) -> bool:
        """Whether there is anything to find out; with one move only, the clock could better be spared."""
        root = self.root
        forced = root.complete and len(root.children) == 1 and self.turn.clock.budget_ms is not None
        return root.verdict is None and not forced

    def simulate(self) -> None:
        """Go down to a position that was not looked at before, and tell what it promises."""
        node, position = self.root, self.turn.position
        path = [node]
        while not node.is_narrow() and node.undecided and len(path) <= self.most_depth:
            node = node.select()
            path.append(node)
            if node.position is None:
                node.position = position.play(node.token)
            position = node.position
        if self.size < FULL and len(path) <= self.most_depth:
            self.expand(node, position)
        self.nodes += 1
        carry_up(path)

    def expand(self, node: Node, position: Position) -> None:
        """Add the moves worth looking at first, or else some of the others."""
        if node.children:
            tokens = list(islice(node.rest, BATCH))
            complete = len(tokens) < BATCH
        else:
            tokens, complete = self.candidates(position)
            node.rest = other_moves(position, tokens)
            if node is self.root:
                self.turn.random.shuffle(tokens)  # equals stay in this order
        self.size += len(tokens)
        node.grow([self.look(position, token) for token in tokens], complete)

    def candidates(self, position: Position) -> Candidates:
        win = self.guide.winning_move(position)
        return self.guide.candidates(position) if win is None else ([win], False)

    def look(self, position: Position, token: str) -> Node:
        """A move with what it promises."""
        after = position.play(token)
        outcome = self.endings.outcome(after)
        if outcome.decided:
            share = (1 + worth_of(outcome, position.side) / MATE) / 2
            return Node(token, share, share)
        promise = -self.evaluate(after) / self.scale
        return Node(token, 1 / (1 + math.exp(-max(-SURE, min(SURE, promise)))))

    def report(self) -> None:
        root = self.root
        chance = 1 - root.chance
        line = self.line()
        mates = {WON: -root.plies, LOST: root.plies}
        self.turn.info(
            depth=len(line),
            score=round(100 * math.log(chance / (1 - chance))) if 0 < chance < 1 else 0,
            mate=None if root.verdict is None else mates.get(root.verdict),
            nodes=self.nodes,
            pv=line,
            string=f"{chance:.1%} to win",
        )

    def line(self) -> list[str]:
        """The best moves of both sides, as far as they were looked at."""
        line: list[str] = []
        node = self.root.best()
        while node is not None:
            line.append(node.token)
            node = node.best()
        return line[: self.most_depth]


def size_of(tree: Node) -> int:
    """The moves in a tree."""
    size, nodes = 0, [tree]
    while nodes:
        children = nodes.pop().children
        size += len(children)
        nodes.extend(children)
    return size


if __name__ == "__main__":
    gc.disable()  # a tree has no cycles, and looking for some in a large one takes longer than the margin
    run(choose, name="MCTS", author="Duarena", on_new_game=MEMORY.forget)
