"""The openings of a match, for each ladder: drawn from the match's seed, or read from a file."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from engines.book import BookError, BookStart, is_records, read_book, read_game_book
from engines.console import complain
from engines.files import open_text
from engines.pairing.openings import OpeningError, iter_openings
from engines.records import read_records
from engines.rules.registry import Variant, find_game
from workers.match.options.options import MatchOptionError, MatchTerms, Order

MAX_WARNINGS = 10
KEPT_OPENINGS = 1_000
"""More than the pairs that are played at a time: a pair that is returned needs its opening again."""


class Book:
    """The openings of one ladder, by number; they do not depend on the engines that play them.

    ``draw`` gives all of them in order. The last ones are kept; for an earlier one it begins again.
    """

    def __init__(self, draw: Callable[[], Iterator[BookStart]]) -> None:
        self._draw = draw
        self._begin()

    def start(self, number: int) -> BookStart:
        """The opening ``number``, counted from 0."""
        if number < self._count - len(self._kept):
            self._begin()
        while self._count <= number:
            self._kept.append(next(self._source))
            self._count += 1
        return self._kept[number - self._count]

    def _begin(self) -> None:
        self._source = self._draw()
        self._kept: deque[BookStart] = deque(maxlen=KEPT_OPENINGS)
        self._count = 0


def make_books(terms: MatchTerms) -> dict[str, Book]:
    """A book for each ladder; raises ``MatchOptionError`` for a file with an invalid line.

    A warning on standard error names each game of a file of games that is left out because it cannot be read.
    """
    if terms.openings.file is None:
        return {code: _drawn_book(find_game(code), terms) for code in terms.ladders}
    bad: dict[str, None] = {}
    books = {code: _file_book(find_game(code), terms, bad) for code in terms.ladders}
    for sentence in islice(bad, MAX_WARNINGS):
        complain(f"warning: -openings: left out: {sentence}")
    if len(bad) > MAX_WARNINGS:
        complain(f"warning: -openings: left out: {len(bad) - MAX_WARNINGS} more games")
    return books


def _drawn_book(game: Variant, terms: MatchTerms) -> Book:
    """Openings drawn from the seed."""
    plies = terms.openings.plies
    if terms.ply_limit is not None and plies >= terms.ply_limit:
        raise MatchOptionError(
            f"-plylimit {terms.ply_limit}: the game is over after -openings random:{plies}"
        )
    book = Book(lambda: (BookStart(moves=moves) for moves in iter_openings(game, plies, terms.seed)))
    try:
        book.start(0)
    except OpeningError as error:
        raise MatchOptionError(f"-openings random:{plies}: {error}") from None
    return book


def _file_book(game: Variant, terms: MatchTerms, bad: dict[str, None]) -> Book:
    """The openings of a file, from the chosen one on; after the last one it starts again at the first.

    What is wrong with games that are left out is added to ``bad``.
    """
    openings = terms.openings
    assert openings.file is not None
    starts = list(_read_starts(game, openings.file, openings.plies, terms.ply_limit, bad))
    if not starts:
        for sentence in bad:
            raise MatchOptionError(f"{sentence}; {openings.file} has no other openings of {game.code}")
        raise MatchOptionError(f"{openings.file} has no openings of {game.code}")
    if openings.plies:
        starts = list(dict.fromkeys(starts))
    if openings.order is Order.RANDOM:
        random.Random(f"{terms.seed}/{game.code}").shuffle(starts)
    if not 1 <= openings.start <= len(starts):
        available = f"{openings.file} has {len(starts)} openings of {game.code}"
        raise MatchOptionError(f"-openings start={openings.start}: {available}")
    return Book(lambda: islice(cycle(starts), openings.start - 1, None))


def _read_starts(
    game: Variant, path: Path, plies: int, ply_limit: int | None, bad: dict[str, None]
) -> Iterator[BookStart]:
    """The openings of a file, or the first plies of its recorded games; ``plies`` 0 is all of an opening."""
    try:
        with open_text(path, encoding="utf-8-sig", errors="strict") as file:
            text = file.read()
        if is_records(text):
            if not plies:
                raise MatchOptionError(f"-openings file={path}: these are games: plies=N says how many plies")
            records = read_records(text.splitlines(), str(path))
            yield from read_game_book(game, records, plies, ply_limit, refuse=bad.setdefault)
        else:
            for start in read_book(game, text, ply_limit):
                yield replace(start, moves=start.moves[: plies or None])
    except OSError as error:
        raise MatchOptionError(f"-openings file={path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        why = "it is not a text file with one opening a line"
        raise MatchOptionError(f"-openings file={path}: {why}") from None
    except BookError as error:
        raise MatchOptionError(f"{path}, {error}") from None
