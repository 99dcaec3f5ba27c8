"""Writes records as PGN: the export grammar, with the moves and comments of our games."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

from engines.records.headers import FIRST_RULES, check_headers, start_history
from engines.records.model import HEADER_NAME, HEADERS, Record, RecordError, RecordMove, are_tokens, is_token
from engines.records.notes import BOOK, format_note
from engines.rules.base import Result
from engines.rules.history import History
from engines.terminations import Termination

LINE_LENGTH = 79
MAX_EVIDENCE = 500

_NAME = re.compile(HEADER_NAME)
_DATE = re.compile(r"[0-9?]{4}\.[0-9?]{2}\.[0-9?]{2}")
_BREAKING = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that cannot stand within one line of UTF-8."""
_RANK = {name: rank for rank, name in enumerate(HEADERS)}


def clean_text(text: str, limit: int = MAX_EVIDENCE) -> str:
    """``text`` for a header: one line of at most ``limit`` characters.

    Replaces characters that cannot be written or printed, such as those that change the reading direction.
    """
    cleaned = "".join(c if c.isprintable() and not _breaks(c) else "\ufffd" for c in " ".join(text.split()))
    return cleaned if len(cleaned) <= limit else f"{cleaned[: limit - 1]}…"


def _breaks(character: str) -> bool:
    return unicodedata.category(character) in _BREAKING


def format_record(record: Record) -> str:
    """One game as PGN, ending in a newline; raises ``RecordError`` if something is wrong.

    Sorts the headers. Does not replay the moves: ``verify_record`` does.
    """
    _check_texts(record)
    _check_moves(record.moves)
    for disagreement in check_headers(record):
        raise RecordError(disagreement.sentence)
    start = start_history(record)
    _check_spelling(record, start)
    comments = [
        BOOK if move.book else "" if move.note is None else format_note(move.note) for move in record.moves
    ]
    second_moves_first = start.position.side is not start.game.first
    tokens = [move.token for move in record.moves]
    moves = format_moves(tokens, comments, record.result, second_moves_first)
    return f"{format_headers(record.headers)}\n{moves}"


def format_headers(headers: Iterable[tuple[str, str]]) -> str:
    """The lines of headers in the order of a record. Does not check them."""
    lines = sorted([_ranked_line(*header) for header in headers], key=itemgetter(0))
    return "".join([line for _, line in lines])


@lru_cache(maxsize=256)
def _ranked_line(name: str, value: str) -> tuple[int, str]:
    """A header's place in the order, and its line. Cached: games of one event have most headers in common."""
    value = value.replace("\\", "\\\\").replace('"', '\\"')
    return _RANK.get(name, len(_RANK)), f'[{name} "{value}"]\n'


def format_moves(
    tokens: Sequence[str], comments: Sequence[str], result: Result, second_moves_first: bool = False
) -> str:
    """The moves with their comments, and the result, in lines. Does not check them.

    An empty comment is left out. ``second_moves_first``: at the start, the second player of a round is to
    move.
    """
    numbers, after_comments = number_plies(second_moves_first, len(tokens).bit_length())
    if all(comments):  # as in most games
        moves = zip(after_comments, tokens, comments, strict=False)
        pieces = [f"{number}{token} {{{comment}}}" for number, token, comment in moves]
    else:
        pieces, needs_number = [], True
        for ply, (token, comment) in enumerate(zip(tokens, comments, strict=True)):
            number = (after_comments if needs_number else numbers)[ply]
            needs_number = comment != ""
            pieces.append(f"{number}{token} {{{comment}}}" if needs_number else f"{number}{token}")
    pieces.append(result.value)
    return fill_lines(" ".join(pieces))


def _check_texts(record: Record) -> None:
    names = set()
    for name, value in record.headers:
        if not _NAME.fullmatch(name):
            raise RecordError(f"{name!r} is not the name of a header")
        if name in names:
            raise RecordError(f"header {name} is given twice")
        if not value.isprintable() and any(map(_breaks, value)):
            raise RecordError(f"header {name} holds a character that cannot be written: {value!r}")
        names.add(name)


def _check_moves(moves: Sequence[RecordMove]) -> None:
    if are_tokens([move.token for move in moves]) and not any(move.book and move.note for move in moves):
        return
    for ply, move in enumerate(moves, 1):
        if not is_token(move.token):
            raise RecordError(f"ply {ply}: {move.token!r} is not spelled as a move")
        if move.book and move.note is not None:
            raise RecordError(f"ply {ply}: a book move must not have a note")


def _check_spelling(record: Record, start: History) -> None:
    """Check values that a reader accepts in several spellings, but that are written in one."""
    if not _DATE.fullmatch(record.header("Date")):
        raise RecordError(f"header Date is {record.header('Date')!r}, not YYYY.MM.DD")
    if record.has("FEN") and start.position == start.game.position.initial():
        raise RecordError("header FEN is the initial position: it must be left out")
    if record.header("RulesVersion") == str(FIRST_RULES):
        raise RecordError("header RulesVersion is 1: it must be left out")
    if record.header("PlyLimit") == str(start.game.ply_limit):
        raise RecordError("header PlyLimit is the game's default: it must be left out")
    if record.has("Reason") and record.header("Termination") != Termination.RULES:
        raise RecordError("header Reason must be left out unless the rules ended the game")


@lru_cache(maxsize=64)
def number_plies(second_moves_first: bool, bits: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The number before each ply below two to the ``bits``: after a move alone, and after a comment."""
    plies = [divmod(ply, 2) for ply in range(second_moves_first, (1 << bits) + second_moves_first)]
    always = [f"{round_ + 1}... " if second else f"{round_ + 1}. " for round_, second in plies]
    return tuple(["" if second else text for (_, second), text in zip(plies, always, strict=True)]), tuple(
        always
    )


def fill_lines(text: str) -> str:
    """Break lines as late as possible; a word longer than a line gets its own line."""
    lines, start = [], 0
    while len(text) - start > LINE_LENGTH:
        end = text.rfind(" ", start, start + LINE_LENGTH + 1)
        if end < 0:
            end = text.find(" ", start)
        if end < 0:
            break
        lines.append(text[start:end])
        start = end + 1
    lines.append(text[start:] + "\n")
    return "\n".join(lines)
