"""Runs the commands of ``python -m engines`` and ``python -m workers``, and reports their errors.

Only results go to standard output; an error is one sentence on standard error, with exit code 2.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

BAD_INPUT = 2
NOBODY_READS = 1
INTERRUPTED = 130


def run_command(command: Callable[[], int], *refusals: type[Exception]) -> int:
    """Run ``command``; returns its exit code, or 2 after an error.

    ``refusals`` are the exceptions that it raises for bad input; their texts are sentences for users. An
    ``OSError`` is reported as one of standard output: ``command`` itself must handle those of files.
    """
    if sys.stdout is None:
        return complain("cannot write to standard output: it is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # for boards and file names
    try:
        code = command()
        sys.stdout.flush()
    except refusals as error:
        return complain(str(error))
    except OSError as error:
        discard_output()
        if isinstance(error, BrokenPipeError):
            return NOBODY_READS
        return complain(f"cannot write to standard output: {error.strerror}")
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def complain(sentence: str) -> int:
    """Print to standard error, if there is one: else ``print`` would use standard output."""
    if sys.stderr is not None:
        print(sentence, file=sys.stderr)
    return BAD_INPUT


def discard_output() -> None:
    """Discard the rest of the output: the reader has closed the pipe, as ``| head`` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def format_duration(seconds: float, *, words: bool = False) -> str:
    """A duration, rounded to at most two units: ``40 s``, ``12 min``, ``3 h 20 min``, ``2 d 5 h``.

    ``words`` spells units out, for pages: ``40 seconds``, ``12 minutes``, ``2 days 5 h``.
    """
    second, minute, day = (" seconds", " minutes", " days") if words else (" s", " min", " d")
    if seconds < 90:
        return f"{round(seconds)}{second}"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes}{minute}"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days}{day} {hours} h"
