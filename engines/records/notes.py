"""The comment after a move: ``+0.35/12 0.104s 12034n cpu 0.090s pv b1 c4``, without its braces.

Every part is optional, their order is fixed, and nothing else is allowed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engines.protocol.messages import Score
from engines.records.model import MAX_PV, MoveNote

BOOK = "book"
"""The comment of a book move."""
SHORT = 24
"""Notes up to this length often repeat and are cached: a score, a depth and a time, no line of moves."""

_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
_SECONDS = rf"{_NUMBER}\.[0-9]{{3}}"
_NOTE = re.compile(
    rf"(?:(?P<score>[+-]{_NUMBER}\.[0-9]{{2}}|#[+-]{_NUMBER}))?"
    rf"(?:/(?P<depth>{_NUMBER}))?"
    rf"(?: (?P<seconds>{_SECONDS})s)?"
    rf"(?: (?P<nodes>{_NUMBER})n)?"
    rf"(?: cpu (?P<cpu>{_SECONDS})s)?"
    r"(?: pv (?P<pv>.+))?"
)


def format_note(note: MoveNote) -> str:
    """The text of ``note``; ``""`` if it is empty. Equal notes have equal texts."""
    return _format_note(note) if note.pv else _format_short_note(note)


def _format_note(note: MoveNote) -> str:
    score, depth, ms, nodes, cpu_ms, pv = note
    parts = []
    if score is not None or depth is not None:
        parts.append(format_score(score) + ("" if depth is None else f"/{depth}"))
    if ms is not None:
        parts.append(_format_seconds(ms))
    if nodes is not None:
        parts.append(f"{nodes}n")
    if cpu_ms is not None:
        parts.append(f"cpu {_format_seconds(cpu_ms)}")
    if pv:
        parts.append(" ".join(("pv", *pv)))
    return " ".join(parts)


def parse_note(text: str) -> MoveNote | None:
    """The note that ``format_note`` writes as ``text``; None for any other comment."""
    if not text:
        return None
    return _parse_short_note(text) if len(text) <= SHORT else _parse_note(text)


def _parse_note(text: str) -> MoveNote | None:
    spaced = text if text[0] in "+-#/" else f" {text}"
    match = _NOTE.fullmatch(spaced)
    if match is None:
        return None
    part = match.groupdict()
    pv = tuple(part["pv"].split(" ")) if part["pv"] else ()
    note = MoveNote(
        score=_parse_score(part["score"]) if part["score"] else None,
        depth=int(part["depth"]) if part["depth"] else None,
        ms=_parse_seconds(part["seconds"]) if part["seconds"] else None,
        nodes=int(part["nodes"]) if part["nodes"] else None,
        cpu_ms=_parse_seconds(part["cpu"]) if part["cpu"] else None,
        pv=pv,
    )
    return note if len(pv) <= MAX_PV and format_note(note) == text else None


_parse_short_note, _format_short_note = lru_cache(1024)(_parse_note), lru_cache(1024)(_format_note)
"""Engines that answer at once give equal notes for most moves."""


def format_score(score: Score | None) -> str:
    """A score alone, as in a note: ``+0.42`` or ``#-3``; ``""`` for None."""
    if score is None:
        return ""
    if score.mate is not None:
        return f"#{score.mate:+}"
    hundredths = score.centipawns or 0
    sign = "-" if hundredths < 0 else "+"
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"


def _parse_score(text: str) -> Score:
    if text[0] == "#":
        return Score(mate=int(text[1:]))
    return Score(centipawns=int(text.replace(".", "")))


@lru_cache(maxsize=1024)
def _format_seconds(ms: int) -> str:
    """Cached: most moves of a game take about as long as an earlier one."""
    return f"{ms // 1000}.{ms % 1000:03}s"


def _parse_seconds(text: str) -> int:
    return int(text.replace(".", ""))
