"""The hexagonal boards: DuAlma's stacks and DuploLine's discs in rings.

A stack of two is drawn as two discs, the upper one shifted up, so that both
colours are visible; a black piece has a second line, so that it is recognizable
without colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from engines.rules.base import Position, Reason
from engines.svg.elements import Spot, circle, element, lettering, number, polygon, polyline
from engines.svg.trace import paths

WIDTH: Final = 560.0
EDGE: Final = 11.0
"""Half the stroke that rounds the board's corners."""

ROW: Final = math.sqrt(0.75)
"""The distance from one row to the next, in cells."""

RADIUS: Final = WIDTH / 2 - EDGE
HEIGHT: Final = 2 * RADIUS * ROW + 2 * EDGE

AXES: Final = ((0, 1), (1, 0), (1, 1))
"""One step along each of the three lines through a cell: rows up, numbers up."""

Piece = Callable[[Spot, str, float], str]


def draw_dualma(
    position: Position, last_move: str, flip: bool, before: Position | None, names: bool
) -> tuple[float, float, str]:
    """Width, height and drawing."""
    return _draw(position, last_move, flip, before, 5, None if names else _stack)


def draw_duploline(
    position: Position, last_move: str, flip: bool, before: Position | None, names: bool
) -> tuple[float, float, str]:
    """Width, height and drawing."""
    return _draw(position, last_move, flip, before, 4, None if names else _disc_and_ring)


def _draw(
    position: Position,
    last_move: str,
    flip: bool,
    before: Position | None,
    side: int,
    piece: Piece | None,
) -> tuple[float, float, str]:
    """Without ``piece`` the cells have their names instead of their contents."""
    place, pitch = place_on(side, flip)
    middle = (WIDTH / 2, HEIGHT / 2)
    board = position.board()
    spots = {name: place(*coordinates(name)) for name in board}
    touched = paths(last_move, board)
    winning = winning_cells(board, position.outcome().reason)
    centre = "" if piece is None else f"{'abcdefghi'[side - 1]}{side}"
    drawing = [
        element("path", kind="rim", d=polygon(_corners(middle, RADIUS, 0))),
        element("path", kind="face rounded", d=polygon(_corners(middle, RADIUS, 0))),
        *_tiles(spots, pitch, centre, {name for path in touched for name in path}, winning),
        *(_ghost(spots[path[0]], pitch) for path in touched if before is not None and len(path) > 1),
        *(
            lettering(*spots[name], name, "count")
            if piece is None
            else element("g", piece(spots[name], content, pitch), **_motion(name, touched, spots))
            for name, content in board.items()
            if content or piece is None
        ),
        *(_arrow([spots[name] for name in path], pitch) for path in touched if len(path) > 1),
        *_labels(place, side),
    ]
    return WIDTH, HEIGHT, "".join(drawing)


def place_on(side: int, flip: bool) -> tuple[Callable[[float, float], Spot], float]:
    """Where the cell with these ``coordinates`` is drawn, and how far its neighbours are from it."""
    pitch = RADIUS / (side + 0.2)
    turned = -1 if flip else 1

    def place(row: float, n: float) -> Spot:
        across, up = n - side - (row - side + 1) / 2, row - side + 1
        return WIDTH / 2 + turned * across * pitch, HEIGHT / 2 - turned * up * pitch * ROW

    return place, pitch


def winning_cells(board: Mapping[str, str], reason: Reason) -> set[str]:
    """The cells of every line that won; empty if ``reason`` is not a line."""
    kinds, length = {
        Reason.THREE_IN_A_ROW: (("ww bw", "wb bb"), 3),
        Reason.FOUR_DISCS: (("D DR Dr", "d dR dr"), 4),
        Reason.FOUR_RINGS: (("R DR dR", "r Dr dr"), 4),
    }.get(reason, ((), 4))
    found: set[str] = set()
    for kind in kinds:
        cells = {name for name, content in board.items() if content in kind.split()}
        found.update(name for line in _lines(cells, length) for name in line)
    return found


def _lines(cells: set[str], length: int) -> Iterator[list[str]]:
    for name in cells:
        row, n = coordinates(name)
        for up, on in AXES:
            line = [f"{chr(ord('a') + row + up * k)}{n + on * k}" for k in range(length)]
            if cells.issuperset(line):
                yield line


def coordinates(name: str) -> tuple[int, int]:
    return ord(name[0]) - ord("a"), int(name[1:])


def _corners(spot: Spot, radius: float, start: float) -> Iterator[Spot]:
    for corner in range(6):
        angle = math.radians(start + 60 * corner)
        yield spot[0] + radius * math.cos(angle), spot[1] + radius * math.sin(angle)


def _tiles(
    spots: Mapping[str, Spot], pitch: float, centre: str, touched: set[str], winning: set[str]
) -> Iterator[str]:
    kinds: dict[str, list[str]] = {}
    for name, spot in spots.items():
        kind = "tile win" if name in winning else "tile last" if name in touched else "tile"
        kinds.setdefault(kind, []).append(polygon(_corners(spot, pitch * 0.545, 30)))
    yield from (element("path", kind=kind, d="".join(figures)) for kind, figures in kinds.items())
    if centre:
        yield circle(*spots[centre], pitch * 0.07, "centre")


def _stack(spot: Spot, content: str, pitch: float) -> str:
    x, y = spot
    if len(content) == 1:
        return _disc(x, y, pitch * 0.36, content)
    below = _disc(x - pitch * 0.05, y + pitch * 0.1, pitch * 0.35, content[0])
    return below + _disc(x + pitch * 0.05, y - pitch * 0.1, pitch * 0.35, content[1])


def _ghost(spot: Spot, pitch: float) -> str:
    """Where a piece stood that was moved."""
    return circle(*spot, pitch * 0.3, "ghost")


def _motion(name: str, touched: Iterable[tuple[str, ...]], spots: Mapping[str, Spot]) -> dict[str, str]:
    """For the cell that a piece moved to: the way there from its origin, for pages that animate it."""
    for path in touched:
        if len(path) > 1 and path[-1] == name:
            (x1, y1), (x2, y2) = spots[path[0]], spots[name]
            return {"data-from": f"{x1 - x2:.1f} {y1 - y2:.1f}"}
    return {"data-new": "1"} if (name,) in touched else {}


def _disc_and_ring(spot: Spot, content: str, pitch: float) -> str:
    drawn = {"D": _small_disc, "R": _ring}
    return "".join(drawn[piece.upper()](spot, piece, pitch) for piece in reversed(content))


def _disc(x: float, y: float, radius: float, letter: str) -> str:
    """A disc of colour ``w`` or ``b``."""
    if letter == "w":
        return circle(x, y, radius, "disc white")
    return circle(x, y, radius, "disc black") + circle(x, y, radius * 0.62, "groove")


def _small_disc(spot: Spot, letter: str, pitch: float) -> str:
    return _disc(*spot, pitch * 0.21, "w" if letter.isupper() else "b")


def _ring(spot: Spot, letter: str, pitch: float) -> str:
    """A ring as one figure with a hole in it, so that its two edges are drawn alike."""
    outer, inner = pitch * 0.41, pitch * 0.27
    figure = element(
        "path",
        kind="ring white" if letter == "R" else "ring black",
        rule="evenodd",
        d=_round(spot, outer) + _round(spot, inner),
    )
    return figure if letter == "R" else figure + circle(*spot, (outer + inner) / 2, "groove")


def _round(spot: Spot, radius: float) -> str:
    """Path data of a full circle, as two half ones."""
    reach, across = number(radius), number(2 * radius)
    start = f"M{number(spot[0] - radius)} {number(spot[1])}"
    return f"{start}a{reach} {reach} 0 1 0 {across} 0a{reach} {reach} 0 1 0 -{across} 0z"


def _arrow(path: list[Spot], pitch: float) -> str:
    """From the first cell's middle through those between to just inside the last."""
    (x1, y1), (x2, y2) = path[-2:]
    angle = math.atan2(y2 - y1, x2 - x1)
    tip = (x2 - pitch * 0.2 * math.cos(angle), y2 - pitch * 0.2 * math.sin(angle))
    barb = pitch * 0.17
    left, right = (
        (tip[0] - barb * math.cos(angle + turn), tip[1] - barb * math.sin(angle + turn))
        for turn in (-0.6, 0.6)
    )
    figure = polyline([*path[:-1], tip]) + polyline([left, tip, right])
    return element("path", kind="path", d=figure) + circle(*path[0], pitch * 0.07, "start")


def _labels(place: Callable[[float, float], Spot], side: int) -> Iterable[str]:
    """Row letters left of each row, numbers at the lower right end of each diagonal."""
    for row in range(2 * side - 1):
        first = max(1, row - side + 2)
        yield lettering(*place(row, first - 0.8), "abcdefghi"[row], "label")
    for n in range(1, 2 * side):
        lowest = max(0, n - side)
        yield lettering(*place(lowest - 0.8, n), str(n), "label")
