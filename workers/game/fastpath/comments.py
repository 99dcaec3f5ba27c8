"""The comment after a move: the measured times and the last values of the engine's ``info`` lines.

It is the text that ``format_note(note_from_info(last_info(lines), ms, cpu_ms))`` gives, in a tenth of the
time: the lines of a whole game are parsed together, when its record is written.
"""

from __future__ import annotations

import re
from typing import Final

from engines.protocol import last_info
from engines.protocol.parse import INFO_WORDS
from engines.records import format_note, note_from_info
from engines.records.model import MAX_PV, MAX_TOKEN

FIELDS: Final = (b"depth", b"nodes", b"score", b"pv")
"""The words of the values that a comment has."""
NEVER: Final = -1
"""Stands for a processor time that was not measured."""

_NUMBER = rb"(?:0|[1-9][0-9]{0,18})"
_INFO = re.compile(
    rb"info(?: (?:seldepth|multipv|time|nps|hashfull|tbhits|cpuload|currmovenumber) %b"
    rb"| depth (%b)"
    rb"| nodes (%b)"
    rb"| score (cp|mate) (-?%b)(?: (?:lower|upper)bound)?"
    rb"| currmove (?!string\b)[!-~]+"
    rb")*(?: pv ([!-~ ]*))?(?: string [ -~]*)?\r*" % ((_NUMBER,) * 4)
)
"""The usual lines of engines; in all others every word must be looked at."""
_MOVES = re.compile(rf"(?:[A-Za-z0-9+\-:_#=]{{1,{MAX_TOKEN}}} ){{0,{MAX_PV}}}")
"""The part of a pv that a comment has, with a space after each move."""


def format_comment(answer: bytes, ms: int, cpu_ms: int) -> str:
    """The comment after a move. ``answer`` is all output of the move, up to the ``bestmove`` line.

    ``cpu_ms`` is ``NEVER`` if it was not measured.
    """
    end = answer.rfind(b"\n", 0, len(answer) - 1)
    if end <= 0:
        return format_times(ms, cpu_ms)
    search = _Search()
    if not search.read(answer, end):
        info = last_info(answer[:end].split(b"\n"))
        return format_note(note_from_info(info, ms, None if cpu_ms == NEVER else cpu_ms))
    text = search.score or ""
    if search.depth is not None:
        text = f"{text}/{search.depth}"
    text = f"{text} {_seconds(ms)}" if text else _seconds(ms)
    if search.nodes is not None:
        text = f"{text} {search.nodes}n"
    if cpu_ms != NEVER:
        text = f"{text} cpu {_seconds(cpu_ms)}"
    return f"{text} pv {search.pv}" if search.pv else text


def format_times(ms: int, cpu_ms: int) -> str:
    """The comment after a move of an engine that sent no ``info``; ``cpu_ms`` may be ``NEVER``."""
    return _seconds(ms) if cpu_ms == NEVER else f"{_seconds(ms)} cpu {_seconds(cpu_ms)}"


class _Search:
    """The last values of some lines as a comment has them. None is not found."""

    def __init__(self) -> None:
        self.depth: str | None = None
        self.nodes: str | None = None
        self.score: str | None = None
        self.pv: str | None = None

    def read(self, lines: bytes, end: int) -> bool:
        """Read the lines before ``end`` backwards, as far as needed; returns whether all were usual ones."""
        start = lines.rfind(b"\n", 0, end) + 1
        if not self._add(lines[start:end]):
            return False
        if self._is_complete() or start == 0:
            return True
        earlier = lines[:start]
        depth, nodes, score, pv = [field in earlier for field in FIELDS]
        while start > 0 and (
            (depth and self.depth is None)
            or (nodes and self.nodes is None)
            or (score and self.score is None)
            or (pv and self.pv is None)
        ):
            end = start - 1
            start = lines.rfind(b"\n", 0, end) + 1
            if start < end and not self._add(lines[start:end]):
                return False
        return True

    def _is_complete(self) -> bool:
        return not (self.depth is None or self.nodes is None or self.score is None or self.pv is None)

    def _add(self, line: bytes) -> bool:
        """Take the values of an earlier line that are still missing; returns whether it is a usual one."""
        found = _INFO.fullmatch(line)
        if found is None:
            return False
        depth, nodes, kind, number, pv = found.groups()
        if self.depth is None and depth is not None:
            self.depth = depth.decode()
        if self.nodes is None and nodes is not None:
            self.nodes = nodes.decode()
        if self.score is None and kind is not None:
            self.score = _score(kind, number.decode())
        if pv:
            text: str = pv.decode()
            words = text.split(" ")
            if "" in words or not INFO_WORDS.isdisjoint(words):
                return False
            if self.pv is None:
                moves = _MOVES.match(text + " ")
                self.pv = "" if moves is None else moves[0][:-1]
        return True


def _score(kind: bytes, number: str) -> str:
    """A score as a comment has it, from a plain number."""
    sign = "-" if number[0] == "-" and number != "-0" else "+"
    digits = number.removeprefix("-")
    if kind == b"mate":
        return f"#{sign}{digits}"
    if len(digits) < 3:
        digits = digits.rjust(3, "0")
    return f"{sign}{digits[:-2]}.{digits[-2:]}"


_FIRST_SECOND = [f"0.{ms:03}s" for ms in range(1000)]


def _seconds(ms: int) -> str:
    """A time as comments have it."""
    return _FIRST_SECOND[ms] if ms < 1000 else f"{ms // 1000}.{str(1000 + ms % 1000)[1:]}s"
