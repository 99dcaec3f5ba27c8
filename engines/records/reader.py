"""Reads records from PGN text, one at a time, so that files may have any size.

Unknown headers are kept. Quotes in a header need no escape. A game that cannot be read gives a
``RecordError`` in its place, and reading continues with the next game. The moves are not replayed.

``Reader`` takes the text apart and hands it to the ``Draft`` of the game. The drafts of ``read_records`` keep
the main line, and skip glyphs, variations and comments other than notes; those of ``variations`` keep them.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, Generic, TypeVar

from engines.records.headers import start_history
from engines.records.model import (
    HEADER_NAME,
    TOKEN,
    MoveNote,
    Record,
    RecordError,
    RecordMove,
    Source,
    is_token,
)
from engines.records.notes import BOOK, parse_note
from engines.rules.base import Position, Result, RulesError, Side
from engines.rules.registry import find_game

_TAG = re.compile(rf'\s*\[\s*({HEADER_NAME})\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
_LOOSE_TAG = re.compile(rf'\s*\[\s*({HEADER_NAME})\s+"(.*?)"\s*\]\s*(?=\[|$)')
"""A header with quotes or a last backslash that are not escaped: all between the first and the last quote."""
_UTF16 = re.compile(r"\\xff\\xfe|\\xfe\\xff|[^\0]?\0[^\0]")
"""How a line of UTF-16 begins that was read as UTF-8, with ``backslashreplace`` for other bytes."""
_BEFORE_HEADER = re.compile(
    rf"(?:\s++|\{{[^}}]*+\}}|;.*+|^%.*+|\$[0-9]*+)*+\[\s*{HEADER_NAME}\s", re.MULTILINE
)
_ESCAPED = re.compile(r"\\(.)")
_PIECE = re.compile(r"[{}()]|;.*|\$[0-9]*|[^\s{}();$]+")
_WRITTEN = re.compile(r"(?:[0-9]+\.+\s)?[^\s{}]+(?:\s\{([^}]*)\})?(?:\s|$)")
"""A move as it is written, with its number; the group is its comment."""
_WRITTEN_TOKEN = re.compile(r"(?:[0-9]+\.+\s)?([^\s{}]+)(?:\s\{[^}]*\})?(?:\s|$)")
"""The same; the group is the move."""
_TIME = re.compile(r"(?:[-+#/]\S*\s)?([0-9]+)\.([0-9]{3})s(?:\s|$)")
_SCORE = re.compile(r"(#)?([-+][0-9]+(?:\.[0-9]{2})?)(?=[\s/]|$)")
_FIRST = re.compile(r'^\[(Game|FEN) "([^"\\]*)"\]$', re.MULTILINE)
_NUMBER = re.compile(r"^[0-9]*\.+|^[0-9]+$")
_SUFFIX = re.compile(r"[!?]{1,2}$")
SUFFIXES: Final = {"!": "$1", "?": "$2", "!!": "$3", "??": "$4", "!?": "$5", "?!": "$6"}
"""Glyphs that may stand at the end of a move, and as which they are written."""
_CLOSING: Final = {")": "closes no variation", "}": "closes no comment"}
RESULTS: dict[str, Result] = {result.value: result for result in Result}
_ENDS = tuple(RESULTS)
_WRITTEN_HEADER = r'\[([A-Za-z0-9_]+) "([^"\\\n]*(?:\\.[^"\\\n]*)*)"\]\n'
_WRITTEN_HEADERS = re.compile(_WRITTEN_HEADER)
_WRITTEN_GAME = re.compile(
    rf"(?P<blank>\n*)(?P<headers>(?:{_WRITTEN_HEADER})+)\n"
    rf"(?:(?:[0-9]+\.+\s)?{TOKEN}(?:\s\{{[^][{{}}]*\}})?\s)*"
    rf"(?P<result>{'|'.join(map(re.escape, _ENDS))})"
)
"""A game as it is written. Nothing can match in two ways: the time is linear for any text."""


def read_records(lines: Iterable[str], name: str) -> Iterator[Record | RecordError]:
    """The games of ``lines`` in order; ``name`` is the file's name for error messages.

    Line ends and a byte order mark are removed.
    """
    return Reader(name, _MainLine).read(line.rstrip("\r\n") for line in lines)


def begins_header(text: str) -> bool:
    """Whether a header comes first, perhaps after comments, escape lines and glyphs."""
    return _BEFORE_HEADER.match(text) is not None


def read_headers(lines: Iterable[str], name: str) -> Iterator[Record | RecordError]:
    """Like ``read_records``, but the records have no moves: only their spelling is checked.

    20 times as fast for games as ``format_record`` writes them.
    """
    reader, game = _HeaderReader(name, _MainLine), []
    for line in lines:
        game.append(text := line.rstrip("\r\n"))
        if text.endswith(_ENDS):
            yield from map(_without_moves, reader.take_game(game))
            game = []
    yield from map(_without_moves, reader.take_all(game))
    yield from reader.end()


def _without_moves(record: Record | RecordError) -> Record | RecordError:
    return record if isinstance(record, RecordError) or not record.moves else replace(record, moves=())


def read_times(text: str) -> list[int | None]:
    """The milliseconds of each move of a record, None without; 20 times as fast as reading all of it.

    Only for a record that ``format_record`` has written, which spells everything in one way.
    """
    _, _, moves = text.partition("\n\n")
    *comments, _ = _WRITTEN.findall(moves)  # the last word is the result
    times = map(_TIME.match, comments)
    return [None if time is None else int(time[1] + time[2]) for time in times]


def read_scores(text: str) -> list[float | None]:
    """As ``read_times``, the score of each move for the engine that made it; a mate is infinite."""
    _, _, moves = text.partition("\n\n")
    *comments, _ = _WRITTEN.findall(moves)
    scores = map(_SCORE.match, comments)
    return [
        None if score is None else math.copysign(math.inf if score[1] else float(score[2]), float(score[2]))
        for score in scores
    ]


def turned_at(scores: Sequence[float | None]) -> int | None:
    """The index of the first score since which all were negative; None if all were, or if the last was not.

    Of the loser's scores: the move since which its engine never saw itself level or ahead again.
    """
    given = [(at, score) for at, score in enumerate(scores) if score is not None]
    level = max((place for place, (_, score) in enumerate(given) if score >= 0), default=-1)
    return given[level + 1][0] if 0 <= level < len(given) - 1 else None


def read_moves(text: str) -> tuple[Position, Iterator[str]]:
    """As ``read_times``, the start position and the moves."""
    headers, _, moves = text.partition("\n\n")
    tokens = (found[1] for found in _WRITTEN_TOKEN.finditer(moves))
    return _read_start(headers), takewhile(lambda token: token not in RESULTS, tokens)


def read_first_side(text: str) -> Side:
    """The side that makes the first move of a record, which is one as for ``read_times``."""
    return _read_start(text.partition("\n\n")[0]).side


def _read_start(headers: str) -> Position:
    found = dict(_FIRST.findall(headers))
    rules, fen = find_game(found["Game"]), found.get("FEN")
    position: Position = rules.position.parse(fen) if fen else rules.position.initial()
    return position


_Game = TypeVar("_Game")


class Draft(ABC, Generic[_Game]):
    """A game that is being read. Lines in a file count from 1."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.headers: dict[str, str] = {}
        self.has_movetext = False
        self.depth = 0
        """The number of variations around the next move."""
        self.error: RecordError | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.headers or self.has_movetext or self.error)

    def fail(self, why: str, line: int) -> None:
        """Record an error; only the first one counts."""
        self.error = self.error or RecordError(f"{self.source.at(line)}: {why}")

    def fail_move(self, why: str, line: int) -> None:
        """Record an error about the next move."""
        self.fail(why, line)

    def add_header(self, name: str, value: str, line: int) -> None:
        if name in self.headers:
            self.fail(f"header {name} is given twice", line)
        self.headers[name] = value

    @abstractmethod
    def add_move(self, token: str, word: str, line: int) -> None:
        """``word`` is the move as in the file, possibly with a number and a ``!``."""

    def add_glyph(self, glyph: str) -> None:
        """A glyph of the last move, as ``$`` and a number."""

    @abstractmethod
    def add_comment(self, text: str) -> None:
        """A comment in braces, on one line."""

    def add_line_comment(self, text: str) -> None:
        """A comment up to the end of a line."""

    def open_variation(self, line: int) -> None:
        self.depth += 1

    def close_variation(self) -> None:
        self.depth -= 1

    def end_without_result(self, line: int) -> None:
        self.fail_move("the moves do not end with a result", line)

    @abstractmethod
    def finish(self, result: Result) -> _Game | RecordError:
        """The game, or the first error."""


class _MainLine(Draft[Record]):
    """The main line of a game with its notes."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.moves: list[RecordMove] = []

    def fail_move(self, why: str, line: int) -> None:
        if self.error is None:
            position = self._position()
            after = f" (in position {position!r})" if position else ""
            self.fail(f"ply {len(self.moves) + 1}: {why}{after}", line)

    def _position(self) -> str:
        """The position after the moves read so far; empty if they are illegal."""
        try:
            history = start_history(self._record(Result.UNDECIDED))
            for move in self.moves:
                history.play(move.token)
        except RulesError:
            return ""
        return str(history.position)

    def add_move(self, token: str, word: str, line: int) -> None:
        if self.depth or self.error is not None:
            return
        if is_token(token):
            self.moves.append(RecordMove(token, line=line))
        else:
            self.fail_move(misspelled(word), line)

    def add_comment(self, text: str) -> None:
        """Use the first comment after a move that is a note or marks a book move."""
        if self.depth or not self.moves or self.error is not None:
            return
        move = self.moves[-1]
        if move.book or move.note is not None:
            return
        note: MoveNote | None = None if text == BOOK else parse_note(text)
        if text == BOOK or note is not None:
            self.moves[-1] = RecordMove(move.token, note, text == BOOK, move.line)

    def finish(self, result: Result) -> Record | RecordError:
        return self.error or self._record(result)

    def _record(self, result: Result) -> Record:
        return Record(tuple(self.headers.items()), tuple(self.moves), result, self.source)


class Reader(Generic[_Game]):
    """The state of the parser between two lines."""

    def __init__(self, name: str, draft: Callable[[Source], Draft[_Game]]) -> None:
        self._name = name
        self._new_draft = draft
        self._line = 0
        self._games = 0
        self._draft: Draft[_Game] | None = None
        self._comment: list[str] | None = None
        self._opened = 0
        self._is_after_blank = True
        self._is_utf16 = False
        self._tag: list[str] = []
        """The lines of a header whose end comes in a later line."""

    def read(self, lines: Iterable[str]) -> Iterator[_Game | RecordError]:
        """All games of lines without line ends."""
        yield from self.take_all(lines)
        yield from self.end()

    def begin(self) -> None:
        """Begin the first game before its first line, so that there is one also without any text."""
        self._current()

    def take(self, line: str) -> Iterator[_Game | RecordError]:
        self._line += 1
        if self._line == 1 and _UTF16.match(line):
            self._is_utf16 = True
            yield RecordError(f"{Source(self._name, 1, 1).at(1)}: not UTF-8: it looks like UTF-16")
        elif "\0" not in line:
            self._is_utf16 = False
        if not self._is_utf16 and (text := self._whole_tag(line.removeprefix("\ufeff"))) is not None:
            yield from self._take_line(text)

    def _take_line(self, text: str) -> Iterator[_Game | RecordError]:
        if self._is_open and self._begins_game(text):
            yield from self.end()
        if not self._is_open and text.lstrip().startswith("["):
            yield from self._read_headers(text)
        elif self._comment is not None or not text.startswith("%"):
            yield from self._read_movetext(text)
        self._is_after_blank = not text.strip()

    def _whole_tag(self, text: str) -> str | None:
        """The line, or if it ends a header that earlier lines began, all of the header; None before its end.

        A header without an end is closed by a blank line and by the next header.
        """
        if not self._tag:
            return text
        if not text.strip() or text.lstrip().startswith("["):
            self._close_tag()
            return text
        self._tag.append(text.strip())
        if not text.rstrip().endswith("]"):
            return None
        whole, self._tag = " ".join(self._tag), []
        return whole

    def _close_tag(self) -> None:
        if self._tag:
            self._current().fail(f"cannot read the header {_quote(self._tag[0])}", self._opened)
            self._tag = []

    def take_all(self, lines: Iterable[str]) -> Iterator[_Game | RecordError]:
        for line in lines:
            yield from self.take(line)

    def end(self) -> Iterator[_Game | RecordError]:
        """End the input: an unfinished game is an error."""
        self._close_tag()
        draft = self._draft
        if draft is not None:
            if self._comment is not None:
                draft.fail(f"the comment opened in line {self._opened} is never closed", self._opened)
            elif draft.depth:
                draft.fail(f"the variation opened in line {self._opened} is never closed", self._opened)
            else:
                draft.end_without_result(self._line)
            yield draft.finish(Result.UNDECIDED)
        self._draft, self._comment = None, None

    @property
    def _is_open(self) -> bool:
        """Whether a comment or a variation continues from the previous line."""
        return self._comment is not None or (self._draft is not None and self._draft.depth > 0)

    def _begins_game(self, text: str) -> bool:
        """Whether a header begins a game. Within a comment it means that the comment was never closed."""
        is_first = text.startswith("[Event ") or (self._is_after_blank and text.startswith("["))
        return is_first and _TAG.fullmatch(text) is not None

    def _current(self) -> Draft[_Game]:
        if self._draft is None:
            self._games += 1
            self._draft = self._new_draft(Source(self._name, self._line, self._games))
        return self._draft

    def _read_headers(self, text: str) -> Iterator[_Game | RecordError]:
        begun = self._draft
        is_first = self._is_after_blank and text.startswith("[Event ")
        if begun is not None and (begun.has_movetext or (is_first and not begun.is_empty)):
            yield from self.end()
        draft = self._current()
        end = 0
        while tag := _TAG.match(text, end) or _LOOSE_TAG.match(text, end):
            draft.add_header(tag[1], _ESCAPED.sub(r"\1", tag[2]), self._line)
            end = tag.end()
        rest = text[end:].strip()
        if rest.startswith("[") and not rest.endswith("]"):
            self._tag, self._opened = [rest], self._line
        elif rest:
            draft.fail(f"cannot read the header {_quote(text[end:])}", self._line)

    def _read_movetext(self, text: str) -> Iterator[_Game | RecordError]:
        at = 0
        while True:
            if self._comment is not None:
                at = self._read_comment(text, at)
            piece = _PIECE.search(text, at)
            if piece is None or self._comment is not None:
                return
            at = piece.end()
            yield from self._take_piece(piece[0])

    def _read_comment(self, text: str, start: int) -> int:
        """Read the open comment up to its end; returns the offset of the rest of the line."""
        assert self._comment is not None
        end = text.find("}", start)
        self._comment.append(text[start:] if end < 0 else text[start:end])
        if end < 0:
            return len(text)
        if self._draft is not None:
            self._draft.add_comment(" ".join(" ".join(self._comment).split()))
        self._comment = None
        return end + 1

    def _take_piece(self, word: str) -> Iterator[_Game | RecordError]:
        draft = self._draft
        if word == "{":
            self._open_at_outermost()
            self._comment = []
        elif word == "(":
            self._open_at_outermost()
            draft = self._current()
            draft.has_movetext = True
            draft.open_variation(self._line)
        elif word[0] == ";":
            if draft is not None:
                draft.add_line_comment(word[1:])
        elif word[0] == "$":
            if draft is not None:
                draft.add_glyph(word)
        elif word in RESULTS:
            yield from self._take_result(RESULTS[word])
        elif word == ")" and draft is not None and draft.depth:
            draft.close_variation()
        else:
            self._take_word(word)

    def _open_at_outermost(self) -> None:
        if not self._is_open:
            self._opened = self._line

    def _take_result(self, result: Result) -> Iterator[_Game | RecordError]:
        draft = self._current()
        if not draft.depth:  # in a variation it says how the game would end
            yield draft.finish(result)
            self._draft = None

    def _take_word(self, word: str) -> None:
        draft = self._current()
        draft.has_movetext = True
        move = _NUMBER.sub("", word)
        token = _SUFFIX.sub("", move)
        if token:
            draft.add_move(token, word, self._line)
        if suffix := move[len(token) :]:
            draft.add_glyph(SUFFIXES[suffix])


class _HeaderReader(Reader[Record]):
    """Reads games as they are written at once, without their moves."""

    def take_game(self, lines: Sequence[str]) -> Iterator[Record | RecordError]:
        """The same for several lines; a game as it is written is read at once, without its moves."""
        is_between = self._draft is None and not self._is_open and not self._is_utf16
        game = _WRITTEN_GAME.fullmatch("\n".join(lines)) if is_between else None
        headers = _WRITTEN_HEADERS.findall(game["headers"]) if game else []
        if game is None or len(dict(headers)) < len(headers):
            yield from self.take_all(lines)
            return
        if "\\" in game["headers"]:
            headers = [(name, _ESCAPED.sub(r"\1", value)) for name, value in headers]
        self._games += 1
        source = Source(self._name, self._line + len(game["blank"]) + 1, self._games)
        self._line += len(lines)
        self._is_after_blank = False
        yield Record(tuple(headers), (), RESULTS[game["result"]], source)


def misspelled(word: str) -> str:
    """What is wrong with a word that is no move."""
    return f"{_quote(word)} {_CLOSING.get(word, 'is not spelled as a move')}"


def _quote(word: str) -> str:
    return repr(word if len(word) <= 80 else f"{word[:79]}…")
