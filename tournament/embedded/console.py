"""The supervisor's output: lines, and one progress line below them.

On a terminal the progress line is rewritten in place; elsewhere it is printed
at intervals, and only when it has changed.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from engines.console import format_duration

PLAIN_EVERY_S = 15.0
WINDOW_S = 60.0
"""The window over which the pace is measured."""
BAR_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Count:
    """How many games of the running tournaments are done."""

    done: int
    total: int
    running: int
    """Games being played now."""

    @property
    def complete(self) -> bool:
        return self.done >= self.total


class Meter:
    """Turns successive counts into a line with the pace and the remaining time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def line(self, count: Count) -> str:
        now = self._clock()
        self._seen.append((now, count.done))
        while now - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        words = [f"{count.done:,}/{count.total:,} games"]
        if not count.complete:
            words.append(f"{count.running} running")
            words += self._pace(count)
        return ", ".join(words)

    def _pace(self, count: Count) -> list[str]:
        (then, before), (now, done) = self._seen[0], self._seen[-1]
        if now <= then or done <= before:
            return []
        a_second = (done - before) / (now - then)
        return [
            f"{60 * a_second:.0f} a minute",
            f"about {format_duration((count.total - done) / a_second)} left",
        ]


def draw_bar(count: Count) -> str:
    filled = BAR_WIDTH * count.done // max(count.total, 1)
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}]"


class Console:
    """Writes lines and a progress line to a stream."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._deaf = False
        self._shown = ""
        self._latest = ""
        self._printed_at = float("-inf")

    def say(self, text: str) -> None:
        """Print a line, above the progress line if there is one."""
        if self._terminal and self._shown:
            self._stream.write("\r\x1b[K")
        self._write(text + "\n")
        if self._terminal and self._shown:
            self._write(self._shown)

    def progress(self, text: str) -> None:
        self._latest = text
        if text == self._shown:
            return
        if self._terminal:
            self._shown = text[: shutil.get_terminal_size().columns - 1]
            self._write("\r\x1b[K" + self._shown)
        elif self._clock() - self._printed_at >= PLAIN_EVERY_S:
            self._shown = text
            self._printed_at = self._clock()
            self._write(text + "\n")

    def show_step(self, what: str, done: int, total: int, unit: str = "") -> None:
        """Print a bar and the numbers as the progress line."""
        self.progress(f"{draw_bar(Count(done, total, 0))} {what}: {done:,}/{total:,} {unit}".rstrip())

    def end_progress(self) -> None:
        """Keep the progress line as it is; the next one starts below."""
        if self._terminal and self._shown:
            self._write("\n")
        elif self._latest != self._shown:
            self._write(self._latest + "\n")
        self._shown = ""
        self._latest = ""
        self._printed_at = float("-inf")

    def _write(self, text: str) -> None:
        """Write; does nothing once the terminal is closed, because the site must still stop in order."""
        if self._deaf:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._deaf = True
