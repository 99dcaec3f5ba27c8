"""The tasks of a game: a position, a question, and an answer that the rules judge.

The address holds the answer: ``?moves=`` are the right moves so far, ``?token=`` one more. A script enters
moves on the board and shows the same page in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from engines.rules.base import Position, Side
from engines.tasks import Kind, Task, read_tasks
from engines.tasks.answers import fill, judge, solve
from tournament.views.analysis.board import MAX_LISTED, draw_line, find_ladder
from tournament.views.analysis.entry import entry_of, spell_moves
from tournament.views.analysis.trees import Line

TITLES: Final = {
    Kind.CAPTURE: "Capture the most",
    Kind.FORCE_PASS: "Force a pass",
    Kind.WIN_IN_ONE: "Win in one",
    Kind.DEFEND: "Defend",
    Kind.WIN_IN_TWO: "Win in two",
}
QUESTIONS: Final = {
    Kind.CAPTURE: "You are {mover}. Which move captures the most {unit}s?",
    Kind.FORCE_PASS: "You are {mover}. After which move must {opponent} pass?",
    Kind.WIN_IN_ONE: "You are {mover}. Which move wins the game at once?",
    Kind.DEFEND: "You are {mover}. {opponent} threatens to win with the next move. How do you prevent it?",
    Kind.WIN_IN_TWO: (
        "You are {mover}. You can win with your second move, whatever {opponent} answers. Which is the first?"
    ),
}


@require_safe
def task(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """A task and the judgement of the answer in the address."""
    game, tasks = find_ladder(code), read_tasks(code)
    if not 1 <= number <= len(tasks):
        raise Http404(f"no task {number} of {code!r}")
    shown = tasks[number - 1]
    tokens = f"{request.GET.get('moves', '')} {request.GET.get('token', '')}".split()
    answer = judge(game, shown, tokens)
    start: Position = game.position.parse(shown.position)
    line, flip = Line.of(game, start, answer.played), start.side is Side.BLACK  # the reader's side is below
    said, moves = solve(game, shown)
    count = 0 if answer.solved else line.position.count_moves()
    context = {
        "game": game,
        "tasks": list_tasks(code),
        "number": number,
        "task": shown,
        "title": TITLES[shown.kind],
        "question": fill(QUESTIONS[shown.kind].replace("{unit}", game.score_unit or "stone"), start),
        "answer": answer,
        "board": draw_line(line, flip=flip, targets=False),
        "entry": entry_of(game),
        "targets": draw_line(line, flip=flip, targets=True),
        "moves": spell_moves(line.position) if count else "",
        "links": list(line.position.legal_moves()) if 0 < count <= MAX_LISTED else (),
        "kept": " ".join(answer.played[::2]),
        "solution": said,
        "solution_query": _query(shown, moves),
        "refuted_query": _query(shown, answer.refuted),
        "next": number + 1 if number < len(tasks) else None,
    }
    return render(request, "analysis/task.html", context)


def list_tasks(code: str) -> list[tuple[int, str, Task]]:
    """The number, the title and the task of each."""
    return [(number, TITLES[one.kind], one) for number, one in enumerate(read_tasks(code), 1)]


def _query(task: Task, moves: Iterable[str]) -> str:
    """The query of the analysis board with these moves from the task's position."""
    return urlencode({"position": task.position, "moves": " ".join(moves)})
