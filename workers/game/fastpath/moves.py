"""The fast path: ordinary moves of a game, played in one loop.

A move is ordinary when the question is written in one write, one line comes back in time, it is a legal
``bestmove``, and the other engine is silent meanwhile. Nearly all moves are, and this loop makes them cheap.
Anything unusual is returned as ``Pending``: ``workers.engine.players`` and ``workers.game.referee`` decide,
and reach the result that they would have reached without this module.
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
from workers.game.fastpath.clock import NS_PER_MS, GameClock
from workers.game.fastpath.conversation import Conversation
from workers.game.fastpath.questions import Questions

ANSWER: Final = b"bestmove "
PLAIN_BYTES: Final = 1024
"""A longer answer takes the general path."""
MOST_EVENTS: Final = 8
NS_PER_S: Final = 1e9


class EngineChannel:
    """The pipes to and from one engine, as file descriptors.

    ``watched_fds`` become readable whenever the engine does anything. ``on_wait`` is called at most every
    ``wait_ns`` and may raise, which ends the game; a longer wait for an answer is not ordinary. For a
    sandboxed engine ``begin_turn`` is called before its clock runs, and ``end_turn`` after its answer, which
    returns its processor time in nanoseconds.
    """

    def __init__(
        self,
        to_engine: int,
        from_engine: int,
        watched_fds: Sequence[int],
        conversation: Conversation,
        on_wait: Callable[[], None],
        wait_ns: int,
        begin_turn: Callable[[], None] | None = None,
        end_turn: Callable[[], int] | None = None,
    ) -> None:
        self.to_engine = to_engine
        self.from_engine = from_engine
        self.watched_fds = watched_fds
        self.conversation = conversation
        self.on_wait = on_wait
        self.wait_ns = wait_ns
        self.begin_turn = begin_turn
        self.end_turn = end_turn
        self.answers = [(from_engine, select.EPOLLIN)]
        """The events of a wait in which this engine has written and nothing else has happened."""


class Pending:
    """A question to the side to move that the fast path did not complete.

    ``rest`` is the part of the question not yet written, ``received`` the output read by ``received_ns``.
    Times are those of ``time.monotonic_ns``.
    """

    def __init__(
        self, question: bytes, asked_ns: int, rest: bytes, received: bytes = b"", received_ns: int = 0
    ) -> None:
        self.question = question
        self.asked_ns = asked_ns
        self.rest = rest
        self.received = received
        self.received_ns = received_ns


class OrdinaryMoves:
    """The fast path of one game; ``clocks`` and ``lines`` are White's and Black's. Must be closed.

    Moves are added to ``history``, ``questions`` and ``kept`` (token, note, False: not an opening move).
    """

    def __init__(
        self,
        history: History,
        questions: Questions,
        clocks: tuple[GameClock, GameClock],
        kept: list[tuple[str, MoveNote | None, bool]],
        lines: tuple[EngineChannel, EngineChannel],
    ) -> None:
        self._history = history
        self._questions = questions
        self._clocks = clocks
        self._kept = kept
        self._lines = lines
        self._epoll = select.epoll()
        # A set: an engine that plays both sides has each descriptor twice.
        for descriptor in {*lines[0].watched_fds, *lines[1].watched_fds}:
            self._epoll.register(descriptor, select.EPOLLIN)
        self._next_check_ns = 0

    def close(self) -> None:
        self._epoll.close()

    def play(self) -> Pending | None:
        """Play until the game is over (None), or until a move is not ordinary; then return its question.

        Also returns None if an engine wrote before it was asked. The caller must have read earlier output.
        """
        history, questions, clocks, kept, lines = (
            self._history,
            self._questions,
            self._clocks,
            self._kept,
            self._lines,
        )
        wait = self._epoll.poll
        if wait(0, MOST_EVENTS):
            return None
        while not history.outcome.decided:
            side: int = history.position.side
            clock, line = clocks[side], lines[side]
            question = questions.ask(side)
            if line.begin_turn is not None:
                line.begin_turn()
            asked_ns = time.monotonic_ns()
            if asked_ns >= self._next_check_ns:
                self._next_check_ns = asked_ns + line.wait_ns
                line.on_wait()
                asked_ns = time.monotonic_ns()
            allowance_ns = line.wait_ns if clock.allowance_ns is None else clock.allowance_ns
            try:
                written = os.write(line.to_engine, question)
            except (BlockingIOError, BrokenPipeError):
                written = 0
            if written < len(question):
                return Pending(question, asked_ns, question[written:])
            if wait(min(allowance_ns, line.wait_ns) / NS_PER_S, MOST_EVENTS) != line.answers:
                return Pending(question, asked_ns, b"")
            answer = os.read(line.from_engine, PLAIN_BYTES)
            received_ns = time.monotonic_ns()
            used_ns = received_ns - asked_ns
            if not answer.startswith(ANSWER) or not answer.endswith(b"\n") or used_ns > allowance_ns:
                return Pending(question, asked_ns, b"", answer, received_ns)
            token = answer[len(ANSWER) : -1].decode("latin-1")
            try:
                history.play(token)
            except IllegalMove:  # the general path decides: an illegal move, or more text than a move
                return Pending(question, asked_ns, b"", answer, received_ns)
            cpu_ms = None if line.end_turn is None else round(line.end_turn() / NS_PER_MS)
            clock.charge(used_ns)
            line.conversation.exchanged(question, asked_ns, answer, received_ns)
            kept.append((token, note_of_time(round(used_ns / NS_PER_MS), cpu_ms), False))
            questions.add(token)
        return None
