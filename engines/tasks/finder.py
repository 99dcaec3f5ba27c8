"""Finds tasks in recorded games: six a ladder, each with one solution, from six different games."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engines.records import Record, start_history
from engines.rules.base import Position, RulesError
from engines.rules.registry import Variant
from engines.tasks.model import Kind, Task
from engines.tasks.solver import PASS, Solver, TooLong

PLANS: Final[dict[str, dict[Kind, int]]] = {
    "Duovallis": {Kind.CAPTURE: 2, Kind.WIN_IN_ONE: 2, Kind.WIN_IN_TWO: 2},
    "DuAlma": {Kind.WIN_IN_ONE: 2, Kind.DEFEND: 2, Kind.WIN_IN_TWO: 2},
    "Dogon": {Kind.CAPTURE: 2, Kind.FORCE_PASS: 2, Kind.WIN_IN_ONE: 1, Kind.WIN_IN_TWO: 1},
    "DuploLine": {Kind.WIN_IN_ONE: 2, Kind.DEFEND: 2, Kind.WIN_IN_TWO: 2},
}
"""The kinds of each game's tasks, easiest first, and how many there are of each."""
BEFORE_END: Final = 3
"""How many plies before the end of a game a win in two is; the search is too long for all positions."""
LEAST_CHOICES: Final = 4
"""Legal moves in a task's position; with fewer of them guesses are often right."""
MAX_CHOICES: Final = 600
"""The same; only placements have more."""
OTHER_CAPTURES: Final = 2
"""Moves that capture less, at least, beside the one that captures the most."""


class TooFewTasks(RulesError):
    """The records do not have enough tasks; the text is a sentence for users."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """``difficulty`` is the number of legal moves for each one that solves; ``game`` counts records."""

    task: Task
    difficulty: float
    game: int


def find_tasks(game: Variant, records: Iterable[Record], seed: int) -> list[Task]:
    """The tasks of a ladder, drawn by ``seed``, easiest first; records of other ladders are skipped.

    Raises ``TooFewTasks``, and what ``start_history`` raises for a record that cannot be replayed.
    """
    games = [list(_replay(record)) for record in records if record.header("Game") == game.code]
    rng = random.Random(seed)
    used: set[int] = set()
    tasks = []
    # The rarest kinds come last and are drawn first, while no game is used.
    for kind, number in reversed(PLANS[game.family].items()):
        found = sorted(_find(kind, games), key=lambda one: (one.difficulty, str(one.task)))
        for slice_number in reversed(range(number)):
            part = found[slice_number * len(found) // number : (slice_number + 1) * len(found) // number]
            free = [one for one in part if one.game not in used]
            if not free:
                raise TooFewTasks(f"the records have too few tasks of the kind {kind.value!r}")
            drawn = rng.choice(free)
            used.add(drawn.game)
            tasks.append(drawn.task)
    return tasks[::-1]


def _replay(record: Record) -> Iterator[Position]:
    history = start_history(record)
    yield history.position
    for move in record.moves:
        history.play(move.token)
        yield history.position


def _find(kind: Kind, games: list[list[Position]]) -> Iterator[_Candidate]:
    """Every task of this kind once, also if it occurs in several games or reflected."""
    known: set[Hashable] = set()
    for number, positions in enumerate(games):
        for position in _eligible(kind, positions):
            form, _ = position.canonical()
            if form in known or not LEAST_CHOICES <= position.count_moves() <= MAX_CHOICES:
                continue
            known.add(form)
            task = make_task(kind, position)
            if task:
                yield _Candidate(task, position.count_moves() / len(task.moves), number)


def _eligible(kind: Kind, positions: list[Position]) -> list[Position]:
    return positions[-1 - BEFORE_END : -BEFORE_END] if kind is Kind.WIN_IN_TWO else positions


def make_task(kind: Kind, position: Position) -> Task | None:
    """The task of this kind in a position; None if it has not one solution, or if a search is too long.

    Where a move wins at once, nothing else is asked, and a pass is no defence.
    """
    solver = Solver()
    try:
        if kind is not Kind.WIN_IN_ONE and any(solver.wins(position)):
            return None
        moves = _find_one_solution(kind, position, solver)
        if not moves or (kind is Kind.CAPTURE and _count_capturing(position) <= OTHER_CAPTURES):
            return None
        if kind is not Kind.WIN_IN_TWO:
            return Task(kind, str(position), moves)
        defence = solver.find_defence(position.play(moves[0]))
    except TooLong:
        return None
    return Task(kind, str(position), moves, defence) if defence not in ("", PASS) else None


def _find_one_solution(kind: Kind, position: Position, solver: Solver) -> tuple[str, ...]:
    """All moves that solve the task, if they share an action, as ``Dd4`` and ``Rc3:Dd4`` do; else none.

    In a win in two they must lead to the same position, because one defence answers all of them.
    """
    moves: list[str] = []
    shared: set[object] = set()
    for move in solver.solve(kind, position):
        parts: set[object] = {position.play(move)} if kind is Kind.WIN_IN_TWO else set(move.split(":"))
        shared = shared & parts if moves else parts
        if not shared:
            return ()
        moves.append(move)
    return tuple(moves)


def _count_capturing(position: Position) -> int:
    return sum(position.count_captured(position.play(token)) > 0 for token in position.legal_moves())
