"""The book of a ladder's balanced openings, from the counts of the explorer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from django.db.models import Sum

from engines.book import Opening, choose_balanced
from engines.rules.base import Position
from engines.rules.registry import find_game
from engines.rules.symmetry import Symmetry
from tournament.caches import cache
from tournament.models import ExplorerMove
from tournament.services.explorer.counting import in_chunks
from tournament.services.explorer.positions import position_number

KEPT_SECONDS = 600
MAX_POSITIONS = 2_400
"""Positions from which the search goes on, the same number of each ply: those that most games reached."""


class _Line(NamedTuple):
    moves: tuple[str, ...]
    position: Position
    symmetry: Symmetry
    """Maps the position to its canonical form."""


def find_book(ladder: str, plies: int, least_games: int, balance: float, most: int) -> list[Opening]:
    """The balanced openings of so many plies; see ``engines.book.choose_balanced``.

    The games that are counted may be ``KEPT_SECONDS`` seconds old.
    """
    key = f"openings-{ladder}-{plies}"
    openings: list[Opening] | None = cache.get(key)
    if openings is None:
        openings = _find_openings(ladder, plies)
        cache.set(key, openings, KEPT_SECONDS)
    return choose_balanced(openings, least_games, balance, most)


def _find_openings(ladder: str, plies: int) -> list[Opening]:
    start: Position = find_game(ladder).position.initial()
    lines = dict([_numbered(ladder, (), start)])
    for _ in range(plies):
        lines = _next_ply(ladder, lines, MAX_POSITIONS // plies)
    games, points = dict.fromkeys(lines, 0), dict.fromkeys(lines, 0.0)
    for number, _, wins, draws, losses in _moves_of(lines):
        games[number] += wins + draws + losses
        points[number] += wins + draws / 2
    return [Opening(line.moves, games[number], points[number]) for number, line in lines.items()]


def _next_ply(ladder: str, lines: dict[int, _Line], most: int) -> dict[int, _Line]:
    """The ``most`` frequent positions one ply later, each with its most frequent way."""
    found: dict[int, _Line] = {}
    for number, move, *_ in sorted(_moves_of(lines), key=lambda row: (-sum(row[2:]), row[:2])):
        if len(found) == most:
            break
        moves, position, symmetry = lines[number]
        token = symmetry.turn_back(move)
        after = position.play(token)
        if not after.outcome().decided:
            found.setdefault(*_numbered(ladder, (*moves, token), after))
    return found


def _numbered(ladder: str, moves: tuple[str, ...], position: Position) -> tuple[int, _Line]:
    form, symmetries = position.canonical()
    return position_number(ladder, form, position.side), _Line(moves, position, symmetries[0])


def _moves_of(numbers: Collection[int]) -> Iterator[tuple[int, str, int, int, int]]:
    """The moves in these positions: White's wins, draws and losses with each."""
    for some in in_chunks(sorted(numbers)):
        moves = ExplorerMove.objects.filter(position__in=some).order_by().values("position", "move")
        sums = moves.annotate(w=Sum("wins"), d=Sum("draws"), l=Sum("losses"))
        yield from sums.values_list("position", "move", "w", "d", "l")
