"""What programs read of the rules: ladders, positions, perft, the explorer and tasks.

No views. Only the explorer reads the database.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from engines.counting import perft_until
from engines.positions import read_hard_positions
from engines.rules.base import Outcome, Position
from engines.rules.history import replay_until_end
from engines.rules.registry import Variant
from engines.tasks import Task, read_tasks
from engines.tasks.answers import fill, judge, solve
from tournament.rows.fields import Address
from tournament.services.explorer.moves import FILTERS, ExploredMove, explore
from tournament.views.analysis.tasks import QUESTIONS, TITLES
from tournament.views.analysis.trees import BadLine, Line

MAX_LISTED: Final = 10_000
"""Legal moves of an answer."""
MAX_DEPTH: Final = 8
MAX_PLAYED: Final = 100_000
"""Moves that perft may play for its last depth: about a tenth of a second."""


class RulesRow(msgspec.Struct, frozen=True):
    """A ladder's game, in short."""

    ladder: str
    name: str
    family: Annotated[str, Meta(description="The name of the game, which several ladders may share.")]
    summary: str
    credit: str
    initial: Annotated[str, Meta(description="The position string at the start.")]
    first: Annotated[str, Meta(description="Who moves first: `white` or `black`.")]
    ply_limit: int
    typical_plies: int
    score_unit: Annotated[str, Meta(description="What scores count, in the singular; mostly empty.")]
    rules_version: int
    page: Address


class HardPositionRow(msgspec.Struct, frozen=True):
    """A position that is difficult for a move generator."""

    position: str
    perft: Annotated[tuple[int, ...], Meta(description="Sequences of 1, 2, 3 … moves from it.")]
    result: Annotated[str, Meta(description="With the reason, if the game is over; else empty.")]


class RulesAnswer(RulesRow, frozen=True):
    """A ladder's game with its rules."""

    rules: Annotated[str, Meta(description="All rules with the notation, in Markdown.")]
    cells: Annotated[tuple[str, ...], Meta(description="The names of the cells.")]
    words: Annotated[dict[str, str], Meta(description="Parts of moves that are no cells, with their labels.")]
    positions: tuple[HardPositionRow, ...]


class PositionAnswer(msgspec.Struct, frozen=True):
    """A position, its legal moves and its end."""

    ladder: str
    position: str
    side: Annotated[str, Meta(description="Who is to move: `white` or `black`.")]
    ply: int
    count: Annotated[int, Meta(description="The number of legal moves.")]
    moves: Annotated[tuple[str, ...], Meta(description=f"The legal moves; at most {MAX_LISTED:,}.")]
    result: Annotated[str, Meta(description="By the rules: `1-0`, `0-1`, `1/2-1/2`, or `*` before the end.")]
    reason: str
    white_score: int | None
    black_score: int | None
    match_result: Annotated[str, Meta(description="The same with repetition and the ply limit.")]
    match_reason: str


class PerftAnswer(msgspec.Struct, frozen=True):
    """The number of sequences of legal moves from a position."""

    ladder: str
    position: str
    perft: Annotated[tuple[int, ...], Meta(description="Sequences of 1, 2, 3 … moves.")]


class ExploredMoveRow(msgspec.Struct, frozen=True):
    """A move of recorded games in a position."""

    move: str
    games: int
    white: Annotated[int, Meta(description="Games that White won.")]
    drawn: int
    black: int
    rating: Annotated[float | None, Meta(description="The mean rating of those who moved.")]
    performance: Annotated[int | None, Meta(description="Elo of those who moved, above their opponents.")]
    last_game: Annotated[int | None, Meta(description="The game that ended last.")]


class ExploredAnswer(msgspec.Struct, frozen=True):
    """The moves that recorded games played in a position, the most frequent first."""

    ladder: str
    position: str
    games: int
    white: int
    drawn: int
    black: int
    others: Annotated[int, Meta(description="Moves that are not listed.")]
    moves: tuple[ExploredMoveRow, ...]


class TaskRow(msgspec.Struct, frozen=True):
    """A task: a position and a question."""

    ladder: str
    number: int
    kind: str
    title: str
    question: str
    position: str
    page: Address


class AnsweredTask(TaskRow, frozen=True):
    """A task with the judgement of the moves that were sent."""

    said: Annotated[str, Meta(description="The judgement in a sentence; empty without moves.")]
    right: Annotated[bool | None, Meta(description="Null if there is nothing to judge.")]
    solved: bool
    played: Annotated[tuple[str, ...], Meta(description="The right moves, with the opponent's answers.")]
    solution: Annotated[tuple[str, ...], Meta(description="Empty until the task is solved.")]


def rules_row(game: Variant, origin: str) -> RulesRow:
    """The row of a game; ``origin`` as in ``exports.origin_of``."""
    return RulesRow(**_in_short(game, origin))


def rules_of(game: Variant, origin: str) -> RulesAnswer:
    """A game with all that its page says in words."""
    start: Position = game.position.initial()
    words = {word: told.label for word, told in game.position.words().items()}
    hard = (HardPositionRow(one.position, one.counts, one.result) for one in read_hard_positions(game.code))
    return RulesAnswer(
        **_in_short(game, origin),
        rules=game.rules.strip(),
        cells=tuple(start.board()),
        words=words,
        positions=tuple(hard),
    )


def _in_short(game: Variant, origin: str) -> dict[str, Any]:
    return {
        "ladder": game.code,
        "name": game.name,
        "family": game.family,
        "summary": game.summary,
        "credit": game.credit,
        "initial": str(game.position.initial()),
        "first": game.first.name.lower(),
        "ply_limit": game.ply_limit,
        "typical_plies": game.typical_plies,
        "score_unit": game.score_unit,
        "rules_version": game.rules_version,
        "page": f"{origin}/rules/{game.code}/",
    }


def position_answer(line: Line) -> PositionAnswer:
    """The last position of a line."""
    position = line.position
    outcome: Outcome = position.outcome()
    in_a_match = replay_until_end(line.game, line.moves, line.positions[0]).outcome
    return PositionAnswer(
        line.game.code,
        str(position),
        position.side.name.lower(),
        position.ply,
        position.count_moves(),
        tuple(islice(position.legal_moves(), MAX_LISTED)),
        str(outcome.result),
        str(outcome.reason),
        outcome.white_score,
        outcome.black_score,
        str(in_a_match.result),
        str(in_a_match.reason),
    )


def perft_of(line: Line, depth: int) -> PerftAnswer:
    """The counts up to a depth from the last position of a line; raises ``BadLine`` if that takes long."""
    counts = perft_until(line.position, depth, MAX_PLAYED)
    if len(counts) < depth:
        raise BadLine(
            f"depth: {depth} plays more than {MAX_PLAYED:,} moves from this position, "
            f"choose at most {len(counts)}."
        )
    return PerftAnswer(line.game.code, str(line.position), tuple(counts))


def explored(line: Line, games: str) -> ExploredAnswer:
    """The moves of recorded games in the last position of a line; ``games`` is a word of ``FILTERS``."""
    found = explore(line.game.code, line.position, FILTERS[games])
    total = found.total
    return ExploredAnswer(
        line.game.code,
        str(line.position),
        total.games,
        total.wins,
        total.draws,
        total.losses,
        found.others,
        tuple(map(_explored, found.moves)),
    )


def _explored(move: ExploredMove) -> ExploredMoveRow:
    return ExploredMoveRow(
        move.token,
        move.games,
        move.wins,
        move.draws,
        move.losses,
        move.rating,
        move.performance,
        None if move.last is None else move.last.pk,
    )


def task_rows(game: Variant, origin: str) -> list[TaskRow]:
    """The tasks of a ladder, easiest first."""
    return [
        TaskRow(*_task(game, task, number, origin)) for number, task in enumerate(read_tasks(game.code), 1)
    ]


def answered_task(game: Variant, number: int, moves: str, origin: str) -> AnsweredTask:
    """A task, and the judgement of these moves; its solution only if they solve it. Raises ``IndexError``."""
    task = read_tasks(game.code)[number - 1]
    answer = judge(game, task, moves.split())
    _, solution = solve(game, task)
    return AnsweredTask(
        *_task(game, task, number, origin),
        answer.said,
        answer.right,
        answer.solved,
        answer.played,
        solution if answer.solved else (),
    )


def _task(game: Variant, task: Task, number: int, origin: str) -> tuple[str, int, str, str, str, str, str]:
    start: Position = game.position.parse(task.position)
    question = fill(QUESTIONS[task.kind].replace("{unit}", game.score_unit or "stone"), start)
    page = f"{origin}/rules/{game.code}/tasks/{number}/"
    return game.code, number, str(task.kind), TITLES[task.kind], question, task.position, page
