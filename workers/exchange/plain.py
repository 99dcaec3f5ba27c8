"""Plain play: the moves of a game while nothing is the matter with either engine.

A question is written at once, one line comes back in time, it is a legal best move, and meanwhile the other
engine keeps still: so go nearly all moves of nearly all games, and here they cost no more than that. Whatever
else happens is not judged here. It is handed back as it came, to be gone on with in words by
``workers.players`` and ``workers.referee``, who would have come to the same without this module.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence
from typing import Final

from engines.records import MoveNote, note_of_time
from engines.rules.base import IllegalMove
from engines.rules.history import History
from workers.exchange.clocks import NS_PER_MS, Clock
from workers.exchange.conversation import Conversation
from workers.exchange.questions import Questions

ANSWER: Final = b"bestmove "
PLAIN_BYTES: Final = 1024
"""What is longer is not looked at here."""
MOST_EVENTS: Final = 8
NS_PER_S: Final = 1e9


class Line:
    """One engine's end of a game: its pipes, as descriptors, and all that is told when it stirs (``stirs``).

    ``on_wait`` is called every ``wait_ns`` at most and may raise, which ends the play.
    """

    def __init__(
        self,
        to_engine: int,
        from_engine: int,
        stirs: Sequence[int],
        conversation: Conversation,
        on_wait: Callable[[], None],
        wait_ns: int,
    ) -> None:
        self.to_engine = to_engine
        self.from_engine = from_engine
        self.stirs = stirs
        self.conversation = conversation
        self.on_wait = on_wait
        self.wait_ns = wait_ns
        self.answers = [(from_engine, select.EPOLLIN)]
        """What a wait ends with when this engine has said something, and nothing else has happened."""


class Asked:
    """A question put to the side to move, and what has come of it.

    ``rest`` is what the engine has not read yet, ``heard`` what it said until ``heard_ns``. Times are
    those of ``time.monotonic_ns``.
    """

    def __init__(self, question: bytes, asked_ns: int) -> None:
        self.question = question
        self.asked_ns = asked_ns
        self.rest = question
        self.heard = b""
        self.heard_ns = 0


class PlainPlay:
    """Plain play of one game; ``clocks`` and ``lines`` are White's and Black's. Must be closed.

    What is played goes into ``history``, ``questions`` and ``kept``: token, note, and that it was not given.
    """

    def __init__(
        self,
        history: History,
        questions: Questions,
        clocks: tuple[Clock, Clock],
        kept: list[tuple[str, MoveNote | None, bool]],
        lines: tuple[Line, Line],
    ) -> None:
        self._history = history
        self._questions = questions
        self._clocks = clocks
        self._kept = kept
        self._lines = lines
        self._ears = select.epoll()
        for descriptor in {*lines[0].stirs, *lines[1].stirs}:  # of one engine, where it plays both sides
            self._ears.register(descriptor, select.EPOLLIN)
        self._mind_ns = 0

    def close(self) -> None:
        self._ears.close()

    def play(self) -> Asked | None:
        """Play on until the game is over, or until a question is not answered plainly: it is returned.

        None, too, if either engine has stirred before. Nothing said before may be waiting to be looked at.
        """
        history, questions, clocks, kept, lines = (
            self._history,
            self._questions,
            self._clocks,
            self._kept,
            self._lines,
        )
        wait = self._ears.poll
        if wait(0, MOST_EVENTS):
            return None
        while not history.outcome.decided:
            side: int = history.position.side
            clock, line = clocks[side], lines[side]
            question = questions.ask(side)
            asked_ns = time.monotonic_ns()
            if asked_ns >= self._mind_ns:
                self._mind_ns = asked_ns + line.wait_ns
                line.on_wait()
                asked_ns = time.monotonic_ns()
            allowance_ns = line.wait_ns if clock.allowance_ns is None else clock.allowance_ns
            try:
                written = os.write(line.to_engine, question)
            except (BlockingIOError, BrokenPipeError):
                written = 0
            if written < len(question):
                return _not_taken(question, asked_ns, written)
            if wait(min(allowance_ns, line.wait_ns) / NS_PER_S, MOST_EVENTS) != line.answers:
                return _not_answered(question, asked_ns)
            answer = os.read(line.from_engine, PLAIN_BYTES)
            heard_ns = time.monotonic_ns()
            used_ns = heard_ns - asked_ns
            if not answer.startswith(ANSWER) or not answer.endswith(b"\n") or used_ns > allowance_ns:
                return _not_plain(question, asked_ns, answer, heard_ns)
            token = answer[len(ANSWER) : -1].decode("latin-1")
            try:
                history.play(token)
            except IllegalMove:  # as the general way will find again, or that it is more than a move
                return _not_plain(question, asked_ns, answer, heard_ns)
            clock.charge(used_ns)
            line.conversation.exchanged(question, asked_ns, answer, heard_ns)
            kept.append((token, note_of_time(round(used_ns / NS_PER_MS)), False))
            questions.add(token)
        return None


def _not_taken(question: bytes, asked_ns: int, written: int) -> Asked:
    asked = Asked(question, asked_ns)
    asked.rest = question[written:]
    return asked


def _not_answered(question: bytes, asked_ns: int) -> Asked:
    return _not_taken(question, asked_ns, len(question))


def _not_plain(question: bytes, asked_ns: int, answer: bytes, heard_ns: int) -> Asked:
    asked = _not_answered(question, asked_ns)
    asked.heard, asked.heard_ns = answer, heard_ns
    return asked
