"""The files that ``-resume`` reads: the games of a match, and its terms.

Games are appended to the record file one at a time; it alone decides which games were played.

If a match is killed, the file contains complete games and at most one incomplete game at its end, which is
removed when the file is opened again. Nothing else is ever removed: a file with other content is refused.

The state file beside it has the match's terms, so that other terms are refused. It may be deleted; then only
the games of the record file are compared with the terms.
"""

from __future__ import annotations

import dataclasses
import enum
import fcntl
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engines.files import atomic_file
from engines.records import Record, read_records
from engines.rules.base import Result, quote
from workers.match.options.options import MatchError, MatchOptionError, MatchTerms
from workers.match.results import GameResult, line_of

_HEADER = re.compile(r'^\[(\w+) "((?:[^"\\]|\\.)*)"\]$', re.MULTILINE)
_COMMENT = re.compile(r"\{[^}]*\}")
_ESCAPED = re.compile(r"\\(.)")
_BEGINNING = b'[Event "'
"""The first bytes of every record that a match writes."""
_RESULTS = {result.value: result for result in Result}
FORMAT = 2
MAY_CHANGE = ("rounds", "restart", "startup_seconds", "trusted")
"""Terms that do not change the games already played; more rounds only add games at the end."""


class RecordFile:
    """An open record file, locked for this process until it is closed or the process ends.

    Raises ``MatchOptionError`` if another match has locked it, or if it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise MatchOptionError(f"-records {path}: cannot be opened: {error.strerror}") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise MatchOptionError(f"-records {path}: another match is writing it") from None

    def close(self) -> None:
        os.close(self._descriptor)

    @property
    def is_empty(self) -> bool:
        return os.fstat(self._descriptor).st_size == 0

    def append(self, *records: str) -> None:
        """Append games, which are written completely on return; raises ``MatchError`` on failure."""
        data = "".join([f"{record}\n" for record in records]).encode()
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise MatchError(f"-records {self._path}: cannot be written: {error.strerror}") from None

    def read_results(self) -> Iterator[GameResult]:
        """Every game in the file, including voids; removes an incomplete game at the end.

        Raises ``MatchOptionError`` for any other content that is not a game of a match.
        """
        end, line, text = 0, 1, b""
        with open(self._path, "rb") as file:
            for number, game in _split(file):
                if text:
                    yield self._result(line, text)
                    end += len(text)
                line, text = number, game
        if _is_whole(text):
            yield self._result(line, text)
            missing = 2 - (len(text) - len(text.rstrip(b"\n")))
            os.write(self._descriptor, b"\n" * missing)
        elif text:
            is_ours = text.startswith(_BEGINNING) or _BEGINNING.startswith(text.strip())
            if not is_ours or b"\n" + _BEGINNING in text:  # not the beginning of exactly one game
                first = quote(text.decode("utf-8", "replace").splitlines()[0])
                raise MatchOptionError(f"{self._path}, line {line}: {first} does not begin a game of a match")
            os.ftruncate(self._descriptor, end)

    def _result(self, line: int, text: bytes) -> GameResult:
        """The result from the headers; the moves are compared, but not read."""
        head, _, moves = text.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")
        headers = {name: _ESCAPED.sub(r"\1", value) for name, value in _HEADER.findall(head)}
        *words, result = _COMMENT.sub(" ", moves).split() or [""]
        tokens = [word for word in words if not word.endswith(".")]
        try:
            game = GameResult(
                key=headers["GameId"],
                ladder=headers["Game"],
                white=headers["White"],
                black=headers["Black"],
                result=_RESULTS.get(headers["Result"], Result.UNDECIDED),
                termination=headers["Termination"],
                fault=headers["Fault"],
                has_moves=headers.get("PlyCount") != headers.get("OpeningPlies", "0"),
                line=line_of(headers.get("FEN"), tokens),
            )
        except KeyError as error:
            raise MatchOptionError(
                f"{self._path}, line {line}: not a game of a match, because the header {error} is missing"
            ) from None
        if result != headers["Result"]:
            why = f"header Result is {quote(headers['Result'])}, but the moves end with {quote(result)}"
            raise MatchOptionError(f"{self._path}, line {line}: {why}")
        if game.result is Result.UNDECIDED and not game.is_void:
            raise MatchOptionError(f"{self._path}, line {line}: invalid Result {quote(headers['Result'])}")
        return game


def _split(file: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The text of each game, with the number of its first line."""
    lines: list[bytes] = []
    number = 0
    for number, line in enumerate(file, 1):
        if line.startswith(b"[") and lines and not lines[-1].strip():
            yield number - len(lines), b"".join(lines)
            lines = []
        lines.append(line)
    yield number - len(lines) + 1, b"".join(lines)


def _is_whole(data: bytes) -> bool:
    """Whether this is a game up to its result."""
    text = data.decode("utf-8", "replace")
    match list(read_records(text.splitlines(), "")):
        case [Record(result=result)]:
            return text.rstrip().endswith(result.value)
    return False


# The state file


def write_state(records: Path, terms: MatchTerms) -> None:
    """Write the state file atomically; raises ``MatchOptionError``."""
    path = records.with_name(f"{records.name}.state")
    text = json.dumps({"format": FORMAT, "terms": dict(_leaves("", terms))}, indent=1, ensure_ascii=False)
    try:
        with atomic_file(path) as file:
            # Names may hold lone surrogates: these are written as JSON escapes.
            file.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise MatchOptionError(f"{path}: cannot be written: {error.strerror}") from None


def check_state(records: Path, terms: MatchTerms) -> None:
    """Raise ``MatchOptionError`` naming each term that differs from those of the match so far."""
    before, now = _read_terms(records), dict(_leaves("", terms))
    if not before:
        return
    changes = [
        f"{name} was {json.dumps(before.get(name))}, not {json.dumps(now.get(name))}"
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name) and name.rpartition(".")[2] not in MAY_CHANGE
    ]
    if changes:
        raise MatchOptionError(f"-resume: {records} is from a match with other terms: {'; '.join(changes)}")


def _read_terms(records: Path) -> dict[str, Any]:
    """The terms of the match so far; empty if there is no readable state file."""
    try:
        state = json.loads(records.with_name(f"{records.name}.state").read_text("utf-8"))
        terms = state["terms"] if state["format"] == FORMAT else {}
        return {name.replace(".spec.", "."): value for name, value in terms.items()}  # as earlier releases
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """Every simple value in ``value``, by its dotted name; list items are numbered from 1."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.compare:
                yield from _leaves(f"{name}.{field.name}".lstrip("."), getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value, 1):
            yield from _leaves(f"{name}.{number}", item)
    else:
        yield name, str(value) if isinstance(value, enum.Enum | Path) else value
