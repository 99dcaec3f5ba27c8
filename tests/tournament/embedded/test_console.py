"""Progress as it is shown to users."""

from __future__ import annotations

import errno
import io

from tournament.embedded.console import Console


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_progress_line_is_rewritten_and_lines_go_above_it() -> None:
    stream = Terminal()
    console = Console(stream)
    console.progress("1/2 games")
    console.progress("1/2 games")
    console.say("site died")
    console.progress("2/2 games")
    console.end_progress()
    erase = "\r\x1b[K"
    assert stream.getvalue() == f"{erase}1/2 games{erase}site died\n1/2 games{erase}2/2 games\n"


def test_without_a_terminal_the_progress_is_an_occasional_plain_line() -> None:
    clock = Clock()
    stream = io.StringIO()
    console = Console(stream, clock)
    for clock.now, text in ((0, "1/4"), (5, "2/4"), (20, "3/4"), (90, "3/4")):
        console.progress(text)
    console.end_progress()
    assert stream.getvalue() == "1/4\n3/4\n"


def test_a_quiet_console_shows_no_progress_but_lines() -> None:
    stream = Terminal()
    console = Console(stream, quiet=True)
    console.progress("1/2 games")
    console.say("site died")
    console.end_progress()
    assert stream.getvalue() == "site died\n"


class Gone(io.StringIO):
    """A terminal that was closed."""

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_a_terminal_that_was_closed_is_no_error() -> None:
    console = Console(Gone())
    console.say("Stopping.")
    console.progress("1/60 games")
    console.end_progress()
