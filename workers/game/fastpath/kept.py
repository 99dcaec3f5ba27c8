"""The moves of a game with their comments, as reports and records need them.

A move on the fast path costs little: the engine's raw output is kept, and the comments of all moves are
written together, when they are first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engines.records import BOOK, MoveNote, RecordMove, format_note, parse_note
from workers.game.fastpath.clock import NS_PER_MS
from workers.game.fastpath.comments import NEVER, format_comment, format_times

MAX_OUTPUT_BYTES: Final = 512 * 1024
"""The most raw output in memory."""


class KeptMoves:
    """The moves of one game in order."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self._comments: list[str] = []
        self._answers: list[tuple[bytes, int, int]] = []
        """Answers to moves that have no comment yet: output, time and processor time in nanoseconds. The
        output is empty if the engine sent its move alone."""
        self._output_bytes = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, token: str, note: MoveNote | None, book: bool) -> None:
        """Add a move with its note; a move of the opening has none."""
        self._write_comments()
        self.tokens.append(token)
        self._comments.append(BOOK if book else "" if note is None else format_note(note))

    def add_answer(self, token: str, answer: bytes, begin: int, used_ns: int, cpu_ns: int) -> None:
        """Add a move of the fast path: ``answer`` is all output of the move up to the ``bestmove`` line.

        That line begins at ``begin``. ``cpu_ns`` is ``NEVER`` if the processor time was not measured.
        """
        self.tokens.append(token)
        if begin == 0:
            self._answers.append((b"", used_ns, cpu_ns))
            return
        self._answers.append((answer, used_ns, cpu_ns))
        self._output_bytes += len(answer)
        if self._output_bytes > MAX_OUTPUT_BYTES:
            self._write_comments()

    def comments(self) -> Sequence[str]:
        """The comment of each move as in records: ``"book"`` for one of the opening, ``""`` for none."""
        self._write_comments()
        return self._comments

    def count_chosen(self) -> int:
        """The number of moves that an engine chose."""
        return len(self.tokens) - self.comments().count(BOOK)

    def records(self) -> tuple[RecordMove, ...]:
        """The moves as values, made anew by each call."""
        return tuple(
            [
                RecordMove(token, None if comment == BOOK else parse_note(comment), comment == BOOK)
                for token, comment in zip(self.tokens, self.comments(), strict=True)
            ]
        )

    def _write_comments(self) -> None:
        for answer, used_ns, cpu_ns in self._answers:
            ms, cpu_ms = _round_ms(used_ns), NEVER if cpu_ns == NEVER else _round_ms(cpu_ns)
            self._comments.append(format_comment(answer, ms, cpu_ms) if answer else format_times(ms, cpu_ms))
        self._answers = []
        self._output_bytes = 0


def _round_ms(ns: int) -> int:
    return (ns + NS_PER_MS // 2) // NS_PER_MS
