"""What was said between server and engine in one game, for the engine's author to read.

Written out when somebody asks for it: while the game is played a line costs no more than being kept.
"""

from __future__ import annotations

import time

KEPT_BYTES = 64 * 1024
"""This many at either end of a long game; what was said between is left out."""
MOST_BYTES = 8 * KEPT_BYTES
"""Held at any time: leaving out now and then costs less than with every line."""
FRAME_BYTES = len("   0.000 > \n")
"""What each line costs beside its text."""

_Said = tuple[bytes, int, bytes]
"""An arrow, when, and what: one line or several."""


class Conversation:
    """The lines exchanged, each with its time in seconds since the conversation's start.

    Times are of ``time.monotonic_ns``.
    """

    def __init__(self) -> None:
        self._start_ns = time.monotonic_ns()
        self._said: list[_Said] = []
        self._size = 0
        """Bytes held."""
        self._left_out = 0

    def sent(self, data: bytes, at_ns: int) -> None:
        """One or more whole lines to the engine, with their ends."""
        self._said.append((b">", at_ns, data))
        self._size += len(data) + FRAME_BYTES
        if self._size > MOST_BYTES:
            self._leave_out()

    def received(self, line: bytes, at_ns: int) -> None:
        """One or more lines from the engine, without the end of the last."""
        self._said.append((b"<", at_ns, line))
        self._size += len(line) + FRAME_BYTES
        if self._size > MOST_BYTES:
            self._leave_out()

    def exchanged(self, question: bytes, asked_ns: int, answer: bytes, arrived_ns: int) -> None:
        """One or more whole lines to the engine, and the one it answered."""
        self._said += ((b">", asked_ns, question), (b"<", arrived_ns, answer))
        self._size += len(question) + len(answer) + 2 * FRAME_BYTES
        if self._size > MOST_BYTES:
            self._leave_out()

    def text(self) -> str:
        first = self._leave_out()
        written = list(map(self._written, self._said))
        if self._left_out:
            written.insert(first, b"[... %d bytes left out ...]\n" % self._left_out)
        return b"".join(written).decode("utf-8", "replace")

    def _leave_out(self) -> int:
        """Shorten what is held to the ends that are kept; returns how many of it are the beginning."""
        said = self._said
        first = _count_up_to(KEPT_BYTES, said)
        last = len(said) - first
        size = sum(map(_size, said[first:]))
        while size > KEPT_BYTES:
            size -= _size(said[-last])
            last -= 1
        dropped = said[first : len(said) - last]
        del said[first : len(said) - last]
        left_out = sum(map(_size, dropped))
        self._size -= left_out
        self._left_out += left_out
        return first

    def _written(self, said: _Said) -> bytes:
        arrow, at_ns, data = said
        seconds = (at_ns - self._start_ns) / 1e9
        lines = data.removesuffix(b"\n").split(b"\n")
        return b"".join(b"%8.3f %s %s\n" % (seconds, arrow, line) for line in lines)


def _size(said: _Said) -> int:
    return len(said[2]) + FRAME_BYTES


def _count_up_to(size: int, said: list[_Said]) -> int:
    """How many of them it takes to reach ``size``; all if they do not."""
    for count, one in enumerate(said, 1):
        size -= _size(one)
        if size <= 0:
            return count
    return len(said)
