"""What was said between server and engine in one game, for the engine's author to read.

Written once, at the game's end: while it is played a line costs no more than being kept.
"""

from __future__ import annotations

import time
from collections import deque

KEPT_BYTES = 64 * 1024
"""This many at either end of a long game; what was said between is left out."""
FRAME_BYTES = len("   0.000 > \n")
"""What each line costs beside its text."""

_Said = tuple[bytes, int, bytes]
"""An arrow, when, and what: one line or several."""


class Conversation:
    """The lines exchanged, each with its time in seconds since the conversation's start."""

    def __init__(self) -> None:
        self._start_ns = time.monotonic_ns()
        self._first: list[_Said] = []
        self._room = KEPT_BYTES
        self._last: deque[_Said] = deque()
        self._last_size = 0
        self._left_out = 0

    def sent(self, data: bytes) -> None:
        """One or more whole lines to the engine, with their ends."""
        self._add(b">", data)

    def received(self, line: bytes) -> None:
        """One line from the engine, without its end."""
        self._add(b"<", line)

    def text(self) -> str:
        gap = [b"[... %d bytes left out ...]\n" % self._left_out] if self._left_out else []
        written = [*map(self._written, self._first), *gap, *map(self._written, self._last)]
        return b"".join(written).decode("utf-8", "replace")

    def _add(self, arrow: bytes, data: bytes) -> None:
        said = (arrow, time.monotonic_ns(), data)
        size = len(data) + FRAME_BYTES
        if self._room > 0:
            self._first.append(said)
            self._room -= size
            return
        self._last.append(said)
        self._last_size += size
        while self._last_size > KEPT_BYTES:
            dropped = len(self._last.popleft()[2]) + FRAME_BYTES
            self._last_size -= dropped
            self._left_out += dropped

    def _written(self, said: _Said) -> bytes:
        arrow, at_ns, data = said
        seconds = (at_ns - self._start_ns) / 1e9
        lines = data.removesuffix(b"\n").split(b"\n")
        return b"".join(b"%8.3f %s %s\n" % (seconds, arrow, line) for line in lines)
