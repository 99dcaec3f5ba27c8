"""The same boards for pictures of about 120 pixels: no coordinates, no names, and no text below 9 pixels.

Few stones in a hole are dots, as on dice, more are a number on a piece of their colour. Stores show
their share of all seeds. Coordinates are whole numbers, two to a pixel, which keeps a file short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from engines.rules.base import Position, Side
from engines.svg.elements import Spot, circle, element, lettering, polygon
from engines.svg.hexagons import ROW, winning_cells
from engines.svg.mancala import owner_by_rank, owner_in_valleys, stones_in
from engines.svg.trace import paths
from engines.svg.words import stores

WIDTH: Final = 240
MAX_DOTS: Final = 6
MAX_SMALL_DOTS: Final = 4
"""Dots in a hole; the second if the hole is smaller than ``LARGE``."""
LARGE: Final = 15
EDGE: Final = 4

_DICE: Final = {
    0: (),
    1: ((0, 0),),
    2: ((-1, 0), (1, 0)),
    3: ((-1, 1), (1, 1), (0, -1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (0, -1), (1, -1), (-1, 1), (0, 1), (1, 1)),
}
"""Places of dots in a hole, as on dice."""


def draw_dogon(position: Position, last_move: str) -> tuple[int, str]:
    """Height and drawing; Black's store is left of the holes, White's right."""
    board = position.board()
    pitch = (WIDTH - 2 * EDGE) // (len(board) // 2 + 2)
    left = (WIDTH - pitch * (len(board) // 2 + 2)) // 2
    height, radius = 2 * pitch + 2 * EDGE, pitch / 2 - 1.5

    def place(name: str) -> Spot:
        return left + pitch * (ord(name[0]) - 95.5), EDGE + pitch * (2.5 - int(name[1]))

    total = sum(map(int, board.values())) + sum(stores(position))
    drawing = [
        _panel(0, height),
        _store(left + pitch / 2, height, pitch, position, Side.BLACK, total),
        _store(WIDTH - left - pitch / 2, height, pitch, position, Side.WHITE, total),
        *_holes(board, place, radius, owner_by_rank, last_move),
        *(_seeds(place(name), int(content), radius) for name, content in board.items()),
    ]
    return height, "".join(drawing)


def draw_duovallis(position: Position, last_move: str) -> tuple[int, str]:
    """Height and drawing of the two valleys."""
    board, pitch, gap = position.board(), 38, 6
    valley = 2 * pitch + 2 * EDGE
    left = (WIDTH - 6 * pitch) // 2

    def place(name: str) -> Spot:
        row = 4 - int(name[1])
        return left + pitch * (ord(name[0]) - 96.5), EDGE + pitch * (row + 0.5) + (gap + 2 * EDGE) * (
            row // 2
        )

    drawing = [
        _panel(0, valley),
        _panel(valley + gap, valley),
        *_holes(board, place, 17, owner_in_valleys, last_move),
        *(_stones(place(name), *stones_in(content)) for name, content in board.items()),
    ]
    return 2 * valley + gap, "".join(drawing)


def draw_dualma(position: Position, last_move: str) -> tuple[int, str]:
    """Height and drawing; a stack shows both its discs."""
    return _hexagon(position, last_move, 5, _stack)


def draw_duploline(position: Position, last_move: str) -> tuple[int, str]:
    """Height and drawing; a disc lies within the ring of its cell."""
    return _hexagon(position, last_move, 4, _disc_and_ring)


def _panel(top: float, height: float) -> str:
    return element("rect", kind="face", x=1, y=top + 1, width=WIDTH - 2, height=height - 2, rx=10)


def _holes(
    board: Mapping[str, str],
    place: Callable[[str], Spot],
    radius: float,
    owner: Callable[[str], str],
    token: str,
) -> Iterator[str]:
    start = next((path[0] for path in paths(token, board)), "")
    for name in board:
        yield circle(*place(name), radius, "last from hole" if name == start else f"hole {owner(name)}")


def _store(x: float, height: float, pitch: int, position: Position, side: Side, total: int) -> str:
    """A tall pit, filled from below by the share that its seeds have of all, with their number."""
    held, half, room = stores(position)[side], pitch / 2 - 2, height - 4 * EDGE
    level = round(room * held / (total or 1))
    pit = element(
        "rect",
        kind=f"store {side.name.lower()}",
        x=x - half,
        y=2 * EDGE,
        width=2 * half,
        height=room,
        rx=half,
    )
    filled = element(
        "rect",
        kind="seed",
        x=x - half + 1,
        y=2 * EDGE + room - level,
        width=2 * half - 2,
        height=level,
        rx=min(half - 1, level / 2),
    )
    return pit + (filled if held else "") + lettering(x, height / 2, str(held), "halo")


def _dots(spot: Spot, kinds: list[str], radius: float) -> str:
    reach, dot = (0.5, 0.25) if len(kinds) > MAX_SMALL_DOTS else (0.42, 0.32)
    return "".join(
        circle(spot[0] + dx * reach * radius, spot[1] + dy * reach * radius, dot * radius, kind)
        for kind, (dx, dy) in zip(kinds, _DICE[len(kinds)], strict=True)
    )


def _seeds(spot: Spot, count: int, radius: float) -> str:
    if count <= (MAX_DOTS if radius > LARGE else MAX_SMALL_DOTS):
        return _dots(spot, ["seed"] * count, radius)
    return circle(*spot, radius - 1, "seed") + lettering(*spot, str(count), "on-seed")


def _stones(spot: Spot, white: int, black: int) -> str:
    x, y = spot
    if white + black <= MAX_DOTS:
        return _dots(spot, ["stone white"] * white + ["stone black"] * black, 17)
    if white and black:
        return _pill(x, y - 8, white, "white") + _pill(x, y + 8, black, "black")
    colour = "white" if white else "black"
    return circle(x, y, 15, f"stone {colour}") + lettering(x, y, str(white or black), f"on-{colour}")


def _pill(x: float, y: float, count: int, colour: str) -> str:
    box = element("rect", kind=f"stone {colour}", x=x - 14, y=y - 8, width=28, height=16, rx=8)
    return box + lettering(x, y, str(count), f"on-{colour}")


def _hexagon(
    position: Position, token: str, side: int, piece: Callable[[Spot, str, float], str]
) -> tuple[int, str]:
    board = position.board()
    pitch = (WIDTH - 2 * EDGE) / (2 * side - 0.4)
    height = round(WIDTH * ROW)

    def place(name: str) -> Spot:
        row, n = ord(name[0]) - 96, int(name[1:])
        return round(WIDTH / 2 + (n - side - (row - side) / 2) * pitch), round(
            height / 2 - (row - side) * pitch * ROW
        )

    reached = {path[-1] for path in paths(token, board)}
    winning = winning_cells(board, position.outcome().reason)
    across, up = round(pitch / 2), round(pitch * 0.29)
    tiles: dict[str, list[str]] = {}
    for name in board:
        x, y = place(name)
        kind = "tile win" if name in winning else "tile last" if name in reached else "tile"
        tiles.setdefault(kind, []).append(
            f"M{x:g} {y - 2 * up:g}l{across} {up}v{2 * up}l-{across} {up}-{across}-{up}v-{2 * up}z"
        )
    corners = [(4, height / 2), (62, 4), (178, 4), (236, height / 2), (178, height - 4), (62, height - 4)]
    return height, "".join(
        [
            element("path", kind="face", d=polygon(corners)),
            *(element("path", kind=kind, d="".join(figures)) for kind, figures in tiles.items()),
            *(piece(place(name), content, pitch) for name, content in board.items() if content),
        ]
    )


def _stack(spot: Spot, content: str, pitch: float) -> str:
    x, y = spot
    names = [_COLOURS[letter] for letter in content]
    if len(names) == 1:
        return circle(x, y, round(pitch * 0.4), f"disc {names[0]}")
    radius = round(pitch * 0.37)
    return circle(x - 2, y + 4, radius, f"disc {names[0]}") + circle(x + 2, y - 3, radius, f"disc {names[1]}")


def _disc_and_ring(spot: Spot, content: str, pitch: float) -> str:
    """Rings are strokes: one of the edge's colour beneath one of the ring's."""
    drawn = ""
    for letter in reversed(content):
        if letter in "dD":
            drawn += circle(*spot, round(pitch * 0.21), f"disc {_COLOURS[letter]}")
        else:
            radius = round(pitch * 0.32)
            drawn += circle(*spot, radius, f"hoop {_COLOURS[letter]} edge") + circle(
                *spot, radius, f"hoop {_COLOURS[letter]}"
            )
    return drawn


_COLOURS: Final = {"w": "white", "b": "black", "D": "white", "d": "black", "R": "white", "r": "black"}
