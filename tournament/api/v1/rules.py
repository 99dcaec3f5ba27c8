"""The rules for programs: ladders' games, positions, perft, the explorer and tasks."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from django.http import Http404
from msgspec import Meta

from engines.rules.registry import GAMES
from tournament.api.envelope import ApiError
from tournament.api.limits import LIMITS, client_of
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.positions import (
    MAX_DEPTH,
    MAX_PLAYED,
    AnsweredTask,
    ExploredAnswer,
    PerftAnswer,
    PositionAnswer,
    RulesAnswer,
    RulesRow,
    TaskRow,
    answered_task,
    explored,
    perft_of,
    position_answer,
    rules_of,
    rules_row,
    task_rows,
)
from tournament.api.v1.responses import PageQuery, Rows, part_of
from tournament.views.analysis.board import find_ladder
from tournament.views.analysis.trees import BadLine, Line, read_line
from tournament.views.exports import origin_of

MOVES_A_ROW: Final = 20
"""Moves that are listed or played for one row of a client's limit."""
Moves = Annotated[str, Meta(description="Moves with spaces between them.")]


class LineQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A position: the one after ``moves`` from ``position``."""

    position: Annotated[str, Meta(description="A position string; without it, the start of the game.")] = ""
    moves: Moves = ""


class PerftQuery(LineQuery, frozen=True, kw_only=True):
    """A position and a depth."""

    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH, description="The longest sequences.")] = 3


class ExplorerQuery(LineQuery, frozen=True, kw_only=True):
    """A position and which games count."""

    games: Annotated[
        Literal["", "rated", "10", "20", "30"],
        Meta(description="All, the rated ones, or those of players rated so high on average or higher."),
    ] = ""


class TaskQuery(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a task."""

    moves: Annotated[str, Meta(description="Your moves, with the opponent's answers left out.")] = ""


@operation("GET", "rules/", rows=RulesRow, query=PageQuery)
def rules_list(request: ApiRequest, query: PageQuery) -> Rows:
    """The game of each ladder, with the position string of its start."""
    return part_of([rules_row(game, origin_of(request)) for game in GAMES.values()], query)


@operation("GET", "rules/<slug:code>/", answer=RulesAnswer)
def rules(request: ApiRequest, code: str) -> RulesAnswer:
    """A ladder's game: its rules with the notation, its cells, and positions with perft counts."""
    return rules_of(find_ladder(code), origin_of(request))


@operation("GET", "rules/<slug:code>/position/", answer=PositionAnswer, query=LineQuery)
def position(request: ApiRequest, code: str, query: LineQuery) -> PositionAnswer:
    """The legal moves and the result of a position.

    Twenty moves of the answer count as a row of your limit.
    """
    found = position_answer(_line(code, query))
    _count(request, len(found.moves))
    return found


@operation("GET", "rules/<slug:code>/perft/", answer=PerftAnswer, query=PerftQuery)
def perft(request: ApiRequest, code: str, query: PerftQuery) -> PerftAnswer:
    """The number of sequences of legal moves from a position, to test a move generator.

    A depth that plays more than 100,000 moves is refused. Twenty of them count as a row of your limit.
    """
    line = _line(code, query)
    try:
        found = perft_of(line, query.depth)
    except BadLine as error:
        _count(request, MAX_PLAYED)
        raise ApiError(422, str(error)) from None
    _count(request, sum(found.perft[:-1]))
    return found


@operation("GET", "rules/<slug:code>/explorer/", answer=ExploredAnswer, query=ExplorerQuery)
def explorer(request: ApiRequest, code: str, query: ExplorerQuery) -> ExploredAnswer:
    """The moves that recorded games played in a position, with their results."""
    return explored(_line(code, query), query.games)


@operation("GET", "rules/<slug:code>/tasks/", rows=TaskRow, query=PageQuery)
def tasks(request: ApiRequest, code: str, query: PageQuery) -> Rows:
    """The tasks of a ladder, easiest first."""
    return part_of(task_rows(find_ladder(code), origin_of(request)), query)


@operation("GET", "rules/<slug:code>/tasks/<int:number>/", answer=AnsweredTask, query=TaskQuery)
def task(request: ApiRequest, code: str, number: int, query: TaskQuery) -> AnsweredTask:
    """A task and the judgement of your moves; its solution once they solve it."""
    game = find_ladder(code)
    rows = task_rows(game, origin_of(request))
    if not 1 <= number <= len(rows):
        raise Http404(f"no task {number} of {code!r}")
    return answered_task(game, number, query.moves, origin_of(request))


def _line(code: str, query: LineQuery) -> Line:
    """The line that the parameters name; raises ``ApiError``."""
    try:
        return read_line(find_ladder(code), query.position, query.moves)
    except BadLine as error:
        raise ApiError(400, str(error)) from None


def _count(request: ApiRequest, moves: int) -> None:
    """Count moves that were listed or played against the limit of the client."""
    LIMITS.count(client_of(request, request.token), moves // MOVES_A_ROW)
