"""MCTS: Monte Carlo tree search (UCT), within its clock.

``choose`` makes simulations with ``MctsSearch``. A simulation descends the tree to a
position that was not visited before, which counts as one node, adds its moves, and
backs up their values. The value of a move is the chance to win that ``evaluation``
gives for the position after it. ``tree`` defines how the tree grows, ``candidates``
which moves are added, ``pace`` when to answer.

There are no random playouts. Against this version, one with six random plies before the
evaluation scored 48 % of the points in Duovallis and in Dogon kulei, 50 in DuAlma and 32 in
DuploLine; one with games played to the end 20 % in Dogon kulei.

The score is ``ln(p / (1 - p))`` of the estimated chance ``p`` to win, times the ``score_scale``
of the game, so that it compares with the scores of other bots. The percentage is beside it.
With ``go nodes`` or ``go depth`` and a seed its games can be repeated.
"""

from __future__ import annotations

import gc
import math
from itertools import islice
from typing import Final

from engines.bots.candidates import Candidates, guide_of, other_moves
from engines.bots.endings import Endings
from engines.bots.evaluation import MATE, evaluation_of, final_score
from engines.bots.pace import SearchPace
from engines.bots.tree import LOST, WON, Node, back_up
from engines.rules.base import Position
from engines.sdk import BotTurn, run

SCALES: Final = {
    "duovallis": 1200.0,
    "dualma": 150.0,
    "dogon-kulei": 500.0,
    "dogon-gagara": 800.0,
    "duploline": 900.0,
}
"""The evaluation that means a chance of 73 %, by the ladder's code. Estimated from games of the bot against
itself; in Duovallis a higher value plays better."""
DEFAULT_SCALE: Final = 100.0
"""The scale of games that ``SCALES`` does not list."""
MAX_SCORE: Final = 12.0
"""The limit of an evaluation in these units, so that only proven results are certain."""
BATCH: Final = 16
"""Moves that are added at a time after the first candidates."""
NODES_A_PLY: Final = 400
"""Simulations for each ply of ``go depth``, because a tree has no depth at which it is complete."""
MAX_SIZE: Final = 300_000
"""The most moves in a tree, at some 300 bytes each."""
UNLIMITED: Final = 1 << 62
PACE: Final = SearchPace()


def choose(turn: BotTurn) -> str:
    PACE.begin(turn)
    return MctsSearch(turn, MEMORY).choose()


class Memory:
    """Keeps the tree of a move for the next move of the same game."""

    def __init__(self) -> None:
        self.root: Node | None = None

    def forget(self) -> None:
        self.root = None

    def recall(self, position: Position) -> Node | None:
        """The node of ``position``, two plies below the root; the rest of the tree is dropped."""
        old, self.root = self.root, None
        for child in old.children if old is not None else ():
            for answer in child.children:
                if answer.position == position:
                    return answer
        return None


MEMORY: Final = Memory()


class MctsSearch:
    """One search; it stores its tree in the memory."""

    def __init__(self, turn: BotTurn, memory: Memory) -> None:
        self.turn = turn
        self.memory = memory
        self.guide = guide_of(turn.game.code)
        self.evaluate = evaluation_of(turn.game.code)
        self.scale = SCALES.get(turn.game.code, DEFAULT_SCALE)
        self.endings = Endings(turn.history)
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_depth = UNLIMITED if depth is None else max(depth, 0)
        self.most_nodes = min(UNLIMITED if nodes is None else nodes, NODES_A_PLY * self.most_depth)
        self.nodes = 0
        known = memory.recall(turn.position)
        # an older tree does not know that a repeated position is now a draw
        self.root = Node() if known is None or self.endings.repeated else known
        self.root.position = turn.position
        self.size = size_of(self.root)

    def choose(self) -> str:
        """Grow the tree within the limits; returns its best move."""
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
        """Whether a search is useful: the result is not proven, and there is more than one move."""
        root = self.root
        forced = root.complete and len(root.children) == 1 and self.turn.clock.budget_ms is not None
        return root.verdict is None and not forced

    def simulate(self) -> None:
        """Descend to a position that was not visited before, and back up its value."""
        node, position = self.root, self.turn.position
        path = [node]
        while not node.is_narrow() and node.undecided and len(path) <= self.most_depth:
            node = node.select()
            path.append(node)
            if node.position is None:
                node.position = position.play(node.token)
            position = node.position
        if self.size < MAX_SIZE and len(path) <= self.most_depth:
            self.expand(node, position)
        self.nodes += 1
        back_up(path)

    def expand(self, node: Node, position: Position) -> None:
        """Add the candidates, or if they are in the tree some of the other moves."""
        if node.children:
            tokens = list(islice(node.rest, BATCH))
            complete = len(tokens) < BATCH
        else:
            tokens, complete = self.candidates(position)
            node.rest = other_moves(position, tokens)
            if node is self.root:
                self.turn.random.shuffle(tokens)  # moves with equal values keep this order
        self.size += len(tokens)
        node.grow([self.make_child(position, token) for token in tokens], complete)

    def candidates(self, position: Position) -> Candidates:
        win = self.guide.winning_move(position)
        return self.guide.candidates(position) if win is None else ([win], False)

    def make_child(self, position: Position, token: str) -> Node:
        """The node of a move with its first value."""
        after = position.play(token)
        outcome = self.endings.outcome(after)
        if outcome.decided:
            share = (1 + final_score(outcome, position.side) / MATE) / 2
            return Node(token, share, share)
        score = -self.evaluate(after) / self.scale
        return Node(token, 1 / (1 + math.exp(-max(-MAX_SCORE, min(MAX_SCORE, score)))))

    def report(self) -> None:
        root = self.root
        chance = 1 - root.chance
        line = self.line()
        mates = {WON: -root.plies, LOST: root.plies}
        self.turn.info(
            depth=len(line),
            score=round(self.turn.game.score_scale * math.log(chance / (1 - chance)))
            if 0 < chance < 1
            else 0,
            mate=None if root.verdict is None else mates.get(root.verdict),
            nodes=self.nodes,
            pv=line,
            string=f"{chance:.1%} to win",
        )

    def line(self) -> list[str]:
        """The best moves of both sides, as far as they are in the tree."""
        line: list[str] = []
        node = self.root.best()
        while node is not None:
            line.append(node.token)
            node = node.best()
        return line[: self.most_depth]


def size_of(tree: Node) -> int:
    """The number of moves in a tree."""
    size, nodes = 0, [tree]
    while nodes:
        children = nodes.pop().children
        size += len(children)
        nodes.extend(children)
    return size


if __name__ == "__main__":
    gc.disable()  # a tree has no reference cycles, and collecting over it takes longer than the margin
    run(choose, name="MCTS", author="Duarena", on_new_game=MEMORY.forget)
