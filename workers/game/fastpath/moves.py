"""The fast path: ordinary moves of a game, played in one loop.

A move is ordinary when the question is written in one write, a legal ``bestmove`` comes back in time, after
any number of other lines, and the other engine is silent meanwhile. Nearly all moves are, and this loop
makes them cheap: it only looks for the ``bestmove``, and keeps the output before it for log and record.
Anything unusual is returned as ``Pending``: ``workers.engine.players`` and ``workers.game.referee`` decide,
and reach the result that they would have reached without this module.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence
from typing import Final

from engines.rules.base import IllegalMove
from engines.rules.history import History
from workers.game.fastpath.clock import GameClock
from workers.game.fastpath.comments import NEVER
from workers.game.fastpath.conversation import Conversation
from workers.game.fastpath.kept import KeptMoves
from workers.game.fastpath.questions import Questions

ANSWER: Final = b"bestmove "
WORD: Final = b"bestmove"
NEWLINE: Final = 10
READ_BYTES: Final = 16 * 1024
PLAIN_BYTES: Final = 32 * 1024
"""A move with more output than this takes the general path, which limits it."""
MAX_EVENTS: Final = 8
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

    ``rest`` is the part of the question not yet written, ``received`` the output read so far, in pieces with
    the time of their arrival. Times are those of ``time.monotonic_ns``.
    """

    def __init__(
        self, question: bytes, asked_ns: int, rest: bytes, received: Sequence[tuple[bytes, int]] = ()
    ) -> None:
        self.question = question
        self.asked_ns = asked_ns
        self.rest = rest
        self.received = received


class OrdinaryMoves:
    """The fast path of one game; ``clocks`` and ``channels`` are White's and Black's. Must be closed.

    Moves are added to ``history``, ``questions`` and ``kept``.
    """

    def __init__(
        self,
        history: History,
        questions: Questions,
        clocks: tuple[GameClock, GameClock],
        kept: KeptMoves,
        channels: tuple[EngineChannel, EngineChannel],
    ) -> None:
        self._history = history
        self._questions = questions
        self._clocks = list(clocks)
        self._kept = kept
        self._channels = list(channels)
        self._epoll = select.epoll()
        # A set: an engine that plays both sides has each descriptor twice.
        for descriptor in {*channels[0].watched_fds, *channels[1].watched_fds}:
            self._epoll.register(descriptor, select.EPOLLIN)
        # Attributes, because in compiled code they are found faster than a module's functions.
        self._wait, self._now_ns = self._epoll.poll, time.monotonic_ns
        self._read, self._write = os.read, os.write
        self._next_check_ns = 0

    def close(self) -> None:
        self._epoll.close()

    def fits(self, channels: tuple[EngineChannel, EngineChannel]) -> bool:
        """Whether both engines still have the descriptors that this object watches."""
        white, black = self._channels
        return white.watched_fds == channels[0].watched_fds and black.watched_fds == channels[1].watched_fds

    def play(self) -> Pending | None:
        """Play until the game is over (None), or until a move is not ordinary; then return its question.

        Also returns None if an engine wrote before it was asked. The caller must have read earlier output.
        """
        history = self._history
        if self._wait(0, MAX_EVENTS):
            return None
        while not history.outcome.decided:
            pending = self._play_move(history.position.side)
            if pending is not None:
                return pending
        return None

    def _play_move(self, side: int) -> Pending | None:
        """Play one move; returns its question if it is not ordinary, else None."""
        clock, channel = self._clocks[side], self._channels[side]
        question = self._questions.ask(side)
        if channel.begin_turn is not None:
            channel.begin_turn()
        asked_ns = self._now_ns()
        if asked_ns >= self._next_check_ns:
            self._next_check_ns = asked_ns + channel.wait_ns
            channel.on_wait()
            asked_ns = self._now_ns()
        allowance_ns = channel.wait_ns if clock.allowance_ns is None else clock.allowance_ns
        left_ns = longest_ns = min(allowance_ns, channel.wait_ns)
        try:
            written = self._write(channel.to_engine, question)
        except (BlockingIOError, BrokenPipeError):
            written = 0
        if written < len(question):
            return Pending(question, asked_ns, question[written:])
        answer, begin, received_ns = b"", -1, 0
        pieces: list[tuple[bytes, int]] = []
        while begin < 0 and left_ns > 0 and len(answer) <= PLAIN_BYTES:
            if self._wait(left_ns / NS_PER_S, MAX_EVENTS) != channel.answers:
                return Pending(question, asked_ns, b"", pieces)
            piece = self._read(channel.from_engine, READ_BYTES)
            received_ns = self._now_ns()
            pieces.append((piece, received_ns))
            answer = answer + piece if answer else piece
            begin = answer.find(WORD)
            left_ns = asked_ns + longest_ns - received_ns
        used_ns = received_ns - asked_ns
        token = _token_in(answer, begin)
        if not token or used_ns > allowance_ns or not self._plays(token):
            return Pending(question, asked_ns, b"", pieces)
        cpu_ns: int = NEVER if channel.end_turn is None else channel.end_turn()
        clock.charge(used_ns)
        channel.conversation.exchanged(question, asked_ns, pieces)
        self._kept.add_answer(token, answer, begin, used_ns, cpu_ns)
        self._questions.add(token)
        return None

    def _plays(self, token: str) -> bool:
        """Play a move; False, and nothing is changed, if it is illegal or has more text than a move."""
        try:
            self._history.play(token)
        except IllegalMove:
            return False
        return True


def _token_in(answer: bytes, begin: int) -> str:
    """The move of an answer whose last line begins at ``begin``; "" if the answer is not ordinary.

    Text after the move is ignored.
    """
    if begin < 0 or not answer.startswith(ANSWER, begin) or answer.find(b"\n", begin) != len(answer) - 1:
        return ""
    if begin > 0 and answer[begin - 1] != NEWLINE:
        return ""
    text = answer[begin + len(ANSWER) : -1]
    end = text.find(b" ")
    if end >= 0:
        text = text[:end]
    elif text.endswith(b"\r"):
        text = text[:-1]
    return text.decode("latin-1")
