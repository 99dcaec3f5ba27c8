"""Engines' logs as pages show them: the end of each, because a whole log may have hundreds of kilobytes."""

from __future__ import annotations

from dataclasses import dataclass

from tournament.models import GameLog

MOST_SHOWN = 3000
"""Characters; the download of a log has all."""


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The last lines of a text, or the whole text if it is short."""

    text: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ShownLog:
    """What a page shows of one engine's log."""

    side: str
    stderr: LogEnd
    lines: LogEnd


def shown_log(log: GameLog) -> ShownLog:
    return ShownLog(log.side, end_of(log.stderr), end_of(log.lines))


def end_of(text: str) -> LogEnd:
    """At most ``MOST_SHOWN`` characters, from the beginning of a line unless the last line is longer."""
    if len(text) <= MOST_SHOWN:
        return LogEnd(text, is_whole=True)
    end = text[-MOST_SHOWN:]
    return LogEnd(end.partition("\n")[2] or end, is_whole=False)
