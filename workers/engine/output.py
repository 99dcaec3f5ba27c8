"""What an engine has written: its lines and its standard error, within their limits. Does not read pipes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engines.rules.base import quote
from workers.engine.faults import EngineFlooded

MAX_LINE_BYTES = 64 * 1024
MAX_MOVE_OUTPUT_BYTES = 1024 * 1024
MAX_STDERR_BYTES = 16 * 1024 * 1024
"""The limit of standard error in one game."""
KEPT_STDERR_BYTES = 64 * 1024
"""Bytes kept from the beginning and from the end of standard error."""


class EngineOutput:
    """Divides an engine's output into lines, which wait here until they are taken."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.unfinished = b""
        """The beginning of a line that has not arrived completely."""
        self.arrived_ns = 0
        """The arrival time of the last output."""
        self._move_bytes = 0
        self._move_lines = 0
        self._last_line = b""

    @property
    def is_empty(self) -> bool:
        """Whether the engine has written nothing since the last move ended."""
        return not (self.lines or self.unfinished or self._move_bytes)

    def add(self, chunk: bytes, arrived_ns: int) -> None:
        """Add output; raises ``EngineFlooded`` if a line or the move's output is too long."""
        self.arrived_ns = arrived_ns
        self._move_bytes += len(chunk)
        chunk = self.unfinished + chunk
        *lines, self.unfinished = chunk.split(b"\n")
        complete = [line for line in lines if line]  # empty lines are ignored; one read may have 65,536
        self.lines.extend(complete)
        self._move_lines += len(complete)
        self._last_line = complete[-1] if complete else self._last_line
        if len(chunk) > MAX_LINE_BYTES and max(map(len, (*lines, self.unfinished))) > MAX_LINE_BYTES:
            raise EngineFlooded(f"a line of output was over {MAX_LINE_BYTES // 1024} KiB")
        if self._move_bytes > MAX_MOVE_OUTPUT_BYTES:
            raise EngineFlooded(f"more than {MAX_MOVE_OUTPUT_BYTES // 1024} KiB of output in one move")

    def take(self) -> list[bytes]:
        """All complete lines."""
        lines = list(self.lines)
        self.lines.clear()
        return lines

    def put_back(self, lines: Sequence[bytes]) -> None:
        """Put lines back, so that they are taken again next."""
        self.lines.extendleft(reversed(lines))

    def end_move(self) -> None:
        """Reset the counts: output from now on belongs to the next move."""
        self._move_bytes = self._move_lines = 0

    def describe_move(self) -> str:
        """A sentence on what has arrived since the last move, for an engine whose answer is missing."""
        count = self._move_lines
        lines = "1 line" if count == 1 else f"{count} lines" if count else "no line"
        said = f"{lines} arrived in time{f', the last {_quote(self._last_line)}' if count else ''}"
        return f"{said}; {self.describe_unfinished()}" if self.unfinished else said

    def describe_unfinished(self) -> str:
        """The beginning of a line, as part of a sentence; empty if there is none."""
        size = len(self.unfinished)
        return f"{size} bytes have no line end: {_quote(self.unfinished)}" if size else ""


def _quote(line: bytes) -> str:
    return quote(line.decode("utf-8", "replace"))


class StandardError:
    """The first and the last bytes of an engine's standard error in one game, and its size."""

    def __init__(self) -> None:
        self.size = 0
        self._first = bytearray()
        self._last = bytearray()

    def add(self, chunk: bytes) -> None:
        """Raises ``EngineFlooded`` if it is too long."""
        self.size += len(chunk)
        room = KEPT_STDERR_BYTES - len(self._first)
        if room > 0:
            self._first += chunk[:room]
            chunk = chunk[room:]
        self._last += chunk
        if len(self._last) > 2 * KEPT_STDERR_BYTES:  # not on every call: the copy costs more than a line
            del self._last[:-KEPT_STDERR_BYTES]
        if self.size > MAX_STDERR_BYTES:
            raise EngineFlooded(f"more than {MAX_STDERR_BYTES >> 20} MiB of standard error in one game")

    def joined(self) -> bytes:
        last = self._last[-KEPT_STDERR_BYTES:]
        left_out = self.size - len(self._first) - len(last)
        gap = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self._first + gap + last)
