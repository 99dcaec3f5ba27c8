"""The tasks of a game: a position, a question, and an answer that the rules judge.

The address holds the answer: ``?moves=`` are the right moves so far, ``?token=`` one more. A script enters
moves on the board and shows the same page in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from engines.rules.base import Position, Side
from engines.rules.registry import ENDINGS, Variant
from engines.tasks import Kind, Task, read_tasks
from engines.tasks.solver import Solver
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the page says, and shows: ``played`` from the task's position, with the opponent's moves.

    ``right`` is None where there is nothing to judge. ``refuted`` is a wrong move with what follows it.
    """

    said: str
    right: bool | None = None
    played: tuple[str, ...] = ()
    solved: bool = False
    refuted: tuple[str, ...] = ()


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
    count = 0 if answer.solved else line.position.count_moves()
    context = {
        "game": game,
        "tasks": list_tasks(code),
        "number": number,
        "task": shown,
        "title": TITLES[shown.kind],
        "question": _fill(QUESTIONS[shown.kind].replace("{unit}", game.score_unit or "stone"), start),
        "answer": answer,
        "board": draw_line(line, flip=flip, targets=False),
        "entry": entry_of(game),
        "targets": draw_line(line, flip=flip, targets=True),
        "moves": spell_moves(line.position) if count else "",
        "links": list(line.position.legal_moves()) if 0 < count <= MAX_LISTED else (),
        "kept": " ".join(answer.played[::2]),
        "solution": _solution(game, shown),
        "refuted_query": urlencode({"position": shown.position, "moves": " ".join(answer.refuted)}),
        "next": number + 1 if number < len(tasks) else None,
    }
    return render(request, "analysis/task.html", context)


def list_tasks(code: str) -> list[tuple[int, str, Task]]:
    """The number, the title and the task of each."""
    return [(number, TITLES[one.kind], one) for number, one in enumerate(read_tasks(code), 1)]


def judge(game: Variant, task: Task, tokens: list[str]) -> Judgement:
    """The judgement of the first move and, in a win in two, of the second."""
    position = game.position.parse(task.position)
    if not tokens:
        return Judgement("")
    first, *rest = tokens
    if not position.is_legal(first):
        return _illegal(first, ())
    if first not in task.moves:
        reason, reply = REFUTATIONS[task.kind](position, first)
        return Judgement(f"Wrong. {reason}", False, refuted=(first, *reply))
    if task.kind is not Kind.WIN_IN_TWO:
        return Judgement(f"Right. {_praise(task.kind, position, first)}", True, (first,), solved=True)
    return _judge_second(position.play(first).play(task.defence), (first, task.defence), rest)


def _judge_second(position: Position, played: tuple[str, ...], rest: list[str]) -> Judgement:
    if not rest:
        said = _fill(f"Right so far. {{opponent}} answers {played[-1]}. Which move wins now?", position)
        return Judgement(said, True, played)
    token = rest[0]
    if not position.is_legal(token):
        return _illegal(token, played)
    if position.play(token).outcome().winner is position.side:
        said = f"Right. {_praise(Kind.WIN_IN_ONE, position, token)}"
        return Judgement(said, True, (*played, token), solved=True)
    reason, reply = _goes_on(position, token)
    return Judgement(f"Wrong. {reason}", False, played, refuted=(*played, token, *reply))


def _illegal(token: str, played: tuple[str, ...]) -> Judgement:
    return Judgement(f"“{token}” is not a legal move here.", None, played)


# What follows a wrong move: a sentence, and the opponent's answer if there is one.

Refutation = tuple[str, tuple[str, ...]]


def _captures_less(position: Position, token: str) -> Refutation:
    best = max(position.count_captured(position.play(one)) for one in position.legal_moves())
    count = position.count_captured(position.play(token))
    return f"{token} captures {count or 'nothing'}, and another move captures {best}.", ()


def _need_not_pass(position: Position, token: str) -> Refutation:
    reply = next(position.play(token).legal_moves(), "")
    if not reply:
        return f"{token} ends the game.", ()
    return _fill(f"After {token} {{opponent}} need not pass, and can play {reply}.", position), (reply,)


def _goes_on(position: Position, token: str) -> Refutation:
    reply = next(position.play(token).legal_moves(), "")
    if not reply:
        return f"{token} ends the game, but does not win it.", ()
    return _fill(f"{token} does not end the game: {{opponent}} can answer {reply}.", position), (reply,)


def _loses(position: Position, token: str) -> Refutation:
    after = position.play(token)
    reply = next(Solver().wins(after), "")
    if not reply:
        return f"{token} loses the game.", ()
    return f"After {token} {_winning(after, reply)}", (reply,)


def _is_escaped(position: Position, token: str) -> Refutation:
    after = position.play(token)
    reply = Solver().find_escape(after)
    if not reply:
        return f"{token} ends the game, but does not win it.", ()
    if after.play(reply).outcome().winner is after.side:
        return f"After {token} {_winning(after, reply)}", (reply,)
    return _fill(f"{{opponent}} answers {reply}, and then no move of yours wins.", position), (reply,)


REFUTATIONS: Final[dict[Kind, Callable[[Position, str], Refutation]]] = {
    Kind.CAPTURE: _captures_less,
    Kind.FORCE_PASS: _need_not_pass,
    Kind.WIN_IN_ONE: _goes_on,
    Kind.DEFEND: _loses,
    Kind.WIN_IN_TWO: _is_escaped,
}


def _praise(kind: Kind, position: Position, token: str) -> str:
    """Why a move solves a task of any kind but a win in two."""
    after = position.play(token)
    if kind is Kind.CAPTURE:
        return f"{token} captures {position.count_captured(after)}, more than any other move."
    if kind is Kind.FORCE_PASS:
        return _fill(f"After {token} {{opponent}} must pass.", position)
    if kind is Kind.DEFEND:
        return _fill(f"After {token} no move of {{opponent}} wins at once.", position)
    return _winning(position, token)


def _winning(position: Position, token: str) -> str:
    return (
        f"{_fill('{mover}', position)} wins with {token}: {ENDINGS[position.play(token).outcome().reason]}."
    )


def _fill(text: str, position: Position) -> str:
    return text.format(mover=position.side.name.title(), opponent=position.side.other.name.title())


@cache
def _solution(game: Variant, task: Task) -> tuple[str, str]:
    """The solution in words, and the query of the analysis board with its moves."""
    position, first = game.position.parse(task.position), min(task.moves, key=len)
    played = [first]
    if task.kind is Kind.WIN_IN_TWO:
        second = position.play(first).play(task.defence)
        win = next(Solver().wins(second))
        said = _fill(f"First {first}. If {{opponent}} answers {task.defence}, {win} wins.", position)
        played += [task.defence, win]
    else:
        said = _praise(task.kind, position, first)
    return said, urlencode({"position": task.position, "moves": " ".join(played)})
