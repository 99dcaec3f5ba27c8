"""A board as SVG: ``draw(position)``, for pages, records and the command line.

Begin with ``draw``; ``mancala`` and ``hexagons`` draw the boards, ``small`` the pictures of lists. A drawing
contains classes, not colours: ``style`` lists the classes, and its ``STYLE`` and ``MATERIALS`` are included
once on a page. Charts and the rest of a page are drawn by the site. The rules never import this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from engines.rules.base import Position, Side
from engines.svg import small
from engines.svg.elements import Spot, circle, element, lettering
from engines.svg.hexagons import coordinates, draw_dualma, draw_duploline, place_on
from engines.svg.mancala import (
    RADIUS,
    draw_dogon,
    draw_duovallis,
    place_in_dogon,
    place_in_duovallis,
    small_stones,
)
from engines.svg.style import MATERIALS, STYLE, flat_style, needed_style
from engines.svg.words import (
    NAMES,
    describe,
    final_count,
    game_code,
    game_name,
    holding,
    spoken_content,
    standing,
    stores,
    summarize,
)

__all__ = [
    "MATERIALS",
    "STYLE",
    "describe",
    "draw",
    "draw_names",
    "draw_small",
    "final_count",
    "flat_style",
    "is_wide",
    "summarize",
]

STRIP: Final = 40.0
"""Height of a player's line above or beneath the board."""

SIZE: Final = 480
"""The width of a drawing."""

PADDING: Final = 8.0

MARGIN_LEFT: Final = 18.0

Drawing = Callable[[Position, str, bool, Position | None, bool], tuple[float, float, str]]

_DRAWINGS: Final[dict[str, Drawing]] = {
    "duovallis": draw_duovallis,
    "dualma": draw_dualma,
    "dogon-kulei": draw_dogon,
    "dogon-gagara": draw_dogon,
    "duploline": draw_duploline,
}

_SMALL: Final[dict[str, Callable[[Position, str], tuple[int, str]]]] = {
    "duovallis": small.draw_duovallis,
    "dualma": small.draw_dualma,
    "dogon-kulei": small.draw_dogon,
    "dogon-gagara": small.draw_dogon,
    "duploline": small.draw_duploline,
}

Places = Callable[[Position, bool], tuple[Callable[[str], Spot], float]]
"""Where each cell is drawn, flipped or not, and the radius of its button."""


def _in_dogon(position: Position, flip: bool) -> tuple[Callable[[str], Spot], float]:
    return place_in_dogon(len(position.board()) // 2, flip), RADIUS


def _in_hexagon(side: int) -> Places:
    def places(position: Position, flip: bool) -> tuple[Callable[[str], Spot], float]:
        place, pitch = place_on(side, flip)
        return lambda name: place(*coordinates(name)), pitch / 2

    return places


_PLACES: Final[dict[str, Places]] = {
    "duovallis": lambda position, flip: (place_in_duovallis(flip), RADIUS),
    "dualma": _in_hexagon(5),
    "dogon-kulei": _in_dogon,
    "dogon-gagara": _in_dogon,
    "duploline": _in_hexagon(4),
}

_WIDE: Final = frozenset({"dogon-kulei", "dogon-gagara"})
"""Games whose board is more than twice as wide as high."""

_HELD: Final = frozenset({"duovallis", "duploline"})
"""Games in which a player's line shows what he holds."""


def draw(
    position: Position,
    *,
    last_move: str = "",
    before: Position | None = None,
    flip: bool = False,
    players: bool = True,
    targets: bool = False,
    over: bool = False,
    size: int = SIZE,
    style: str = "",
) -> str:
    """The board as one well-formed ``<svg>`` element, ``size`` pixels wide, White below unless ``flip``.

    ``last_move`` may be any text: names that are not cells are ignored. With ``before``, the position
    that ``last_move`` was played in, the whole move is shown: the way of a sowing with every change of a
    hole, the cell that a piece left. Without ``players`` their names are left out, for pages that show them
    beside the board, and what they hold stays. With ``targets`` each cell has an invisible button, for pages
    on which moves are entered (``data-cell``). With ``over`` the game has ended, and nobody is to move.
    ``style`` is embedded, for a separate file: ``STYLE`` or ``flat_style()``, any other text unescaped;
    ``MATERIALS`` is embedded with it.
    """
    code = game_code(position)
    width, height, board = _DRAWINGS[code](position, last_move, flip, before, False)
    far, near = (Side.WHITE, Side.BLACK) if flip else (Side.BLACK, Side.WHITE)
    strip = STRIP if players or code in _HELD else 0.0
    full_width, full_height = width + 2 * PADDING, height + 2 * strip + 2 * PADDING
    spoken = describe(position, last_move, over=over)
    return element(
        "svg",
        element("title", spoken),
        element("style", style) + MATERIALS if style else "",
        _strip(position, far, strip / 2, width, players, over) if strip else "",
        element(
            "g", board, *(_targets(position, flip) if targets else ()), transform=f"translate(0 {strip:g})"
        ),
        _strip(position, near, strip + height + strip / 2, width, players, over) if strip else "",
        xmlns="http://www.w3.org/2000/svg",
        kind=f"board board-{code}",
        role="group" if targets else "img",
        viewBox=f"{-PADDING:g} {-PADDING:g} {full_width:.0f} {full_height:.0f}",
        width=size,
        height=round(size * full_height / full_width),
        **{"aria-label": spoken},
    )


def _targets(position: Position, flip: bool) -> Iterator[str]:
    """The buttons of the cells, which say what is on them."""
    board = position.board()
    place, radius = _PLACES[game_code(position)](position, flip)
    for name, content in board.items():
        x, y = place(name)
        spoken = f"{name}, {spoken_content(content) if content else 'empty'}"
        attributes = {"data-cell": name, "aria-label": spoken}
        yield element("circle", kind="target", cx=x, cy=y, r=radius, role="button", tabindex=-1, **attributes)


def draw_small(position: Position, *, last_move: str = "", alone: bool = False) -> str:
    """The board for a picture of about 120 pixels, White below; a file if ``alone``, with its style."""
    height, board = _SMALL[game_code(position)](position, last_move)
    return element(
        "svg",
        needed_style(board) if alone else "",
        board,
        xmlns="http://www.w3.org/2000/svg",
        kind="board small",
        role="img",
        viewBox=f"0 0 {small.WIDTH} {height}",
        width=small.WIDTH,
        height=height,
        **{"aria-label": f"{game_name(position)}. {summarize(position, last_move)}"},
    )


def draw_names(position: Position) -> str:
    """The board of the position's game with the name of every cell instead of its contents."""
    code = game_code(position)
    width, height, board = _DRAWINGS[code](position, "", False, None, True)
    spoken = f"The board of {game_name(position)} with the names of its cells"
    full_width, full_height = width + 2 * PADDING, height + 2 * PADDING
    return element(
        "svg",
        element("title", spoken),
        board,
        xmlns="http://www.w3.org/2000/svg",
        kind=f"board board-{code}",
        role="img",
        viewBox=f"{-PADDING:g} {-PADDING:g} {full_width:.0f} {full_height:.0f}",
        width=SIZE,
        height=round(SIZE * full_height / full_width),
        **{"aria-label": spoken},
    )


def is_wide(position: Position) -> bool:
    """Whether the game's board is more than twice as wide as high."""
    return game_code(position) in _WIDE


def _strip(position: Position, side: Side, y: float, width: float, named: bool, over: bool) -> str:
    """A player's line: piece, name and standing if ``named``; at the right what he holds."""
    held = _held(position, side, width - 12, y)
    if not named:
        return element("g", held, kind="strip")
    said = standing(position, side, over=over)
    parts = [
        circle(MARGIN_LEFT, y, 9, f"disc {side.name.lower()}"),
        circle(MARGIN_LEFT, y, 5, "groove") if side is Side.BLACK else "",
        element(
            "text",
            element("tspan", NAMES[side], kind="name"),
            element("tspan", said, kind="standing", dx=9) if said else "",
            x=MARGIN_LEFT + 18,
            y=y,
            dy=".35em",
        ),
        held,
    ]
    return element("g", *parts, kind="strip to-move" if said == "to move" else "strip")


def _held(position: Position, side: Side, x: float, y: float) -> str:
    """Kept stones are drawn, supplies are written; Dogon's stores are on the board itself."""
    code = game_code(position)
    if code == "duovallis" and (kept := stores(position)[side]):
        colour = "black" if side is Side.WHITE else "white"
        return small_stones(x - 6, y, kept, colour) + lettering(
            x - 20 - 16 * kept, y, "keeps", "holding", "end"
        )
    if code == "duploline":
        return lettering(x, y, holding(position, side), "holding", "end")
    return ""
