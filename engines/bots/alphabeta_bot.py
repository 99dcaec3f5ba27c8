"""Alphabeta: iterative deepening with alpha-beta pruning, within its clock.

From top to bottom: ``choose`` looks one ply deep, then two, and so on, until the
clock, the nodes or the depth run out, and answers with the best move it is sure
of. ``AlphabetaSearch`` is the same for every game; what a position is worth is told by
``evaluation``, which moves are looked at by ``candidates``, when to answer by ``pace``.

What makes it look deeper than it could by trying everything:

- A *table* of the positions searched: what they are worth, exactly or as a bound, and
  the best move found.
- The *order* of moves: the best move of the search before first, then those that
  refuted a move elsewhere (killers, history). Only the first is searched in full;
  of the others it is asked first whether they are better (principal variation search).

Worth is in hundredths of what a game is won with, from the mover's side. A loss that
rests on candidates alone is not proven, and is not announced.

With ``go nodes`` or ``go depth`` and a seed its games can be repeated: chance only
orders the moves that look equal at the root.
"""

from __future__ import annotations

import contextlib
import gc
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Final

from engines.bots.candidates import GUIDES, other_moves
from engines.bots.endings import Endings
from engines.bots.evaluation import EVALUATIONS, MATE, WIN_NEXT, worth_of
from engines.bots.pace import SearchPace
from engines.bots.table import DECIDED, MAX_PLIES, PROVEN, Bound, TranspositionTable, disbelieved
from engines.rules.base import Position, Side
from engines.sdk import BotTurn, run

Merits = defaultdict[str, int]
INFINITY: Final = 2 * MATE
MAX_DEPTH: Final = MAX_PLIES // 2
NODES_BETWEEN_LOOKS: Final = 16
"""A look at the clock costs as much as half a node; so many take some tenths of a millisecond."""
PACE: Final = SearchPace()


def choose(turn: BotTurn) -> str:
    PACE.begin(turn)
    return AlphabetaSearch(turn).choose()


class SearchStopped(Exception):
    """Raised from the depths when the answer is due."""


class AlphabetaSearch:
    """One search; nothing but the pace is remembered from one move to the next."""

    def __init__(self, turn: BotTurn) -> None:
        self.turn = turn
        self.evaluate = EVALUATIONS[turn.game.code]
        self.guide = GUIDES[turn.game.code]
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_nodes = INFINITY if nodes is None else nodes
        self.most_depth = MAX_DEPTH if depth is None else min(depth, MAX_DEPTH)
        self.nodes = 0
        self.next_look = 0
        """The nodes after which the limits are looked at again."""
        self.is_timed = turn.clock.budget_ms is not None
        self.table = TranspositionTable()
        self.proving = False
        """Whether losses are searched that rest on candidates alone."""
        self.killers = [""] * (MAX_DEPTH + 1)
        """By distance from the root: the last move that refuted the one before it."""
        self.merits: tuple[Merits, Merits] = (defaultdict(int), defaultdict(int))
        """By side: how often, weighted by depth, a move has done so anywhere."""
        self.endings = Endings(turn.history)
        self.limit_is_near = turn.position.ply + MAX_DEPTH >= self.endings.ply_limit
        self.best = next(turn.position.legal_moves())

    def choose(self) -> str:
        """The best move of the deepest search, as far as that one came."""
        with contextlib.suppress(SearchStopped):
            self.deepen()
        self.turn.info(nodes=self.nodes)
        return self.best

    def deepen(self) -> None:
        """One ply deeper each time, until the game is decided or the search is broken off."""
        moves, complete = self.guide.candidates(self.turn.position)
        if complete:
            self.turn.random.shuffle(moves)
        win = self.guide.winning_move(self.turn.position)
        if win is not None:
            moves, complete = [win], False
        self.best = moves[0]
        for depth in range(1, self.most_depth + 1):
            score = self.search_root(moves, complete, depth)
            if DECIDED <= abs(score) < PROVEN:
                if score < 0 and not complete:
                    moves, complete = [*moves, *other_moves(self.turn.position, moves)], True
                score = self.prove(moves, complete, depth)
            if not DECIDED <= abs(score) < PROVEN:
                self.report(depth, score)
            if abs(score) >= DECIDED or not PACE.may_begin() or (len(moves) == 1 and self.is_timed):
                return

    def prove(self, moves: list[str], complete: bool, depth: int) -> int:
        """Search again what rests on candidates: with all moves where all of them lose."""
        self.table = TranspositionTable()
        self.proving = True
        score = self.search_root(moves, complete, depth)
        self.proving = False
        return score

    def search_root(self, moves: list[str], complete: bool, depth: int) -> int:
        moves.sort(key=lambda token: token != self.best)
        return self.try_moves(self.turn.position, moves, complete, depth, -INFINITY, INFINITY, 0)

    def search(self, position: Position, depth: int, alpha: int, beta: int, distance: int) -> int:
        """The worth of ``position`` to its mover, exact between ``alpha`` and ``beta``, else a bound."""
        if self.nodes >= self.next_look:
            self.look()
        self.nodes += 1
        outcome = self.endings.outcome(position)
        if outcome.decided:
            return worth_of(outcome, position.side, distance)
        if depth == 0:
            return self.evaluate_leaf(position, distance)
        entry = self.table.find(self.key_of(position))
        if entry is not None:
            known = entry.settles(depth, alpha, beta, distance)
            if known is not None:
                return known
        if self.guide.winning_move(position) is not None:
            return MATE - distance - 1
        moves, complete = self.guide.candidates(position)
        if len(moves) > 1:
            self.order(moves, entry.move if entry else "", position.side, distance)
        score = self.try_moves(position, moves, complete, depth, alpha, beta, distance)
        if self.proving and score <= -DECIDED and not complete:
            moves += other_moves(position, moves)
            score = self.try_moves(position, moves, True, depth, alpha, beta, distance)
        return score

    def look(self) -> None:
        """At the limits of the search; raises ``SearchStopped`` when one is reached."""
        if self.nodes >= self.most_nodes or PACE.must_answer():
            raise SearchStopped
        self.next_look = min(self.nodes + NODES_BETWEEN_LOOKS, self.most_nodes)

    def evaluate_leaf(self, position: Position, distance: int) -> int:
        """What the evaluation says; a win that it takes for near is made sure of."""
        worth = self.evaluate(position)
        if worth > WIN_NEXT // 2 and self.guide.winning_move(position) is not None:
            return MATE - distance - 1
        return worth

    def try_moves(
        self,
        position: Position,
        moves: list[str],
        complete: bool,
        depth: int,
        alpha: int,
        beta: int,
        distance: int,
    ) -> int:
        """The worth of the best of ``moves``, as ``search`` has it; what is found goes into the table."""
        best, best_move, least = -INFINITY, "", alpha
        for token in moves:
            after = position.play(token)
            score = least + 1
            if best_move and beta - least > 1:
                score = -self.search(after, depth - 1, -least - 1, -least, distance + 1)
            if not best_move or (least < score < beta) or beta - least == 1:
                score = -self.search(after, depth - 1, -beta, -least, distance + 1)
            if score > best:
                best, best_move = score, token
                if score > least:
                    least = score
                    if distance == 0:
                        self.best = token
                if score >= beta:
                    self.praise(token, position.side, depth, distance)
                    break
        if not complete:
            best = disbelieved(best)
        bound = Bound.AT_LEAST if best >= beta else Bound.EXACT if best > alpha else Bound.AT_MOST
        self.table.keep(self.key_of(position), depth, best, bound, best_move, distance)
        return best

    def key_of(self, position: Position) -> Hashable:
        """Near the ply limit the same position is worth something else when it is reached later."""
        return (position.key(), position.ply) if self.limit_is_near else position.key()

    def order(self, moves: list[str], first: str, side: Side, distance: int) -> None:
        """The best move known before, then what refuted most; equals stay as they are."""
        moves.sort(key=self.merits[side].__getitem__, reverse=True)
        for token in (self.killers[distance], first):
            if token in moves:
                moves.remove(token)
                moves.insert(0, token)

    def praise(self, token: str, side: Side, depth: int, distance: int) -> None:
        """Take note that a move has refuted the one before it."""
        self.killers[distance] = token
        self.merits[side][token] += depth * depth

    def report(self, depth: int, score: int) -> None:
        plies = MATE - abs(score)
        mate = None if abs(score) < PROVEN else plies if score > 0 else -plies
        self.turn.info(depth=depth, score=score, mate=mate, nodes=self.nodes, pv=self.line(depth))

    def line(self, depth: int) -> Iterator[str]:
        """The best moves of both sides, as far as they were searched."""
        position = self.turn.position
        for _ in range(depth):
            entry = self.table.find(self.key_of(position))
            if entry is None or position.outcome().decided:
                return
            yield entry.move
            position = position.play(entry.move)


if __name__ == "__main__":
    gc.disable()  # a search makes no cycles, and looking for some in a large table takes too long
    run(choose, name="Alphabeta", author="Duarena")
