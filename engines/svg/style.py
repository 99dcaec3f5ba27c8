"""The default stylesheet of a drawn board, light and dark, and the classes of a drawing.

On a page, include ``STYLE`` (or your own rules for the same classes) once; its colours are CSS variables
set on ``.board`` for light and dark, and a later ``.board { --board-face: … }`` overrides them.
``style=STYLE`` of ``draw`` embeds it, for a separate file.

Classes, all inside ``svg.board.board-<game>``:

- ``face`` the board, ``tile`` a hexagon, ``centre`` the middle cell's dot;
- ``hole`` and ``store`` of ``white`` or ``black``, ``hole neutral``;
- ``seed``; ``stone``, ``disc``, ``ring`` of ``white`` or ``black``; ``groove``, a black piece's second line;
- ``count`` (``total`` in a store), ``label`` a coordinate;
- ``strip`` a player's line, ``to-move`` on it, with his ``name``, ``standing`` and ``holding``;
- the last move: ``last from`` and ``last way`` on holes; ``tile last``, ``path``, its ``start`` on hexagons;
- with ``before``: ``last track`` the way of the stones, ``last to`` the last hole, ``last captured``;
  ``change`` with a ``badge`` and its ``delta``; ``ghost`` where a piece stood;
- ``tile win`` the cells of the line that won.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_PARTS: Final = re.compile(r"\s*\.board \{(.*?)\}\s*@media[^{]*\{\s*\.board \{(.*?)\}\s*\}(.*)", re.DOTALL)
"""The light colours, the dark ones, and all other rules."""
_VARIABLE: Final = re.compile(r"(--[a-z-]+): ([^;]+);")
_USE: Final = re.compile(r"var\((--[a-z-]+)\)")
_IS: Final = re.compile(r"(.*?):is\(([^)]*)\)([^{]*?) (\{.*)")

STYLE: Final = """
.board {
  --board-face: #ecdfc6; --board-edge: #d3bf98; --board-cell: #dcc9a3; --board-cell-edge: #c2aa7c;
  --board-neutral: #e4d6b8; --board-text: #463a28; --board-faint: #6b5a40;
  --board-seed: #6d4526; --board-seed-edge: #4a2d16;
  --board-white: #fffdf6; --board-white-edge: #6b5f4c; --board-black: #2f2a27; --board-black-edge: #14110f;
  --board-groove: #8d8175; --board-last: #1f62ad; --board-last-cell: #bcd3e6; --board-win: #8cc98f;
  --board-captured: #b3261e;
  font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; max-width: 100%; height: auto;
}
@media (prefers-color-scheme: dark) {
  .board {
    --board-face: #3b342c; --board-edge: #544a3e; --board-cell: #655949; --board-cell-edge: #85755f;
    --board-neutral: #4a4137; --board-text: #eee4d3; --board-faint: #b5a892;
    --board-seed: #e8bd80; --board-seed-edge: #54381a;
    --board-white: #f4ecdc; --board-white-edge: #1a1613; --board-black: #0e0c0b; --board-black-edge: #c9b99f;
    --board-groove: #978973; --board-last: #7fbcf7; --board-last-cell: #3d6288; --board-win: #3f8049;
    --board-captured: #ff9a8d;
  }
}
.board .face { fill: var(--board-face); stroke: var(--board-edge); stroke-width: 2; }
.board .face.rounded { stroke: var(--board-face); stroke-width: 22; stroke-linejoin: round; }
.board .tile { fill: var(--board-cell); stroke: var(--board-face); stroke-width: 2; }
.board .hole, .board .store { fill: var(--board-cell); stroke: var(--board-cell-edge); stroke-width: 2; }
.board .hole.white, .board .store.white { stroke: var(--board-white); }
.board .hole.black, .board .store.black { stroke: var(--board-faint); }
.board .hole.neutral { fill: var(--board-neutral); stroke-dasharray: 5 4; }
.board .tile.last { fill: var(--board-last-cell); }
.board .tile.win { fill: var(--board-win); }
.board .centre { fill: var(--board-cell-edge); }
.board .seed { fill: var(--board-seed); stroke: var(--board-seed-edge); stroke-width: 1; }
.board .stone, .board .disc, .board .ring { stroke-width: 1.8; stroke-linejoin: round; }
.board .white:is(.stone, .disc, .ring) { fill: var(--board-white); stroke: var(--board-white-edge); }
.board .black:is(.stone, .disc, .ring) { fill: var(--board-black); stroke: var(--board-black-edge); }
.board .groove { fill: none; stroke: var(--board-groove); stroke-width: 1.4; }
.board :is(.from, .to, .captured, .track, .ghost) { fill: none; stroke: var(--board-last); }
.board .last.from { stroke-width: 4; }
.board .last.to { stroke-width: 4; stroke-dasharray: 2 6; stroke-linecap: round; }
.board .last.captured { stroke: var(--board-captured); stroke-width: 4; stroke-dasharray: 9 5; }
.board .last.track { stroke-width: 7; stroke-linejoin: round; stroke-linecap: round; opacity: .28; }
.board .ghost { stroke-width: 2; stroke-dasharray: 4 4; }
.board .badge { fill: var(--board-face); stroke: var(--board-last); stroke-width: 1.5; }
.board .badge.white { fill: var(--board-white); stroke: var(--board-white-edge); }
.board .badge.black { fill: var(--board-black); stroke: var(--board-black-edge); }
.board .delta { font-size: 13px; font-weight: 600; font-variant-numeric: tabular-nums; }
.board .delta.white { fill: #2f2a27; }
.board .delta.black { fill: #fffdf6; }
.board .path { stroke-linecap: round; stroke-linejoin: round; }
.board .last.way, .board .start { fill: var(--board-last); }
.board .path { fill: none; stroke: var(--board-last); stroke-width: 5; }
.board text { fill: var(--board-text); font-size: 15px; }
.board .label, .board .holding { fill: var(--board-faint); }
.board .label { font-size: 14px; }
.board .count { font-variant-numeric: tabular-nums; font-weight: 600; }
.board .total { font-size: 19px; }
.board .name { font-size: 18px; font-weight: 600; }
.board .standing { fill: var(--board-last); font-weight: 600; }
"""
"""Colours are variables of ``.board``; the contrast of text to board is over 4.5 to 1 in both."""


@cache
def flat_style(*, dark: bool = False) -> str:
    """``STYLE`` for programs that know neither CSS variables nor ``:is`` nor media queries."""
    light_part, dark_part, rules = _PARTS.match(STYLE).groups()  # type: ignore[union-attr]
    colours = dict(_VARIABLE.findall(light_part)) | (dict(_VARIABLE.findall(dark_part)) if dark else {})
    head = _VARIABLE.sub("", light_part).strip()
    flat = _USE.sub(lambda use: colours[use[1]], f".board {{ {head} }}\n{rules}")
    return "\n".join(_expand(line) for line in flat.splitlines())


def _expand(line: str) -> str:
    """A rule with one ``:is(…)`` as a rule with a list of selectors."""
    found = _IS.fullmatch(line)
    if found is None:
        return line
    before, options, after, body = found.groups()
    return ", ".join(f"{before}{option.strip()}{after}" for option in options.split(",")) + " " + body
