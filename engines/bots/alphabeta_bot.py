"""Alphabeta: iterative deepening with alpha-beta pruning, within its clock.

``choose`` searches one ply deep, then two, and so on, until the clock, the nodes or
the depth run out, and answers with the best move of the deepest search.
``AlphabetaSearch`` is the same for every game: ``evaluation`` gives the score of a
position, ``candidates`` the moves to search, ``pace`` the time to answer.

It saves work by:

- a *table* of the positions searched, with their scores, exact or as bounds, and the
  best moves found;
- the *order* of moves: first the best move of the previous search, then moves that
  refuted others elsewhere (killers, history). Only the first move is searched with the
  full window, the others with a window of one (principal variation search).

Scores are in hundredths of the unit of ``evaluation``, from the mover's side. A loss that
rests on candidates alone is not proven, and is not announced.

With ``go nodes`` or ``go depth`` and a seed its games can be repeated: random numbers
only order equal moves at the root.
"""

from __future__ import annotations

import contextlib
import gc
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Final

from engines.bots.candidates import guide_of, other_moves
from engines.bots.endings import Endings
from engines.bots.evaluation import MATE, WIN_NEXT, evaluation_of, final_score
from engines.bots.pace import SearchPace
from engines.bots.table import DECIDED, MAX_PLIES, PROVEN, Bound, TranspositionTable, unproven
from engines.rules.base import Position, Side
from engines.sdk import BotTurn, run

Cutoffs = defaultdict[str, int]
INFINITY: Final = 2 * MATE
MAX_DEPTH: Final = MAX_PLIES // 2
NODES_BETWEEN_CHECKS: Final = 16
"""Reading the clock costs as much as half a node; so many nodes take some tenths of a millisecond."""
PACE: Final = SearchPace()


def choose(turn: BotTurn) -> str:
    PACE.begin(turn)
    return AlphabetaSearch(turn).choose()


class SearchStopped(Exception):
    """Ends the search when the answer is due."""


class AlphabetaSearch:
    """One search; only the pace is kept from one move to the next."""

    def __init__(self, turn: BotTurn) -> None:
        self.turn = turn
        self.evaluate = evaluation_of(turn.game.code)
        self.guide = guide_of(turn.game.code)
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_nodes = INFINITY if nodes is None else nodes
        self.most_depth = MAX_DEPTH if depth is None else min(depth, MAX_DEPTH)
        self.nodes = 0
        self.next_check = 0
        """The number of nodes at which the limits are checked again."""
        self.is_timed = turn.clock.budget_ms is not None
        self.table = TranspositionTable()
        self.proving = False
        """Whether losses are searched that rest on candidates alone."""
        self.killers = [""] * (MAX_DEPTH + 1)
        """The last move that refuted the move before it, by distance from the root."""
        self.cutoffs: tuple[Cutoffs, Cutoffs] = (defaultdict(int), defaultdict(int))
        """How often, weighted by depth, a move has refuted another anywhere; one for each side."""
        self.endings = Endings(turn.history)
        self.limit_is_near = turn.position.ply + MAX_DEPTH >= self.endings.ply_limit
        self.best = next(turn.position.legal_moves())
        self.reported = ""
        """The first move of the last pv; a search that is stopped may have found a better one since."""

    def choose(self) -> str:
        """The best move of the deepest search, which may be incomplete."""
        with contextlib.suppress(SearchStopped):
            self.deepen()
        self.turn.info(nodes=self.nodes, pv=() if self.best == self.reported else (self.best,))
        return self.best

    def deepen(self) -> None:
        """Search one ply deeper each time, until the game is decided or the search is stopped."""
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
        """The score of ``position`` for its mover, exact between ``alpha`` and ``beta``, else a bound."""
        if self.nodes >= self.next_check:
            self.check_limits()
        self.nodes += 1
        outcome = self.endings.outcome(position)
        if outcome.decided:
            return final_score(outcome, position.side, distance)
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

    def check_limits(self) -> None:
        """Raises ``SearchStopped`` when a limit is reached."""
        if self.nodes >= self.most_nodes or PACE.must_answer():
            raise SearchStopped
        self.next_check = min(self.nodes + NODES_BETWEEN_CHECKS, self.most_nodes)

    def evaluate_leaf(self, position: Position, distance: int) -> int:
        """The evaluation; where it reports a winning move, the move is looked for."""
        score = self.evaluate(position)
        if score > WIN_NEXT // 2 and self.guide.winning_move(position) is not None:
            return MATE - distance - 1
        return score

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
        """The score of the best of ``moves``, as in ``search``; stores it in the table."""
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
                    self.record_refutation(token, position.side, depth, distance)
                    break
        if not complete:
            best = unproven(best)
        bound = Bound.AT_LEAST if best >= beta else Bound.EXACT if best > alpha else Bound.AT_MOST
        self.table.keep(self.key_of(position), depth, best, bound, best_move, distance)
        return best

    def key_of(self, position: Position) -> Hashable:
        """The key in the table; near the ply limit the score of a position depends on its ply too."""
        return (position.key(), position.ply) if self.limit_is_near else position.key()

    def order(self, moves: list[str], first: str, side: Side, distance: int) -> None:
        """Sort moves: the best move known, then by refutations; equal ones keep their order."""
        moves.sort(key=self.cutoffs[side].__getitem__, reverse=True)
        for token in (self.killers[distance], first):
            if token in moves:
                moves.remove(token)
                moves.insert(0, token)

    def record_refutation(self, token: str, side: Side, depth: int, distance: int) -> None:
        """Record that a move has refuted the move before it."""
        self.killers[distance] = token
        self.cutoffs[side][token] += depth * depth

    def report(self, depth: int, score: int) -> None:
        plies = MATE - abs(score)
        mate = None if abs(score) < PROVEN else plies if score > 0 else -plies
        self.reported = self.best
        self.turn.info(depth=depth, score=score, mate=mate, nodes=self.nodes, pv=self.line(depth))

    def line(self, depth: int) -> Iterator[str]:
        """The best moves of both sides, as far as they are in the table."""
        position = self.turn.position
        for _ in range(depth):
            entry = self.table.find(self.key_of(position))
            if entry is None or position.outcome().decided:
                return
            yield entry.move
            position = position.play(entry.move)


if __name__ == "__main__":
    gc.disable()  # a search makes no reference cycles, and collecting over a large table takes too long
    run(choose, name="Alphabeta", author="Duarena")
