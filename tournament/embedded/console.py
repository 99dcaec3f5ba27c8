"""The output of the commands: lines, and one progress line below them.

On a terminal the progress line is rewritten in place; elsewhere it is printed at intervals.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from typing import TextIO

PLAIN_EVERY_SECONDS = 15.0
ERASE = "\r\x1b[K"


class Console:
    """Writes lines and a progress line to a stream."""

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic, *, quiet: bool = False
    ) -> None:
        """``quiet``: show no progress."""
        self._quiet = quiet
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._shown = ""
        self._printed_at = float("-inf")

    def say(self, text: str) -> None:
        """Print a line, above the progress line if there is one."""
        self._write(f"{ERASE}{text}\n{self._shown}" if self._terminal and self._shown else f"{text}\n")

    def progress(self, text: str) -> None:
        if text == self._shown or self._quiet:
            return
        if self._terminal:
            self._shown = text[: shutil.get_terminal_size().columns - 1]
            self._write(ERASE + self._shown)
        elif self._clock() - self._printed_at >= PLAIN_EVERY_SECONDS:
            self._shown, self._printed_at = text, self._clock()
            self._write(f"{text}\n")

    def end_progress(self) -> None:
        """Keep the progress line as it is; the next one starts below."""
        if self._terminal and self._shown:
            self._write("\n")
        self._shown = ""

    def _write(self, text: str) -> None:
        """Does nothing once the terminal is closed, because the site must still stop in order."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
            self._stream.flush()
