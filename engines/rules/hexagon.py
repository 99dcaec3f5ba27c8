"""The hexagonal boards of DuAlma (side 5) and DuploLine (side 4): names, cell numbers, tables.

Rows are lettered from the bottom, ``a`` upward; numbers run along the
diagonals, as in Abalone: the neighbours of a cell are (row, n±1), (row above,
n), (row above, n+1), (row below, n) and (row below, n−1). Side 4::

        g   4 5 6 7
       f   3 4 5 6 7
      e   2 3 4 5 6 7
     d   1 2 3 4 5 6 7
      c   1 2 3 4 5 6
       b   1 2 3 4 5
        a   1 2 3 4

A set of cells is an int with bit k set for the cell numbered k (a bitboard),
and no set needs more than 61 bits. There are two ways to number the cells:

- packed (``pitch=None``): one after the other from a1. Any board of up to
  63 cells fits into a machine word; neighbours are found in tables.
- with a pitch: row × pitch + (n − 1). Then a step in a given direction is the
  same shift everywhere (1 along the row, ``pitch`` to the row above at the
  same n, ``pitch + 1`` to the row above at n+1), so that a whole set moves at
  once. A pitch one above the longest row leaves an unused column:
  bits that are shifted off one side are there and not in the next row.

All tables are made at import and never change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeVar

from engines.rules.base import quote
from engines.rules.native import i64
from engines.rules.notation import field_error, split_parts
from engines.rules.symmetry import Symmetry

T = TypeVar("T")

DIRECTIONS: Final = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))
"""The six steps as (rows up, numbers up), anticlockwise from the right; the last three reverse the first."""

AXES: Final = DIRECTIONS[:3]
"""One direction for each of the three lines through a cell."""

_PRIME: Final = 67
"""The powers of two from 1 to 2**65 have different remainders by it: 2 is a primitive root."""


def cells_of(bits: int) -> Iterator[int]:
    """The numbers of the cells in a set, ascending."""
    while bits:
        lowest = bits & -bits  # two's complement: only the lowest set bit remains
        yield lowest.bit_length() - 1
        bits ^= lowest


def by_remainder(cells: Sequence[T], missing: T) -> tuple[T, ...]:
    """What belongs to each cell, arranged so that ``remainder`` finds that of the lowest cell of a set."""
    places = {(1 << cell) % _PRIME: thing for cell, thing in enumerate(cells)}
    return tuple([places.get(remainder, missing) for remainder in range(_PRIME)])


def remainder(bits: i64) -> i64:
    """The place of the lowest cell of a set, which must not be empty, in a table of ``by_remainder``.

    Compiled, ``bit_length`` would have to convert the machine word to an object.
    """
    return (bits & -bits) % _PRIME


_NUMBERS: Final = by_remainder(range(63), -1)


def lowest_cell(bits: i64) -> i64:
    """The number of the first cell in a set, which must not be empty."""
    return _NUMBERS[remainder(bits)]


def cell_at(bits: i64, index: i64) -> i64:
    """The number of the cell at ``index`` of a set, from 0; there must be one."""
    for _ in range(index):
        bits &= bits - 1  # removes the lowest cell
    return lowest_cell(bits)


def count_cells(bits: i64) -> i64:
    """The number of cells in a set: counts bits in pairs, then in groups of four, then in bytes.

    The remainder by 255 adds up the bytes. ``bit_count`` is slow for the same reason as ``bit_length``.
    """
    bits -= bits >> 1 & 0x1555555555555555
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333)
    return (bits + (bits >> 4) & 0x0F0F0F0F0F0F0F0F) % 255


class Hexagon:
    """The cells of one board and the tables over them.

    ``rows`` holds the cell numbers of each row, ``a`` first, left to right.
    ``names`` and ``around`` (the set of neighbours) are indexed by cell number; with a
    pitch, numbers that are no cell have an empty name. ``numbers`` is the inverse of
    ``names``, ``full`` the set of all cells, ``centre`` the number of the middle one.
    """

    def __init__(self, side: int, pitch: int | None = None) -> None:
        self.side = side
        self.letters = "abcdefghi"[: 2 * side - 1]
        self._places: dict[tuple[int, int], int] = {}
        for row in range(2 * side - 1):
            for n in range(max(1, row - side + 2), min(2 * side - 1, side + row) + 1):
                self._places[row, n] = len(self._places) if pitch is None else row * pitch + n - 1
        self.cells = tuple(self._places.values())
        self._symmetries: tuple[Symmetry, ...] = ()
        self._turned: tuple[tuple[int, ...], ...] = ()
        self.numbers = {f"{self.letters[row]}{n}": cell for (row, n), cell in self._places.items()}
        names = {cell: name for name, cell in self.numbers.items()}
        self.names = tuple(names.get(cell, "") for cell in range(self.cells[-1] + 1))
        self.rows = tuple(
            tuple(self.numbers[name] for name in self.numbers if name[0] == letter) for letter in self.letters
        )
        self.full = sum(1 << cell for cell in self.cells)
        self.centre = self._places[side - 1, side]
        self.around = tuple(
            sum(1 << near for near in self.at_distance(cell, 1)) if name else 0
            for cell, name in enumerate(self.names)
        )

    def at_distance(self, cell: int, distance: int) -> tuple[int, ...]:
        """The cells exactly ``steps`` away in a straight line, in the order of ``DIRECTIONS``."""
        row, n = self._coordinates(cell)
        found = (self._places.get((row + up * distance, n + on * distance)) for up, on in DIRECTIONS)
        return tuple(target for target in found if target is not None)

    def lines(self, length: int) -> tuple[int, ...]:
        """The set of cells of every straight line of ``length`` consecutive cells, each once."""
        found = []
        for row, n in self._places:
            for up, on in AXES:
                line = [self._places.get((row + up * k, n + on * k)) for k in range(length)]
                if None not in line:
                    found.append(sum(1 << cell for cell in line if cell is not None))
        return tuple(found)

    def _coordinates(self, cell: int) -> tuple[int, int]:
        name = self.names[cell]
        return self.letters.index(name[0]), int(name[1:])

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The six rotations about the centre, and their mirror images; the first is the identity."""
        if not self._symmetries:
            self._find_symmetries()
        return self._symmetries

    def turned(self, cells: i64, number: i64) -> i64:
        """A set of cells after the symmetry of this number, byte by byte from a table."""
        if not self._turned:
            self._find_symmetries()
        table = self._turned[number]
        found: i64 = 0
        first: i64 = 0
        while cells:
            found |= table[first + (cells & 255)]
            cells >>= 8
            first += 256
        return found

    def _find_symmetries(self) -> None:
        """Make the tables of the symmetries, which few programs need and take some milliseconds."""
        maps = [
            {place: self._map(place, turns, is_mirrored) for place in self._places}
            for is_mirrored in (False, True)
            for turns in range(6)
        ]
        names = {place: name for name, place in zip(self.numbers, self._places, strict=True)}
        self._turned = tuple(
            [self._table({self._places[a]: self._places[b] for a, b in one.items()}) for one in maps]
        )
        self._symmetries = tuple([Symmetry({names[a]: names[b] for a, b in one.items()}) for one in maps])

    def _map(self, place: tuple[int, int], turns: int, is_mirrored: bool) -> tuple[int, int]:
        """Where a cell comes to, by row and number: from the centre it is so many steps up and aslant."""
        up, on = place[0] - self.side + 1, place[1] - self.side
        if is_mirrored:
            up, on = on - up, on
        for _ in range(turns):
            up, on = on, on - up
        return up + self.side - 1, on + self.side

    def _table(self, cells: dict[int, int]) -> tuple[int, ...]:
        """For each byte of a set and each of its values: the set of the cells after a map."""
        table = []
        for first in range(0, self.cells[-1] + 1, 8):
            for byte in range(256):
                there = [cells[first + bit] for bit in range(8) if byte >> bit & 1 and first + bit in cells]
                table.append(sum(1 << cell for cell in there))
        return tuple(table)

    def parse_rows(self, field: str, contents: Collection[str]) -> dict[int, str]:
        """Parse the first field of a position string: the occupied cells and their contents.

        ``contents`` are the allowed contents of a cell. Raises ``PositionError``
        unless the spelling is canonical: as many rows as the board
        has, each exactly filled, a run of empty cells written as one number.
        """
        rows = split_parts(field, "/", len(self.rows), "rows", "rows")
        occupied: dict[int, str] = {}
        for letter, cells, text in zip(reversed(self.letters), reversed(self.rows), rows, strict=True):
            occupied.update(_parse_row(letter, cells, text, contents))
        return occupied

    def format_rows(self, content: Callable[[int], str]) -> str:
        """The first field of a position string; ``content`` spells a cell, empty for an empty one."""
        return "/".join(_format_row(content(cell) for cell in cells) for cells in reversed(self.rows))


def _parse_row(
    letter: str, cells: tuple[int, ...], text: str, contents: Collection[str]
) -> Iterator[tuple[int, str]]:
    runs = {str(length): length for length in range(1, len(cells) + 1)}
    column = 0
    after_run = False
    for word in text.split(","):
        is_run = word in runs
        if is_run and after_run:
            raise field_error("rows", text, f"row {letter} writes a run of empty cells as two numbers")
        if not is_run and word not in contents:
            raise field_error(
                "rows", text, f"in row {letter}, {quote(word)} is no cell and no run of empty cells"
            )
        if not is_run and column < len(cells):
            yield cells[column], word  # a row that is too long is refused below
        column += runs.get(word, 1)
        after_run = is_run
    if column != len(cells):
        raise field_error("rows", text, f"row {letter} has {column} cells instead of {len(cells)}")


def _format_row(contents: Iterator[str]) -> str:
    words: list[str] = []
    run = 0
    for content in contents:
        if content and run:
            words.append(str(run))
        if content:
            words.append(content)
        run = 0 if content else run + 1
    return ",".join([*words, str(run)] if run else words)
