"""MCTS: a tree that grows where the good moves are (UCT), within its clock.

From top to bottom: ``choose`` has ``Search`` make one simulation after the other. A
simulation goes down the tree by ``Node.select``, looks at the position it arrives at
(``expand``: that is one node), and carries what it found back up. Instead of playing
the game to its end by lot, which says little here and takes long, it takes the best
of what the moves of that position promise. What a move promises is told for every
game in ``GAMES`` below.

What helps in these games:

- *Widening.* DuAlma has up to 3,540 placements and DuploLine a thousand turns.
  The moves are sorted by what they promise, and only as many are looked at as
  the visits are worth. Should all of those be lost, the rest is looked at too:
  no loss is believed that is not proven.
- *Minimax.* A mean hides the one good reply, so the worth of a move is part mean,
  part best reply (Lanctot and others, "Monte Carlo Tree Search with Heuristic
  Evaluations using Implicit Minimax Backups", 2014).
- *Proofs.* The end of the game is carried up as such, and what is proven is visited
  no more (Winands, Björnsson and Saito, "Monte-Carlo Tree Search Solver", 2008).
- *Memory.* The part of the tree that the game went into is kept for the next move.

The score is the chance ``p`` to win, as the tree sees it, in hundredths of
``ln(p / (1 - p))``: 0 is even, 100 is 73 %, 220 is 90 %. The percentage stands beside it.
With ``go nodes`` or ``go depth`` and a seed its games can be repeated.
"""

from __future__ import annotations

import gc
import heapq
import math
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

EXPLORATION: Final = 0.05
"""How much a move is worth trying only because it was tried less than others.

So little because a promise, unlike a game played by lot, has no noise: 0.3 and 0.12 were weaker.
"""
MINIMAX: Final = 0.5
"""The part of a move's worth that comes from the best reply; the rest is the mean."""
WIDTH: Final = 4
"""The moves looked at from the first visit on; more are with the root of the visits."""
MOST_CANDIDATES: Final = 40
"""Moves that are kept of a position at first."""
A_PLY: Final = 400
"""Simulations that ``go depth`` gets for each ply: a tree has no depth that it is done with."""
MOST_NODES: Final = 1_000_000
"""Where a search without limits ends, for the sake of memory."""
FIRST_STALL_MS: Final = 10.0
STALL_KEPT: Final = 0.9
"""How much of the longest wait for the machine is expected again in the next move."""
WIN: Final = 1e6
"""Promised by a move that wins at once."""
SURE: Final = 12.0
"""The most that is believed of what is not proven, on the scale of ``chance_of``."""


def choose(turn: Turn) -> str:
    return Search(turn).choose()


Prospects = tuple[list[tuple[float, str]], bool]
"""Legal moves, each behind what it promises the mover, and whether these are all there are."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the search is told of a game: of two moves, one that promises ``scale`` more wins 73 % to 50."""

    scale: float
    prospects: Callable[[Position], Prospects]


class Node:
    """A move in the tree, and the position after it. All chances are those of whoever made the move."""

    __slots__ = (
        "assured",
        "children",
        "complete",
        "least",
        "plies",
        "position",
        "token",
        "total",
        "undecided",
        "verdict",
        "visits",
    )

    def __init__(self, token: str, chance: float) -> None:
        self.token = token
        self.position: Position | None = None
        """None before the first visit."""
        self.visits = 1
        """The promise counts as one."""
        self.total = chance
        self.least = chance
        """The chance against the best reply."""
        self.children: list[Node] = []
        self.undecided: list[Node] = []
        """Those children that are not proven, the most promising first."""
        self.complete = False
        """Whether the children are all the moves there are."""
        self.assured = 0.0
        """What the best of the proven children gives to the side to move: ½ if one is drawn."""
        self.verdict: float | None = None
        """1, ½ or 0 where that is proven, so many plies from here."""
        self.plies = 0

    def chance(self) -> float:
        if self.verdict is not None:
            return self.verdict
        return (1 - MINIMAX) * self.total / self.visits + MINIMAX * self.least

    def select(self) -> Node:
        """The child to visit next, among those that the visits so far are worth."""
        width = WIDTH + int(math.sqrt(self.visits))
        curiosity = EXPLORATION * math.sqrt(math.log(self.visits + 1))
        best, most = self.undecided[0], -1.0
        for child in self.undecided[:width]:
            visits = child.visits
            mean = child.total / visits
            hope = mean + MINIMAX * (child.least - mean) + curiosity / math.sqrt(visits)
            if hope > most:
                best, most = child, hope
        return best

    def best(self) -> Node | None:
        """The move to play: a proven win, else the most visited, but a draw before the worse half."""
        won = [child for child in self.children if child.verdict == 1]
        if won:
            return min(won, key=lambda child: child.plies)
        drawn = [child for child in self.children if child.verdict == 0.5]
        if self.undecided:
            most = max(self.undecided, key=lambda child: (child.visits, child.chance()))
            return drawn[0] if drawn and most.chance() < 0.5 else most
        return drawn[0] if drawn else max(self.children, key=lambda child: child.plies, default=None)

    def grow(self, chances: list[tuple[float, str]], complete: bool) -> None:
        self.undecided = [Node(token, chance) for chance, token in chances]
        self.children += self.undecided
        self.complete = complete
        self.least = 1 - max(self.assured, self.undecided[0].least)

    def settle(self, child: Node) -> None:
        """Take note that a child is proven, and of what that proves here."""
        assert child.verdict is not None
        self.undecided.remove(child)
        self.assured = max(self.assured, child.verdict)
        if child.verdict < 1 and not self.undecided and not self.complete:
            self.widen()
        if child.verdict == 1 or not self.undecided:
            best = self.best()
            assert best is not None
            self.verdict = 1 - self.assured
            self.plies = best.plies + 1

    def widen(self) -> None:
        """Look at the moves that promised too little before."""
        assert self.position is not None
        known = {child.token for child in self.children}
        rest = [(0.0, token) for token in self.position.legal_moves() if token not in known]
        self.complete = True
        if rest:
            self.grow(rest, True)


class Memory:
    """A move's tree, for the next of the same game, and how long the machine made it wait, for all games."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.stall_ms = FIRST_STALL_MS

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


class Search:
    """One search; its tree is left in ``MEMORY``."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.game = GAMES[turn.game.code]
        self.repeated = twice_seen(turn.history)
        nodes, depth = turn.clock.nodes, turn.clock.depth
        self.most_depth = MOST_NODES if depth is None else max(depth, 0)
        self.most_nodes = min(MOST_NODES if nodes is None else nodes, A_PLY * self.most_depth)
        self.nodes = 0
        self.elapsed_ms = turn.elapsed_ms
        self.stall_ms = MEMORY.stall_ms * STALL_KEPT
        known = MEMORY.recall(turn.position)
        # a tree grown before a position was seen twice knows nothing of the draw that has come near
        self.root = known if known is not None and not self.repeated else Node("", 0.5)
        self.root.position = turn.position

    def choose(self) -> str:
        next_report = 64
        while self.nodes < self.most_nodes and self.is_open() and not self.must_answer():
            self.simulate()
            if self.nodes == next_report:
                self.report()
                next_report *= 2
        self.report()
        MEMORY.stall_ms = self.stall_ms
        if not self.repeated:
            MEMORY.root = self.root
        best = self.root.best()
        return next(self.turn.position.legal_moves()) if best is None else best.token

    def is_open(self) -> bool:
        """Whether there is anything to find out: not if the end is proven, nor if there is one move only."""
        root = self.root
        return root.verdict is None and not (root.complete and len(root.children) == 1)

    def must_answer(self) -> bool:
        """Whether the time is up, or would be if the machine kept us waiting again as it did before."""
        elapsed_ms, budget_ms = self.turn.elapsed_ms, self.turn.clock.budget_ms
        self.stall_ms = max(self.stall_ms, elapsed_ms - self.elapsed_ms)
        self.elapsed_ms = elapsed_ms
        if budget_ms is not None and elapsed_ms + min(self.stall_ms, budget_ms / 2) >= budget_ms:
            return True
        return self.turn.should_stop()

    def simulate(self) -> None:
        node = self.root
        path = [node]
        while node.undecided and len(path) <= self.most_depth:
            node = node.select()
            path.append(node)
        if node.position is None:
            before = path[-2].position
            assert before is not None
            node.position = before.play(node.token)
            self.judge(node, node.position)
        if node.verdict is None and not node.children:
            self.expand(node, node.position)
        self.nodes += 1
        carry_up(path)

    def judge(self, node: Node, position: Position) -> None:
        """With the match rules; repetitions are counted over the moves played, not over those imagined."""
        outcome = position.outcome()
        if not outcome.decided:
            if self.repeated and position.key() in self.repeated:
                outcome = position.outcome_by_match_rule(Reason.REPETITION)
            elif position.ply >= self.turn.history.ply_limit:
                outcome = position.outcome_by_match_rule(Reason.PLY_LIMIT)
            else:
                return
        node.verdict = share_of(outcome, position.side.other)

    def expand(self, node: Node, position: Position) -> None:
        prospects, complete = self.game.prospects(position)
        if node is self.root:
            self.turn.random.shuffle(prospects)  # among equals
        best = heapq.nlargest(MOST_CANDIDATES, prospects, key=lambda prospect: prospect[0])
        chances = [(chance_of(promise / self.game.scale), token) for promise, token in best]
        node.grow(chances, complete and len(best) == len(prospects))

    def report(self) -> None:
        root = self.root
        chance = 1 - root.chance()
        line = self.line()
        proven = root.verdict in (0, 1)
        self.turn.info(
            depth=root.plies if root.verdict is not None else len(line),
            score=round(100 * math.log(chance / (1 - chance))) if 0 < chance < 1 else 0,
            mate=(root.plies if chance else -root.plies) if proven else None,
            nodes=self.nodes,
            pv=line,
            string=f"{chance:.1%} to win",
        )

    def line(self) -> list[str]:
        """The best moves of both sides, as deep as was asked for."""
        line: list[str] = []
        node = self.root.best()
        while node is not None and len(line) < self.most_depth:
            line.append(node.token)
            node = node.best()
        return line


def carry_up(path: list[Node]) -> None:
    """What the last position of a path turned out to be worth, to all those it was reached through."""
    last = path[-1]
    value = last.least if last.verdict is None else last.verdict
    child: Node | None = None
    for node in reversed(path):
        if child is not None and child.verdict is not None and node.verdict is None:
            node.settle(child)
        if node.verdict is not None:
            value = node.verdict
        elif node.undecided:
            node.least = 1 - max(node.assured, max([each.least for each in node.undecided]))
        node.visits += 1
        node.total += value
        value = 1 - value
        child = node


def chance_of(promise: float) -> float:
    """The logistic curve: what is promised in units of a game's scale, as a chance to win."""
    return 1 / (1 + math.exp(-max(-SURE, min(SURE, promise))))


def share_of(outcome: Outcome, side: Side) -> float:
    """What ``side`` gets of the point."""
    if outcome.result is Result.DRAW:
        return 0.5
    return 1.0 if outcome.result is Result.win_for(side) else 0.0


def twice_seen(history: History) -> frozenset[Hashable]:
    """The positions of this game whose next occurrence ends it."""
    position = history.start
    seen = Counter([position.key()])
    for token in history.moves:
        position = position.play(token)
        seen[position.key()] += 1
    return frozenset(key for key, times in seen.items() if times >= REPETITIONS - 1)


def by_playing(position: Position, count: Callable[[Position, Side], float]) -> Prospects:
    """Every move, promising what the mover has after it; the end of the game counts above all."""
    side = position.side
    prospects = []
    for token in position.legal_moves():
        after = position.play(token)
        outcome = after.outcome()
        promise = WIN * (2 * share_of(outcome, side) - 1) if outcome.decided else count(after, side)
        prospects.append((promise, token))
    return prospects, True


# Dogon


def prospects_dogon(position: Position) -> Prospects:
    return by_playing(position, count_seeds)


def count_seeds(position: Position, side: Side) -> float:
    """Seeds captured, and a little for seeds at home: they are one's own if both sides dry up."""
    white, black = cast(DogonPosition, position).stores
    home = sum(int(seeds) if name[1] == "1" else -int(seeds) for name, seeds in position.board().items())
    worth = white - black + 0.1 * home
    return worth if side is Side.WHITE else -worth


# Duovallis


def prospects_duovallis(position: Position) -> Prospects:
    return by_playing(position, count_stones)


def count_stones(position: Position, side: Side) -> float:
    """Stones of one's own colour: who runs out of holes he may start from has lost."""
    stones = cast(DuovallisPosition, position).stones
    return stones[side] - stones[side.other]


# DuAlma

ALMA: Final = Hexagon(5)
ALMA_ROWS: Final = ALMA.lines(3)
ALMA_ROWS_THROUGH: Final = [[row for row in ALMA_ROWS if row >> cell & 1] for cell in ALMA.cells]
BEST_CELLS: Final = 6
"""Cells that are looked at for each of the two discs of a placement."""
COMPANY: Final = 10
"""What a disc of the same colour beside it is worth to one that is placed."""
FREE: Final = 20
"""What a disc is worth that nothing lies upon."""
TOP: Final = 30
"""What a stack is worth to him who topped it."""
PAIR: Final = 60
"""What two such stacks are worth in a row of three, with a single disc in it to land upon …"""
FAR_PAIR: Final = 25
"""… and without."""


def prospects_dualma(position: Position) -> Prospects:
    if cast(DualmaPosition, position).placing:
        return prospects_of_placing(position)
    stand = Stand(position.board(), position.side)
    return [(stand.promise(token), token) for token in position.legal_moves()], True


def prospects_of_placing(position: Position) -> Prospects:
    """The best cells for the own disc, where it has company, with the worst for the opponent's."""
    own, other = "wb" if position.side is Side.WHITE else "bw"
    board = position.board()
    empty = [name for name, discs in board.items() if not discs and ALMA.numbers[name] != ALMA.centre]
    good = heapq.nlargest(BEST_CELLS, company(board, own, empty))
    taken = {name for _, name in good}
    bad = heapq.nsmallest(BEST_CELLS, company(board, other, [name for name in empty if name not in taken]))
    return [
        (COMPANY * (mine - theirs), f"{a}:{b}" if own == "b" else f"{b}:{a}")
        for mine, a in good
        for theirs, b in bad
    ], False


def company(board: Mapping[str, str], colour: str, names: list[str]) -> list[tuple[int, str]]:
    """How many discs of its colour a disc would find around it on each of these cells."""
    discs = sum(1 << ALMA.numbers[name] for name, disc in board.items() if disc == colour)
    return [((ALMA.around[ALMA.numbers[name]] & discs).bit_count(), name) for name in names]


class Stand:
    """A position of DuAlma's second phase as sets of cells, seen by the side to move."""

    def __init__(self, board: Mapping[str, str], side: Side) -> None:
        self.own, self.other = "wb" if side is Side.WHITE else "bw"
        self.board = board
        self.mine = self.theirs = self.singles = 0
        free = 0
        for number, discs in enumerate(board.values()):
            if not discs:
                continue
            free += 1 if discs[-1] == self.own else -1
            if len(discs) == 1:
                self.singles |= 1 << number
            elif discs[1] == self.own:
                self.mine |= 1 << number
            else:
                self.theirs |= 1 << number
        self.worth = FREE * free + TOP * (self.mine.bit_count() - self.theirs.bit_count())
        self.worth += sum(map(self.worth_of_row, ALMA_ROWS))

    def worth_of_row(self, row: int) -> int:
        return self.row(row, self.mine, self.theirs) - self.row(row, self.theirs, self.mine)

    def row(self, row: int, tops: int, closed: int) -> int:
        if (row & tops).bit_count() != 2 or row & closed:
            return 0
        return PAIR if row & self.singles else FAR_PAIR

    def promise(self, token: str) -> float:
        """What the board will be worth; only the rows that the disc leaves or comes into are counted anew."""
        cells = token.split("-")
        if len(cells) == 1:
            return self.worth
        left, landed = cells[0], cells[-1]
        origin, target = ALMA.numbers[left], ALMA.numbers[landed]
        worth: float = self.worth
        mine = self.mine & ~(1 << origin)
        if len(self.board[left]) == 2:
            worth -= TOP
            worth += FREE if self.board[left][0] == self.own else -FREE
            worth -= sum(self.row(row, self.mine, self.theirs) for row in ALMA_ROWS_THROUGH[origin])
        if self.board[landed]:
            worth += TOP
            worth += FREE if self.board[landed] == self.other else -FREE
            mine |= 1 << target
            for row in ALMA_ROWS_THROUGH[target]:
                if row & mine == row:
                    return WIN
                worth += self.row(row, mine, self.theirs) + self.row(row, self.theirs, self.mine)
        return worth


# DuploLine

LINE: Final = Hexagon(4)
LINE_ROWS: Final = [[LINE.names[cell] for cell in cells_of(row)] for row in LINE.lines(4)]
OURS: Final = (0.0, 10.0, 40.0, 150.0, WIN)
"""What a row is worth that holds so many of the mover's discs alone, or of his rings …"""
THEIRS: Final = (0.0, 12.0, 60.0, 600.0, WIN)
"""… and of the opponent's, who is to move next."""


def prospects_duploline(position: Position) -> Prospects:
    """A turn is worth what its actions change in the rows; who can win sees nothing else."""
    board = position.board()
    white = position.side is Side.WHITE
    discs, base_of_discs = changes(board, *("Dd" if white else "dD"))
    rings, base_of_rings = changes(board, *("Rr" if white else "rR"))
    gains = {f"D{name}": gain for name, gain in discs.items()}
    gains |= {f"R{name}": gain for name, gain in rings.items()}
    base = base_of_discs + base_of_rings
    wins = list(winning(position, gains))
    if wins:
        return [(WIN, token) for token in wins], False

    def gain(action: str) -> float:
        known = gains.get(action)
        if known is None:
            left, _, target = action.partition("-")
            known = gains[action] = gains[action[0] + target] - gains[left]
        return known

    prospects = []
    for token in position.legal_moves():
        first, _, second = token.partition(":")
        prospects.append((base + gain(first) + (gain(second) if second else 0.0), token))
    return prospects, True


def winning(position: Position, gains: Mapping[str, float]) -> Iterator[str]:
    """The actions that complete a line of four as the first of a turn."""
    for action, gain in gains.items():
        if gain > WIN / 2:
            around = cells_of(LINE.around[LINE.numbers[action[1:]]])
            ways = [action, *(f"{action[0]}{LINE.names[cell]}-{action[1:]}" for cell in around)]
            yield from (token for token in ways if position.is_legal(token))


def changes(board: Mapping[str, str], own: str, other: str) -> tuple[dict[str, float], float]:
    """What a piece ``own`` on each cell adds to the worth of all rows, or takes along, and that worth."""
    gains = dict.fromkeys(board, 0.0)
    base = 0.0
    for row in LINE_ROWS:
        contents = [board[name] for name in row]
        mine = sum([own in content for content in contents])
        theirs = sum([other in content for content in contents])
        if mine and theirs:
            continue
        base += OURS[mine] - THEIRS[theirs]
        more, less = (THEIRS[theirs], 0.0) if theirs else (OURS[mine + 1] - OURS[mine], 0.0)
        if mine:
            less = OURS[mine] - OURS[mine - 1]
        for name, content in zip(row, contents, strict=True):
            gains[name] += less if own in content else more
    return gains, base


GAMES: Final = {
    "duovallis": Knowledge(12.0, prospects_duovallis),
    "dualma": Knowledge(150.0, prospects_dualma),
    "dogon-kulei": Knowledge(6.0, prospects_dogon),
    "dogon-gagara": Knowledge(8.0, prospects_dogon),
    "duploline": Knowledge(250.0, prospects_duploline),
}


if __name__ == "__main__":
    gc.disable()  # a tree has no cycles, and looking for some in a large one takes longer than the margin
    run(choose, name="MCTS", author="Duarena", on_new_game=MEMORY.forget)
