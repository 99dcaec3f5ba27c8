"""Answers to tasks: whether a move is right, and why, in sentences for players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from engines.rules.base import Position
from engines.rules.registry import ENDINGS, Variant
from engines.tasks.model import Kind, Task
from engines.tasks.solver import Solver


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of an answer; ``played`` are its right moves from the task's position and the opponent's.

    ``right`` is None where there is nothing to judge. ``refuted`` is a wrong move with what follows it.
    """

    said: str
    right: bool | None = None
    played: tuple[str, ...] = ()
    solved: bool = False
    refuted: tuple[str, ...] = ()


def judge(game: Variant, task: Task, tokens: list[str]) -> Judgement:
    """The judgement of the first move and, in a win in two, of the second."""
    position = game.position.parse(task.position)
    if not tokens:
        return Judgement("")
    first, *rest = tokens
    if not position.is_legal(first):
        return _illegal(first, ())
    if first not in task.moves:
        reason, reply = _REFUTATIONS[task.kind](position, first)
        return Judgement(f"Wrong. {reason}", False, refuted=(first, *reply))
    if task.kind is not Kind.WIN_IN_TWO:
        return Judgement(f"Right. {_praise(task.kind, position, first)}", True, (first,), solved=True)
    return _judge_second(position.play(first).play(task.defence), (first, task.defence), rest)


@cache
def solve(game: Variant, task: Task) -> tuple[str, tuple[str, ...]]:
    """The solution of a task in words, and its moves."""
    position, first = game.position.parse(task.position), min(task.moves, key=len)
    if task.kind is not Kind.WIN_IN_TWO:
        return _praise(task.kind, position, first), (first,)
    second = position.play(first).play(task.defence)
    win = next(Solver().wins(second))
    said = fill(f"First {first}. If {{opponent}} answers {task.defence}, {win} wins.", position)
    return said, (first, task.defence, win)


def _judge_second(position: Position, played: tuple[str, ...], rest: list[str]) -> Judgement:
    if not rest:
        said = fill(f"Right so far. {{opponent}} answers {played[-1]}. Which move wins now?", position)
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


_Refutation = tuple[str, tuple[str, ...]]
"""What follows a wrong move: a sentence, and the opponent's answer if there is one."""


def _captures_less(position: Position, token: str) -> _Refutation:
    best = max(position.count_captured(position.play(one)) for one in position.legal_moves())
    count = position.count_captured(position.play(token))
    return f"{token} captures {count or 'nothing'}, and another move captures {best}.", ()


def _need_not_pass(position: Position, token: str) -> _Refutation:
    reply = next(position.play(token).legal_moves(), "")
    if not reply:
        return f"{token} ends the game.", ()
    return fill(f"After {token} {{opponent}} need not pass, and can play {reply}.", position), (reply,)


def _goes_on(position: Position, token: str) -> _Refutation:
    reply = next(position.play(token).legal_moves(), "")
    if not reply:
        return f"{token} ends the game, but does not win it.", ()
    return fill(f"{token} does not end the game: {{opponent}} can answer {reply}.", position), (reply,)


def _loses(position: Position, token: str) -> _Refutation:
    after = position.play(token)
    reply = next(Solver().wins(after), "")
    if not reply:
        return f"{token} loses the game.", ()
    return f"After {token} {_winning(after, reply)}", (reply,)


def _is_escaped(position: Position, token: str) -> _Refutation:
    after = position.play(token)
    reply = Solver().find_escape(after)
    if not reply:
        return f"{token} ends the game, but does not win it.", ()
    if after.play(reply).outcome().winner is after.side:
        return f"After {token} {_winning(after, reply)}", (reply,)
    return fill(f"{{opponent}} answers {reply}, and then no move of yours wins.", position), (reply,)


_REFUTATIONS: Final[dict[Kind, Callable[[Position, str], _Refutation]]] = {
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
        return fill(f"After {token} {{opponent}} must pass.", position)
    if kind is Kind.DEFEND:
        return fill(f"After {token} no move of {{opponent}} wins at once.", position)
    return _winning(position, token)


def _winning(position: Position, token: str) -> str:
    return f"{fill('{mover}', position)} wins with {token}: {ENDINGS[position.play(token).outcome().reason]}."


def fill(text: str, position: Position) -> str:
    """A sentence with the names of the sides for ``{mover}`` and ``{opponent}``."""
    return text.format(mover=position.side.name.title(), opponent=position.side.other.name.title())
