"""The record file: the games of a match, appended one at a time; it alone decides which games were played.

If a match is killed, the file contains complete games and at most one incomplete game at its end, which is
removed when the file is opened again. Nothing else is ever removed: a file with other content is refused.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engines.records import RecordError, read_records
from engines.rules.base import Result, quote
from workers.match.options.words import MatchError, MatchOptionError
from workers.match.results import GameResult, line_of

_HEADER = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)"\]')
_COMMENT = re.compile(rb"\{[^}]*\}")
_ESCAPED = re.compile(r"\\(.)")
_BEGINNING = b'[Event "'
"""The first bytes of every record that a match writes."""
_RESULTS = {result.value: result for result in Result}


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
        end = 0
        with open(self._path, "rb") as file:
            held: tuple[int, list[bytes]] | None = None
            for line, lines in _split(file):
                if held is not None:
                    yield self._result(*held)
                    end += sum(map(len, held[1]))
                held = (line, lines)
        if held is not None and self._is_whole(held[1]):
            yield self._result(*held)
            self._complete(held[1])
        elif held is not None:
            self._check_incomplete(*held)
            os.ftruncate(self._descriptor, end)

    def _result(self, line: int, lines: list[bytes]) -> GameResult:
        """The result from the headers; the moves are compared, but not read."""
        headers = dict(_headers(lines))
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
                line=_line_of(lines, headers),
            )
        except KeyError as error:
            raise MatchOptionError(
                f"{self._path}, line {line}: not a game of a match, because the header {error} is missing"
            ) from None
        if game.result is Result.UNDECIDED and not game.is_void:
            raise MatchOptionError(f"{self._path}, line {line}: invalid Result {quote(headers['Result'])}")
        return game

    def _check_incomplete(self, line: int, lines: list[bytes]) -> None:
        """Raise ``MatchOptionError`` unless the lines are the beginning of exactly one game."""
        text = b"".join(lines)
        is_ours = text.startswith(_BEGINNING) or _BEGINNING.startswith(text.strip())
        if not is_ours or any(other.startswith(_BEGINNING) for other in lines[1:]):
            raise MatchOptionError(
                f"{self._path}, line {line}: {quote(_text(lines[0]))} does not begin a game of a match"
            )

    def _is_whole(self, lines: list[bytes]) -> bool:
        text = b"".join(lines).decode("utf-8", "replace")
        read = list(read_records(text.splitlines(), str(self._path)))
        return len(read) == 1 and not isinstance(read[0], RecordError) and _ends(text, read[0].result)

    def _complete(self, lines: list[bytes]) -> None:
        """Write the line ends that are missing after the last game."""
        text = b"".join(lines)
        for end in (b"\n", b"\n\n"):
            if not text.endswith(end):
                os.write(self._descriptor, b"\n")
                text += b"\n"


def _split(file: Iterator[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of each game, with the number of its first line."""
    lines: list[bytes] = []
    for number, line in enumerate(file, 1):
        if line.startswith(b"[") and lines and not lines[-1].strip():
            yield number - len(lines), lines
            lines = []
        lines.append(line)
    if lines:
        yield number - len(lines) + 1, lines


def _line_of(lines: Sequence[bytes], headers: Mapping[str, str]) -> str:
    """As ``GameResult.line``, given the lines of a record."""
    moves = b" ".join(line.strip() for line in lines if not line.startswith(b"["))
    words = _COMMENT.sub(b" ", moves).split()[:-1]  # the last word is the result
    return line_of(headers.get("FEN"), [word.decode() for word in words if not word.endswith(b".")])


def _headers(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    for line in lines:
        header = _HEADER.fullmatch(_text(line))
        if header is None:
            return
        yield header[1], _ESCAPED.sub(r"\1", header[2])


def _text(line: bytes) -> str:
    """The line without its line end, which an editor may have changed."""
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _ends(text: str, result: Result) -> bool:
    """Whether the text ends with the result, and its header has the same result."""
    return text.rstrip().endswith(result.value) and f'[Result "{result.value}"]' in text
