"""Books of openings: texts with an opening a line, and those in which the results of games are near even.

A line has moves, or a position string with or without ``moves …`` after it. Lines under a heading
``[LADDER]`` are of this ladder, those above the first heading of all ladders. Empty lines and those with
``#`` are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from engines.records import Record, RecordError
from engines.records.model import is_token
from engines.records.reader import begins_header
from engines.rules.base import Outcome, Position, Result, RulesError
from engines.rules.history import History
from engines.rules.registry import Variant, find_game

PLIES: Final = 4
LEAST_GAMES: Final = 10
BALANCE: Final = 10
"""The most per cent by which White's score may differ from one half."""
MOST: Final = 100
"""Openings of a book."""
_POINTS: Final = {Result.WHITE_WINS: 1.0, Result.DRAW: 0.5, Result.BLACK_WINS: 0.0}


@dataclass(frozen=True, slots=True)
class BookStart:
    """The start of a game: a position string (None: the initial position), and moves from there."""

    fen: str | None = None
    moves: tuple[str, ...] = ()


class BookError(ValueError):
    """A line of a book is not an opening; the text begins with its number."""


def read_book(game: Variant, text: str, ply_limit: int | None = None) -> Iterator[BookStart]:
    """The openings of a ladder; raises ``BookError``. ``ply_limit`` None is the game's own limit."""
    ladder = game.code
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        place = f"line {number}"
        try:
            if line.startswith("["):
                ladder = find_game(line.removeprefix("[").removesuffix("]").strip()).code
            elif line and not line.startswith("#") and ladder == game.code:
                place += f", for {game.code}"
                yield parse_start(game, line, ply_limit)
        except RulesError as error:
            raise BookError(f"{place}: {error}") from None


def parse_start(game: Variant, line: str, ply_limit: int | None = None) -> BookStart:
    """Parse a line of a book; raises ``RulesError``, also if the game is over after its moves."""
    words = line.split()
    if is_token(words[0]):
        start = BookStart(moves=tuple(words))
    else:
        position, _, moves = line.strip().partition(" moves ")
        start = BookStart(position, tuple(moves.split()))
    outcome = _play_start(game, start, ply_limit)
    if outcome.decided:
        raise RulesError(f"the game is over after {line.strip()!r}: {outcome.reason}")
    return start


def _play_start(game: Variant, start: BookStart, ply_limit: int | None) -> Outcome:
    history = History(game, None if start.fen is None else game.position.parse(start.fen), ply_limit)
    for token in start.moves:
        history.play(token)
    return history.outcome


def is_records(text: str) -> bool:
    """Whether a book is a file of recorded games, and not of openings."""
    return begins_header(text)


def read_game_book(
    game: Variant,
    records: Iterable[Record | RecordError],
    plies: int,
    ply_limit: int | None = None,
    *,
    refuse: Callable[[str], None],
) -> Iterator[BookStart]:
    """The first plies of the recorded games of a ladder; ``refuse`` gets what is wrong with each bad game.

    Left out are games that are over by then.
    """
    for record in records:
        if isinstance(record, RecordError):
            refuse(str(record))
            continue
        if record.header("Game") != game.code:
            continue
        tokens = tuple(move.token for move in record.moves[:plies])
        start = BookStart(record.header("FEN") or None, tokens)
        try:
            outcome = _play_start(game, start, ply_limit)
        except RulesError as error:
            place = record.source and record.source.at(record.source.line)
            refuse(f"{place}: {error}")
            continue
        if len(tokens) == plies and not outcome.decided:
            yield start


# Balanced openings


@dataclass(frozen=True, slots=True)
class Opening:
    """Moves from the initial position, and the results of the games that reached their position."""

    moves: tuple[str, ...]
    games: int
    points: float
    """White's."""

    @property
    def share(self) -> float:
        """White's score in per cent."""
        return 100 * self.points / self.games


@dataclass(slots=True)
class _Reached:
    games: int = 0
    points: float = 0.0
    lines: Counter[tuple[str, ...]] = field(default_factory=Counter)


def count_openings(game: Variant, records: Iterable[Record], plies: int = PLIES) -> list[Opening]:
    """The positions after so many plies of the records of this game, each with its most frequent moves.

    Positions that a symmetry maps onto each other count as one. Left out are records of other games, without
    a result, from another start, and those that are over by then.
    """
    reached: dict[Hashable, _Reached] = {}
    for record in records:
        if record.header("Game") != game.code or record.has("FEN") or record.result not in _POINTS:
            continue
        moves = tuple(move.token for move in record.moves[:plies])
        if len(record.moves) <= plies or (end := _play(game, moves)) is None:
            continue
        found = reached.setdefault(end.canonical()[0], _Reached())
        found.games += 1
        found.points += _POINTS[record.result]
        found.lines[moves] += 1
    return [
        Opening(min(one.lines, key=lambda line: (-one.lines[line], line)), one.games, one.points)
        for one in reached.values()
    ]


def _play(game: Variant, moves: Sequence[str]) -> Position | None:
    """The position after the moves; None if one is illegal."""
    position: Position = game.position.initial()
    try:
        for token in moves:
            position = position.play(token)
    except RulesError:
        return None
    return position


def choose_balanced(
    openings: Iterable[Opening], least_games: int = LEAST_GAMES, balance: float = BALANCE, most: int = MOST
) -> list[Opening]:
    """Those with at least so many games and a score within ``balance`` of one half, the most games first."""
    even = [one for one in openings if one.games >= least_games and abs(one.share - 50) <= balance]
    return list(islice(sorted(even, key=lambda one: (-one.games, abs(one.share - 50), one.moves)), most))


def format_book(game: Variant, openings: Iterable[Opening]) -> str:
    """The text of a book, which ends in a newline."""
    return "".join(f"{line}\n" for line in _lines(game, openings))


def _lines(game: Variant, openings: Iterable[Opening]) -> Iterator[str]:
    yield f"[{game.code}]"
    for opening in openings:
        yield f"# {opening.games} games, White {opening.share:.1f} %"
        yield " ".join(opening.moves)
