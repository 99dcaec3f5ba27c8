"""Alphabeta: iterative deepening with alpha-beta pruning, within its clock.

From top to bottom: ``choose`` looks one ply deep, then two, and so on, until the
clock, the nodes or the depth run out, and answers with the best move it is sure
of. ``Search`` is the same for every game. What a game must tell it stands in
``GAMES`` below: what a position is worth, and which moves are looked at.

- *Worth* is in hundredths of what a game is won with, from the mover's side.
- *Candidates* are all moves where there are few. DuAlma has up to 3,540
  placements and DuploLine a thousand turns: there only the ``WIDTH`` most
  promising are looked at, found without playing them. A loss that
  rests on candidates alone is not proven, and is not announced as a mate.

With ``go nodes`` or ``go depth`` and a seed its games can be repeated: chance only
orders the moves that look equal at the root.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from engines.rules.base import Outcome, Position, Reason, Result, Side
from engines.rules.dogon import DogonPosition
from engines.rules.dualma import DualmaPosition
from engines.rules.duovallis import DuovallisPosition
from engines.rules.hexagon import Hexagon, cells_of
from engines.rules.history import REPETITIONS, History
from engines.sdk import Turn, run

MATE: Final = 1_000_000
"""A win at once; a win in n plies is worth n less."""
PROVEN: Final = MATE - 10_000
"""Scores from here on are wins that no reply can change."""
BELIEVED: Final = 50_000
"""What a win is worth at most when only the opponent's candidates were looked at."""
INFINITY: Final = 2 * MATE
MAX_DEPTH: Final = 64
WIDTH: Final = 16


def choose(turn: Turn) -> str:
    return Search(turn).choose()


Candidates = tuple[list[str], bool]
"""Moves to look at, the most promising first, and whether these are all there are."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the search is told of a game."""

    evaluate: Callable[[Position], int]
    candidates: Callable[[Position], Candidates]


class OutOfTime(Exception):
    """Raised from the depths when the answer is due."""


class Search:
    """One search; nothing is remembered from one move to the next."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.game = GAMES[turn.game.code]
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_nodes = INFINITY if nodes is None else nodes
        self.most_depth = MAX_DEPTH if depth is None else min(depth, MAX_DEPTH)
        self.nodes = 0
        self.replies: dict[Hashable, str] = {}
        """The best move found so far in each position searched."""
        self.merits: Counter[str] = Counter()
        """How often, weighted by depth, a move has refuted the one before it."""
        self.repeated = twice_seen(turn.history)
        self.best = next(turn.position.legal_moves())

    def choose(self) -> str:
        """The best move of the deepest search, as far as that one came."""
        with contextlib.suppress(OutOfTime):
            moves, complete = self.game.candidates(self.turn.position)
            if complete:
                self.turn.random.shuffle(moves)
            self.best = moves[0]
            for depth in range(1, self.most_depth + 1):
                score = self.search_root(moves, complete, depth)
                self.report(depth, score)
                if abs(score) >= BELIEVED - MAX_DEPTH or len(moves) == 1:
                    break
        return self.best

    def search_root(self, moves: list[str], complete: bool, depth: int) -> int:
        root = self.turn.position
        alpha = -INFINITY
        for token in self.ordered(root.key(), moves):
            score = -self.search(root.play(token), depth - 1, -INFINITY, -alpha, 1)
            if score > alpha:
                alpha = score
                self.best = token
        self.replies[root.key()] = self.best
        return alpha if complete else max(alpha, -BELIEVED)

    def search(self, position: Position, depth: int, alpha: int, beta: int, distance: int) -> int:
        """The worth of ``position`` to its mover, exact between ``alpha`` and ``beta``, else a bound."""
        self.visit()
        outcome = self.outcome(position)
        if outcome.decided:
            return worth_of(outcome, position.side, distance)
        if depth == 0:
            return self.game.evaluate(position)
        key = position.key()
        moves, complete = self.game.candidates(position)
        best = -INFINITY
        for token in self.ordered(key, moves):
            score = -self.search(position.play(token), depth - 1, -beta, -max(alpha, best), distance + 1)
            if score > best:
                best = score
                self.replies[key] = token
            if best >= beta:
                self.merits[token] += depth * depth
                break
        return best if complete else max(best, -BELIEVED)

    def visit(self) -> None:
        """Counts a node; here, and nowhere else, the search may end."""
        if self.nodes >= self.most_nodes or self.turn.should_stop():
            raise OutOfTime
        self.nodes += 1

    def outcome(self, position: Position) -> Outcome:
        """With the match rules; repetitions are counted over the moves played, not over those imagined."""
        outcome = position.outcome()
        if outcome.decided:
            return outcome
        if self.repeated and position.key() in self.repeated:
            return position.outcome_by_match_rule(Reason.REPETITION)
        if position.ply >= self.turn.history.ply_limit:
            return position.outcome_by_match_rule(Reason.PLY_LIMIT)
        return outcome

    def ordered(self, key: Hashable, moves: list[str]) -> list[str]:
        """The best move of the search before first, then what refuted most; equals stay as they are."""
        first, merits = self.replies.get(key), self.merits
        return sorted(moves, key=lambda token: -INFINITY if token == first else -merits[token])

    def report(self, depth: int, score: int) -> None:
        plies = MATE - abs(score)
        mate = None if plies > MATE - PROVEN else plies if score > 0 else -plies
        self.turn.info(depth=depth, score=score, mate=mate, nodes=self.nodes, pv=self.line(depth))

    def line(self, depth: int) -> Iterator[str]:
        """The best moves of both sides, as far as they were searched."""
        position = self.turn.position
        for _ in range(depth):
            token = self.replies.get(position.key())
            if token is None or position.outcome().decided:
                return
            yield token
            position = position.play(token)


def worth_of(outcome: Outcome, side: Side, distance: int) -> int:
    """A game that is over, to ``side``, so many plies from here; a win is better the sooner it comes."""
    if outcome.result is Result.DRAW:
        return 0
    return MATE - distance if outcome.result is Result.win_for(side) else distance - MATE


def twice_seen(history: History) -> frozenset[Hashable]:
    """The positions of this game whose next occurrence ends it."""
    position = history.start
    seen = Counter([position.key()])
    for token in history.moves:
        position = position.play(token)
        seen[position.key()] += 1
    return frozenset(key for key, times in seen.items() if times >= REPETITIONS - 1)


def all_moves(position: Position) -> Candidates:
    return list(position.legal_moves()), True


# Dogon


def evaluate_dogon(position: Position) -> int:
    """Seeds captured, and a little for seeds at home: they are one's own if both sides dry up."""
    white, black = cast(DogonPosition, position).stores
    home = sum(int(seeds) if name[1] == "1" else -int(seeds) for name, seeds in position.board().items())
    worth = 100 * (white - black) + 10 * home
    return worth if position.side is Side.WHITE else -worth


# Duovallis


def evaluate_duovallis(position: Position) -> int:
    """Stones of one's own colour: who runs out of holes he may start from has lost."""
    white, black = cast(DuovallisPosition, position).stones
    return 100 * (white - black if position.side is Side.WHITE else black - white)


# DuAlma

ALMA: Final = Hexagon(5)
ROWS_OF_THREE: Final = ALMA.lines(3)
SQUARE_ROOT_OF_WIDTH: Final = 4


def evaluate_dualma(position: Position) -> int:
    """Free discs, stacks topped, and above all rows of three that lack one stack and can be completed."""
    board = position.board()
    if cast(DualmaPosition, position).placing:
        worth = sum(
            company(board, name, discs) * (1 if discs == "w" else -1)
            for name, discs in board.items()
            if discs
        )
    else:
        worth = standing(board, "w", "b") - standing(board, "b", "w")
    return worth if position.side is Side.WHITE else -worth


def standing(board: Mapping[str, str], own: str, other: str) -> int:
    free = tops = closed = 0
    for name, discs in board.items():
        if discs.endswith(own):
            free += 1
            if len(discs) == 2:
                tops |= 1 << ALMA.numbers[name]
        elif discs.endswith(other) and len(discs) == 2:
            closed |= 1 << ALMA.numbers[name]
    pairs = sum((row & tops).bit_count() == 2 and not row & closed for row in ROWS_OF_THREE)
    return 20 * free + 30 * tops.bit_count() + 60 * pairs


def company(board: Mapping[str, str], name: str, colour: str) -> int:
    """What a disc is worth on a cell during the placements: discs of its colour around it."""
    return 10 * sum(board[ALMA.names[cell]] == colour for cell in cells_of(ALMA.around[ALMA.numbers[name]]))


def candidates_dualma(position: Position) -> Candidates:
    """While discs are placed: the best cells for the own disc with the worst for the opponent's."""
    if not cast(DualmaPosition, position).placing:
        return all_moves(position)
    board = position.board()
    own, other = "wb" if position.side is Side.WHITE else "bw"
    empty = [name for name, discs in board.items() if not discs and ALMA.numbers[name] != ALMA.centre]
    good = sorted(empty, key=lambda name: -company(board, name, own))[:SQUARE_ROOT_OF_WIDTH]
    bad = sorted(empty, key=lambda name: company(board, name, other))
    bad = [name for name in bad if name not in good][:SQUARE_ROOT_OF_WIDTH]
    return [f"{a}:{b}" if own == "b" else f"{b}:{a}" for a in good for b in bad], False


# DuploLine

LINE: Final = Hexagon(4)
ROWS_OF_FOUR: Final = [[LINE.names[cell] for cell in cells_of(row)] for row in LINE.lines(4)]
BUILDING: Final = (1, 4, 20, 10_000)
"""What it is worth to add to a row that holds so many own pieces of the kind, and none of the opponent's."""
BLOCKING: Final = (0, 3, 15, 1_000)
"""What it is worth to end a row that holds so many of the opponent's, and none of one's own."""
HOLDING: Final = (0, 10, 40, 150, 0)
"""What a row that holds so many of one kind and colour alone is worth."""


def evaluate_duploline(position: Position) -> int:
    board = position.board()
    worth = 0
    for white, black in ("Dd", "Rr"):
        for row in ROWS_OF_FOUR:
            contents = "".join(board[name] for name in row)
            ours, theirs = contents.count(white), contents.count(black)
            if not theirs:
                worth += HOLDING[ours]
            elif not ours:
                worth -= HOLDING[theirs]
    return worth if position.side is Side.WHITE else -worth


def candidates_duploline(position: Position) -> Candidates:
    """The turns worth most by their cells; a piece that moves loses the worth of the cell it leaves."""
    board = position.board()
    discs, rings = ("Dd", "Rr") if position.side is Side.WHITE else ("dD", "rR")
    worth = {"D": worth_of_cells(board, *discs), "R": worth_of_cells(board, *rings)}

    def promise(token: str) -> int:
        total = 0
        for action in token.split(":"):
            cells = action[1:].split("-")
            total += worth[action[0]][cells[-1]]
            if len(cells) == 2:
                total -= worth[action[0]][cells[0]]
        return total

    moves = list(position.legal_moves())
    return heapq.nlargest(WIDTH, moves, key=promise), len(moves) <= WIDTH


def worth_of_cells(board: Mapping[str, str], own: str, other: str) -> dict[str, int]:
    """What a piece ``own`` is worth on each cell: rows of four it builds, rows of ``other`` it ends."""
    worth = dict.fromkeys(board, 0)
    for row in ROWS_OF_FOUR:
        mine = [name for name in row if own in board[name]]
        theirs = sum(other in board[name] for name in row)
        if mine and theirs:
            continue
        for name in row:
            others = len(mine) - (name in mine)
            worth[name] += BLOCKING[theirs] if theirs else BUILDING[others]
    return worth


GAMES: Final = {
    "duovallis": Knowledge(evaluate_duovallis, all_moves),
    "dualma": Knowledge(evaluate_dualma, candidates_dualma),
    "dogon-kulei": Knowledge(evaluate_dogon, all_moves),
    "dogon-gagara": Knowledge(evaluate_dogon, all_moves),
    "duploline": Knowledge(evaluate_duploline, candidates_duploline),
}


if __name__ == "__main__":
    run(choose, name="Alphabeta", author="Duarena")
