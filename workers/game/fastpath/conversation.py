"""The lines exchanged between server and engine in one game, for the engine's author to read.

Lines are stored during the game and formatted only by ``text``, so that a line costs little during a move.
"""

from __future__ import annotations

import time

KEPT_BYTES = 64 * 1024
"""Bytes kept from the beginning and from the end of a long game; the middle is dropped."""
MAX_BYTES = 8 * KEPT_BYTES
"""The most bytes in memory. Dropping rarely costs less than dropping with every line."""
FRAME_BYTES = len("   0.000 > \n")
"""Bytes that each line adds to its text."""

_Entry = tuple[bytes, int, bytes]
"""An arrow, the time, and one or more lines."""


class Conversation:
    """The lines exchanged, each with its time in seconds since this object was made.

    Arguments named ``..._ns`` are times of ``time.monotonic_ns``.
    """

    def __init__(self) -> None:
        self._start_ns = time.monotonic_ns()
        self._entries: list[_Entry] = []
        self._size = 0
        """Bytes in memory."""
        self._dropped = 0

    def sent(self, data: bytes, at_ns: int) -> None:
        """Add one or more whole lines to the engine, with their line ends."""
        self._entries.append((b">", at_ns, data))
        self._size += len(data) + FRAME_BYTES
        if self._size > MAX_BYTES:
            self._drop_middle()

    def received(self, output: bytes, at_ns: int) -> None:
        """Add whole lines from the engine; the last line end may be missing. Empty lines are left out."""
        self._entries.append((b"<", at_ns, output))
        self._size += len(output) + FRAME_BYTES
        if self._size > MAX_BYTES:
            self._drop_middle()

    def exchanged(self, question: bytes, asked_ns: int, answer: list[tuple[bytes, int]]) -> None:
        """Add one or more whole lines to the engine, and its answer in the pieces in which it arrived."""
        self.sent(question, asked_ns)
        if len(answer) == 1:
            output, at_ns = answer[0]
            self.received(output, at_ns)
            return
        unfinished = b""
        for piece, at_ns in answer:
            unfinished += piece
            end = unfinished.rfind(b"\n") + 1
            if end:
                self.received(unfinished[:end], at_ns)
                unfinished = unfinished[end:]

    def latest(self) -> bytes:
        """The lines that the engine wrote last; empty if the server has the last word."""
        arrow, _, data = self._entries[-1] if self._entries else (b">", 0, b"")
        return data if arrow == b"<" else b""

    def text(self) -> str:
        first = self._drop_middle()
        written = list(map(self._written, self._entries))
        if self._dropped:
            written.insert(first, b"[... %d bytes left out ...]\n" % self._dropped)
        return b"".join(written).decode("utf-8", "replace")

    def _drop_middle(self) -> int:
        """Drop the middle of the entries; returns the number of entries kept from the beginning."""
        entries = self._entries
        first = _count_up_to(KEPT_BYTES, entries)
        last = len(entries) - first
        size = sum(map(_size, entries[first:]))
        while size > KEPT_BYTES:
            size -= _size(entries[-last])
            last -= 1
        dropped = entries[first : len(entries) - last]
        del entries[first : len(entries) - last]
        left_out = sum(map(_size, dropped))
        self._size -= left_out
        self._dropped += left_out
        return first

    def _written(self, entry: _Entry) -> bytes:
        arrow, at_ns, data = entry
        begin = b"%8.3f %s " % ((at_ns - self._start_ns) / 1e9, arrow)
        return b"".join([b"%s%s\n" % (begin, line) for line in data.split(b"\n") if line])


def _size(entry: _Entry) -> int:
    return len(entry[2]) + FRAME_BYTES


def _count_up_to(size: int, entries: list[_Entry]) -> int:
    """The number of entries needed to reach ``size`` bytes; all of them if they are fewer."""
    for count, entry in enumerate(entries, 1):
        size -= _size(entry)
        if size <= 0:
            return count
    return len(entries)
