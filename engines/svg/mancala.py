"""The boards with holes: Dogon's two rows between two stores, Duovallis' two valleys.

A hole shows its contents as dots, up to ``MAX_DOTS``, and always as a number.
White stones are round, black ones are diamonds, so that colours are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from engines.rules import duovallis
from engines.rules.base import Position, Side
from engines.svg.elements import Spot, circle, element, lettering, polygon, polyline
from engines.svg.sowings import Sowing, trace_sowing
from engines.svg.trace import direction, paths
from engines.svg.words import NAMES, stores

PITCH: Final = 64.0
RADIUS: Final = 27.0
COUNT_ROOM: Final = 22.0
"""Height of the line of numbers beneath or above a row of holes."""

MARGIN: Final = 24.0
"""Room for the coordinates, left and beneath."""

ROW: Final = PITCH + COUNT_ROOM
VALLEY: Final = 2 * ROW + 8
GAP: Final = 12.0
"""Duovallis: a row with its numbers, a valley of two rows, and what lies between the valleys."""

MAX_DOTS: Final = 24
GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))

Place = Callable[[str], Spot]
"""Where the middle of a hole is drawn."""


def draw_dogon(
    position: Position, last_move: str, flip: bool, before: Position | None, names: bool
) -> tuple[float, float, str]:
    """Width, height and drawing; Black's store is left of the holes, White's right, unless flipped."""
    board = position.board()
    files = len(board) // 2
    width, height = MARGIN + PITCH * (files + 2), 2 * PITCH + 2 * COUNT_ROOM + MARGIN
    place = place_in_dogon(files, flip)

    def count_at(name: str) -> Spot:
        x, y = place(name)
        above = (name[1] == "2") != flip
        return x, y + (-1 if above else 1) * (PITCH / 2 + COUNT_ROOM / 2 - 3)

    sowing = None if before is None else trace_sowing(before, position, last_move)
    left, right = (Side.WHITE, Side.BLACK) if flip else (Side.BLACK, Side.WHITE)
    drawing = [
        _panel(MARGIN, 0, width - MARGIN, height - MARGIN),
        _store(MARGIN + PITCH / 2, height - MARGIN, position, left),
        _store(width - PITCH / 2, height - MARGIN, position, right),
        *(_hole(place(name), f"hole {owner_by_rank(name)}") for name in board),
        *_marks(board, last_move, place, _next_in_dogon(files, direction(last_move)), sowing),
        *(_names(board, place) if names else _seeds_and_counts(board, place, count_at)),
        *_coordinates(place, files, (1, 2), height),
        lettering(MARGIN + PITCH / 2, height - MARGIN / 2, NAMES[left], "label"),
        lettering(width - PITCH / 2, height - MARGIN / 2, NAMES[right], "label"),
        *_changes(sowing, place),
    ]
    return width, height, "".join(drawing)


def draw_duovallis(
    position: Position, last_move: str, flip: bool, before: Position | None, names: bool
) -> tuple[float, float, str]:
    """Width, height and drawing; the gap lies between the two valleys."""
    board = position.board()
    width, height = MARGIN + 6 * PITCH + 16, 2 * VALLEY + GAP + MARGIN
    place = place_in_duovallis(flip)
    sowing = None if before is None else trace_sowing(before, position, last_move)
    drawing = [
        _panel(MARGIN, 0, width - MARGIN, VALLEY),
        _panel(MARGIN, VALLEY + GAP, width - MARGIN, VALLEY),
        *(_hole(place(name), f"hole {owner_in_valleys(name)}") for name in board),
        *_marks(board, last_move, place, _next_in_valleys, sowing),
        *(_names(board, place) if names else _stones_and_counts(board, place)),
        *_coordinates(place, 6, (1, 2, 3, 4), height),
        *_changes(sowing, place, ("white", "black")),
    ]
    return width, height, "".join(drawing)


def place_in_dogon(files: int, flip: bool) -> Place:
    def place(name: str) -> Spot:
        file, rank = _square(name, files, 2, flip)
        return MARGIN + PITCH * (file + 1.5), COUNT_ROOM + PITCH * (1.5 - rank)

    return place


def place_in_duovallis(flip: bool) -> Place:
    def place(name: str) -> Spot:
        file, rank = _square(name, 6, 4, flip)
        row_from_top = 3 - rank
        y = row_from_top * ROW + (VALLEY + GAP - 2 * ROW) * (row_from_top // 2) + PITCH / 2 + 4
        return MARGIN + 8 + PITCH * (file + 0.5), y

    return place


def _names(board: Iterable[str], place: Place) -> Iterator[str]:
    """The name of each hole, in its middle."""
    return (lettering(*place(name), name, "count") for name in board)


def _seeds_and_counts(board: Mapping[str, str], place: Place, count_at: Place) -> Iterator[str]:
    yield from (_seeds(place(name), int(content)) for name, content in board.items())
    yield from (lettering(*count_at(name), content, "count") for name, content in board.items())


def _stones_and_counts(board: Mapping[str, str], place: Place) -> Iterator[str]:
    yield from (_stones(place(name), *stones_in(content)) for name, content in board.items())
    yield from (_stone_counts(place(name), *stones_in(content)) for name, content in board.items())


def stones_in(content: str) -> tuple[int, int]:
    """White and black stones of a Duovallis hole as the position string spells it, ``2w3b``."""
    white, _, rest = content.partition("w") if "w" in content else ("0", "", content)
    return int(white), int(rest.removesuffix("b") or 0)


def small_stones(x: float, y: float, count: int, colour: str) -> str:
    """Up to two kept stones in a row, leftwards from ``x``."""
    return "".join(_stone(x - 16 * index, y, 6.5, colour) for index in range(count))


def _square(name: str, files: int, ranks: int, flip: bool) -> tuple[int, int]:
    """File from the left and rank from the bottom, as drawn."""
    file, rank = ord(name[0]) - ord("a"), int(name[1]) - 1
    return (files - 1 - file, ranks - 1 - rank) if flip else (file, rank)


def owner_by_rank(name: str) -> str:
    return "white" if name[1] == "1" else "black"


def owner_in_valleys(name: str) -> str:
    return next((_name(side) for side in Side if name in duovallis.OWN[side]), "neutral")


def _panel(x: float, y: float, width: float, height: float) -> str:
    return element("rect", kind="face", x=x, y=y, width=width, height=height, rx=18)


def _hole(spot: Spot, kind: str) -> str:
    return circle(*spot, RADIUS, kind)


def _store(x: float, height: float, position: Position, side: Side) -> str:
    """A tall pit with seeds around its middle, and their number at its lower end."""
    held = stores(position)[side]
    top, bottom = 14.0, height - 14
    pit = element("rect", kind=f"store {_name(side)}", x=x - 22, y=top, width=44, height=bottom - top, rx=22)
    heap = [circle(x + dx, top + 58 + dy, 3.6, "seed") for dx, dy in _store_spots(min(held, 40))]
    return pit + "".join(heap) + lettering(x, bottom - 18, str(held), "count total")


def _store_spots(count: int) -> Iterator[Spot]:
    """Rows of four, from the middle row outward."""
    for index in range(count):
        row, column = divmod(index, 4)
        offset = (row + 1) // 2 * (1 if row % 2 else -1)
        yield (column - 1.5) * 8.6, offset * 8.6


def _name(side: Side) -> str:
    return side.name.lower()


def _heap(count: int) -> tuple[list[Spot], float]:
    """Places for ``count`` dots in a hole, in the spiral of sunflower seeds, and their radius."""
    dot = min(6.2, 0.78 * RADIUS / math.sqrt(count + 1.5))
    if count == 1:
        return [(0.0, 0.0)], dot
    scale = (RADIUS - dot - 2.5) / math.sqrt(count - 0.5)
    spread = min(scale, 2.05 * dot)
    spots = []
    for index in range(count):
        distance, angle = spread * math.sqrt(index + 0.5), index * GOLDEN_ANGLE
        spots.append((distance * math.cos(angle), distance * math.sin(angle)))
    return spots, dot


def _seeds(spot: Spot, count: int) -> str:
    if not count:
        return ""
    spots, dot = _heap(min(count, MAX_DOTS))
    return "".join(circle(spot[0] + dx, spot[1] + dy, dot, "seed") for dx, dy in spots)


def _stones(spot: Spot, white: int, black: int) -> str:
    """White stones left, black ones right; past ``MAX_DOTS`` in proportion."""
    total = white + black
    if not total:
        return ""
    shown = min(total, MAX_DOTS)
    whites = round(white * shown / total)
    spots, dot = _heap(shown)
    colours = ["white"] * whites + ["black"] * (shown - whites)
    placed = zip(sorted(spots), colours, strict=True)
    return "".join(_stone(spot[0] + dx, spot[1] + dy, dot, colour) for (dx, dy), colour in placed)


def _stone(x: float, y: float, radius: float, colour: str) -> str:
    if colour == "white":
        return circle(x, y, radius, "stone white")
    reach = radius * 1.15
    corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
    return element("path", kind="stone black", d=polygon(corners))


def _stone_counts(spot: Spot, white: int, black: int) -> str:
    """The numbers beneath a hole: white ones left, black ones right, each beside its sign."""
    x, y = spot[0], spot[1] + RADIUS + COUNT_ROOM / 2 + 3
    if white and black:
        return _signed(x - 17, y, white, "white") + _signed(x + 17, y, black, "black")
    if white or black:
        return _signed(x, y, white or black, "white" if white else "black")
    return lettering(x, y, "0", "count")


def _signed(x: float, y: float, count: int, colour: str) -> str:
    shift = 3 + 4.5 * len(str(count))
    return _stone(x - shift, y, 3.8, colour) + lettering(x + 5, y, str(count), "count")


def _coordinates(place: Place, files: int, ranks: tuple[int, ...], height: float) -> list[str]:
    letters = "abcdefgh"[:files]
    beneath = [lettering(place(f"{file}1")[0], height - MARGIN / 2, file, "label") for file in letters]
    return beneath + [lettering(MARGIN / 2, place(f"a{rank}")[1], str(rank), "label") for rank in ranks]


def _marks(
    board: Mapping[str, str],
    token: str,
    place: Place,
    after: Callable[[str], str],
    sowing: Sowing | None,
) -> Iterator[str]:
    """The last move: a ring round its origin and a wedge toward the hole sown first.

    With ``sowing`` also the way of the stones, the hole of the last one, and the captured holes.
    """
    if sowing:
        track = "".join(polyline(place(name) for name in lap) for lap in sowing.laps)
        yield element("path", kind="last track", d=track)
    for path in paths(token, board)[:1]:
        start = path[0]
        yield circle(*place(start), RADIUS + 2.5, "last from")
        if following := after(start):
            yield _wedge(place(start), place(following))
    if sowing:
        yield circle(*place(sowing.last), RADIUS + 2.5, "last to")
        yield from (circle(*place(name), RADIUS + 2.5, "last captured") for name in sowing.captured)


def _changes(sowing: Sowing | None, place: Place, colours: tuple[str, ...] = ("seeds",)) -> Iterator[str]:
    """A badge at each hole whose count changed, one a colour: ``+2``, ``−4``.

    ``data-order`` is the number of the stone that fell there first; pages animate by it.
    """
    order = sowing.order if sowing else {}
    for name, changes in (sowing.changes if sowing else {}).items():
        x, y = place(name)
        for colour, change, side in zip(colours, changes, (1 if len(colours) == 1 else -1, 1), strict=False):
            if change:
                text = f"{change:+}".replace("-", "−")
                yield element(
                    "g",
                    _badge(x + side * RADIUS * 0.72, y - RADIUS * 0.86, text, colour),
                    kind="change",
                    **{"data-order": str(order.get(name, 0))},
                )


def _badge(x: float, y: float, text: str, colour: str) -> str:
    half = 5 + 4.2 * len(text)
    box = element("rect", kind=f"badge {colour}", x=x - half, y=y - 9, width=2 * half, height=18, rx=9)
    return box + lettering(x, y, text, f"delta {colour}")


def _wedge(start: Spot, end: Spot) -> str:
    """A small arrowhead on the way from one hole to the next, just outside the first."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    tip, back, half = RADIUS + 13, RADIUS + 4, 8.0
    cos, sin = math.cos(angle), math.sin(angle)
    corners = ((tip, 0.0), (back, half), (back, -half))
    turned = [(start[0] + x * cos - y * sin, start[1] + x * sin + y * cos) for x, y in corners]
    return element("path", kind="last way", d=polygon(turned))


def _next_in_dogon(files: int, sign: str) -> Callable[[str], str]:
    """What follows a hole anticlockwise (+) or clockwise (-); nothing without a sign."""
    letters = "abcdefgh"[:files]
    ring = [f"{file}1" for file in letters] + [f"{file}2" for file in reversed(letters)]
    step = {"+": 1, "-": -1}.get(sign, 0)
    return lambda name: ring[(ring.index(name) + step) % len(ring)] if step else ""


def _next_in_valleys(name: str) -> str:
    """What the owner of a hole sows first from it; nothing for a neutral hole."""
    for own, path in zip(duovallis.OWN, duovallis.PATHS, strict=True):
        if name in own:
            return path[(path.index(name) + 1) % len(path)]
    return ""
