"""A position as planes of numbers, seen by one of the players: what an agent observes.

A plane has a number for each cell: rows are the numbers in cells' names, columns their letters. On the
hexagons these are axial coordinates, and places without a cell stay 0. The observer's planes come before
those of the opponent; the board is not turned. docs/research.md lists the planes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from engines.environments.entry import GameEntry, action_space
from engines.rules.base import Side
from engines.rules.history import REPETITIONS

COMMON: Final = ("to move", "white", "plies", "occurrences")
"""Of every ladder: 1 if the observer is to move; 1 if he is White; the ply as a share of the limit; how many
times the position has occurred, as a share of the number that ends the game."""

Numbers = Sequence[float]


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the contents of cells and the other fields of a position string become numbers.

    ``cells`` and ``facts`` name them. ``read_cell`` gets the contents of a cell and the observer's letter.
    ``read_facts`` gets the fields after the side to move, except the ply, and the observer's side.
    ``most_parts`` is the number of parts of the longest moves, and ``highest`` no number exceeds.
    """

    most_parts: int
    highest: int
    cells: tuple[str, ...]
    read_cell: Callable[[str, str], Numbers]
    facts: tuple[str, ...] = ()
    read_facts: Callable[[Sequence[str], Side], Numbers] = lambda fields, side: ()


def _read_seeds(content: str, own: str) -> Numbers:
    return (float(content),)


def _read_stones(content: str, own: str) -> Numbers:
    """Of ``2w3b``, the observer's and the opponent's stones."""
    counts = {letter: float(number) for number, letter in re.findall(r"(\d+)([wb])", content)}
    return counts.pop(own, 0.0), sum(counts.values())


def _read_discs(content: str, own: str) -> Numbers:
    """Of ``bw``, a stack from the bottom, whose disc is on top and whose is beneath."""
    discs = (content[-1:], content[:-1])
    return tuple(float(disc == letter) for disc in discs for letter in (own, "wb".replace(own, "")))


def _read_pieces(content: str, own: str) -> Numbers:
    """Of ``Dr``, a disc and a ring, where capitals are White's, whose disc it is and whose ring."""
    mine, theirs = ("DR", "dr") if own == "w" else ("dr", "DR")
    return tuple(float(letter in content) for pair in zip(mine, theirs, strict=True) for letter in pair)


def _own_first(fields: Sequence[str], side: Side) -> Numbers:
    """What White and Black hold, the observer's first."""
    white, black = map(float, fields)
    return (white, black) if side is Side.WHITE else (black, white)


def _read_sowing(fields: Sequence[str], side: Side) -> Numbers:
    """The stores, whether the last move was a pass, and the run: either direction, and its changes."""
    *stores, passed, run = fields
    changes = float(run[1:] or 0)
    directions = [float(run[1:] != "" and run[0] == sign) for sign in "+-"]
    return *_own_first(stores, side), float(passed == "p"), *directions, changes


def _sowing(seeds: int) -> Encoding:
    facts = ("own store", "opponent's store", "passed", "run +", "run -", "run's changes")
    return Encoding(2, seeds, ("seeds",), _read_seeds, facts, _read_sowing)


ENCODINGS: Final = {
    "duovallis": Encoding(
        1, 80, ("own stones", "opponent's stones"), _read_stones, ("own kept", "opponent's kept"), _own_first
    ),
    "dualma": Encoding(
        3, 1, ("own on top", "opponent's on top", "own beneath", "opponent's beneath"), _read_discs
    ),
    "dogon-kulei": _sowing(48),
    "dogon-gagara": _sowing(96),
    "duploline": Encoding(6, 1, ("own disc", "opponent's disc", "own ring", "opponent's ring"), _read_pieces),
}
"""The ladders that have environments."""


class PlaneWriter:
    """Writes the planes of a ladder's positions; ``names`` are those of the planes, ``shape`` their sizes.

    The planes are the contents of cells; for each place of a move but the last the cell that is entered
    there; for each word that is no cell the place where it is entered, as a share of ``most_parts``;
    ``COMMON``; and the facts of the ladder. The last three groups have one number for all places.
    """

    def __init__(self, code: str) -> None:
        actions, encoding = action_space(code), ENCODINGS[code]
        files = sorted({cell[0] for cell in actions.cells})
        ranks = sorted({int(cell[1:]) for cell in actions.cells})
        self._encoding = encoding
        self._places = [
            ranks.index(int(cell[1:])) * len(files) + files.index(cell[0]) for cell in actions.cells
        ]
        self.names = (
            *encoding.cells,
            *(f"part {place + 1}" for place in range(encoding.most_parts - 1)),
            *actions.words,
            *COMMON,
            *encoding.facts,
        )
        self.shape = (len(self.names), len(ranks), len(files))
        self.highest = encoding.highest
        self._area = len(ranks) * len(files)
        self._read_cell = lru_cache(maxsize=4096)(encoding.read_cell)

    def planes(self, entry: GameEntry, player: int) -> array[float]:
        """The planes one after the other, each row by row, as the player of this number sees them."""
        side = entry.side_of(player)
        planes = array("f", bytes(4 * len(self.names) * self._area))
        self._write_cells(planes, entry, side)
        self._write_parts(planes, entry)
        numbers = self._common(entry, player, side) + self._facts(entry, side)
        first = (len(self.names) - len(numbers)) * self._area
        for place, number in enumerate(numbers):
            if number:
                start = first + place * self._area
                planes[start : start + self._area] = array("f", [number]) * self._area
        return planes

    def _write_cells(self, planes: array[float], entry: GameEntry, side: Side) -> None:
        board, read, own, area = entry.history.position.board(), self._read_cell, side.letter, self._area
        for place, content in zip(self._places, board.values(), strict=True):
            for plane, number in enumerate(read(content, own)):
                planes[plane * area + place] = number

    def _write_parts(self, planes: array[float], entry: GameEntry) -> None:
        """The cells that are entered, each in the plane of its place, and the words."""
        first, most, area = len(self._encoding.cells), self._encoding.most_parts, self._area
        for place, action in enumerate(entry.entered):
            if action < len(self._places):
                planes[(first + place) * area + self._places[action]] = 1.0
            else:
                start = (first + most - 1 + action - len(self._places)) * area
                planes[start : start + area] = array("f", [(place + 1) / most]) * area

    def _common(self, entry: GameEntry, player: int, side: Side) -> list[float]:
        history = entry.history
        to_move = not entry.is_over and player == entry.player
        share = history.position.ply / history.ply_limit
        return [float(to_move), float(side is Side.WHITE), share, history.occurrence / REPETITIONS]

    def _facts(self, entry: GameEntry, side: Side) -> list[float]:
        fields = str(entry.history.position).split(" ")[2:-1]
        return list(self._encoding.read_facts(fields, side))


@cache
def plane_writer(code: str) -> PlaneWriter:
    """The planes of a ladder, made once."""
    return PlaneWriter(code)
