"""The default stylesheet of a drawn board, light and dark, and the classes of a drawing.

On a page, include ``STYLE`` (or your own rules for the same classes) once; its colours are CSS variables
set on ``.board`` for light and dark, and a later ``.board { --board-face: … }`` overrides them.
``style=STYLE`` of ``draw`` embeds it, for a separate file, with ``MATERIALS``.

Classes, all inside ``svg.board.board-<game>``:

- ``face`` the board, ``tile`` a hexagon, ``centre`` the middle cell's dot;
- ``hole`` and ``store`` of ``white`` or ``black``, ``hole neutral``;
- ``seed``; ``stone``, ``disc``, ``ring`` of ``white`` or ``black``; ``groove``, a black piece's second line;
- ``count`` (``total`` in a store), ``label`` a coordinate;
- ``strip`` a player's line, ``to-move`` on it, with his ``name``, ``standing`` and ``holding``;
- the last move: ``last from`` and ``last way`` on holes; ``tile last``, ``path``, its ``start`` on hexagons;
- with ``before``: ``last track`` the way of the stones, ``last to`` the last hole, ``last captured``;
  ``change`` with a ``badge`` and its ``delta``; ``ghost`` where a piece stood;
- ``tile win`` the cells of the line that won;
- in a small picture: ``hoop`` a ring and its ``edge``; ``on-seed``, ``on-white``, ``on-black`` and ``halo``
  numbers.

The gradients are of ``wood``, ``hollow`` (a hole), ``nut`` (a seed), ``bone`` (white) and ``jet`` (black).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_PARTS: Final = re.compile(r"\s*[^{]*\{(.*?)\}\s*@media[^{]*\{\s*[^{]*\{(.*?)\}\s*\}(.*)", re.DOTALL)
"""The light colours, the dark ones, and all other rules."""
_VARIABLE: Final = re.compile(r"(--[a-z-]+): ([^;]+);")
_USE: Final = re.compile(r"var\((--[a-z-]+)\)")
_CLASS: Final = re.compile(r'class="([^"]*)"')
_WORD: Final = re.compile(r"\.([a-z-]+)")
_IS: Final = re.compile(r"(.*?):is\(([^)]*)\)([^{]*?) (\{.*)")

STYLE: Final = """
.board, .materials {
  --board-face: #e8cfa3; --board-face-low: #d3b27c; --board-edge: #a57f49;
  --board-cell: #cfa970; --board-cell-low: #b48d57; --board-cell-edge: #8f6b3b;
  --board-neutral: #d9bd8d; --board-text: #2b2015; --board-faint: #4d3a23;
  --board-seed: #6a3a18; --board-seed-shine: #9c6638; --board-seed-edge: #341b0a; --board-on-seed: #fffdf6;
  --board-white: #fffdf6; --board-white-low: #d5cbb8; --board-white-edge: #5c5040;
  --board-black: #2c2826; --board-black-shine: #79706a; --board-black-edge: #100e0d;
  --board-groove: #a2968a; --board-last: #14539a; --board-last-cell: #c6dcf0; --board-win: #94d298;
  --board-captured: #a81a12;
  font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; max-width: 100%; height: auto;
}
@media (prefers-color-scheme: dark) {
  .board, .materials {
    --board-face: #66513a; --board-face-low: #4a3a28; --board-edge: #2b2116;
    --board-cell: #806747; --board-cell-low: #4f3d29; --board-cell-edge: #a1855f;
    --board-neutral: #6d573f; --board-text: #fbf3e4; --board-faint: #e0d1b5;
    --board-seed: #d39a5a; --board-seed-shine: #f8dcae; --board-seed-edge: #2e1c0b; --board-on-seed: #23160a;
    --board-white: #f8f1e2; --board-white-low: #bfb39d; --board-white-edge: #17120d;
    --board-black: #14110f; --board-black-shine: #5b524b; --board-black-edge: #cbbb9f;
    --board-groove: #a08f76; --board-last: #8fc6fb; --board-last-cell: #3c648d; --board-win: #3f8a4b;
    --board-captured: #ffa397;
  }
}
stop.face { stop-color: var(--board-face); }
stop.face.low { stop-color: var(--board-face-low); }
stop.cell { stop-color: var(--board-cell); }
stop.cell.low { stop-color: var(--board-cell-low); }
stop.seed { stop-color: var(--board-seed); }
stop.seed.shine { stop-color: var(--board-seed-shine); }
stop.white { stop-color: var(--board-white); }
stop.white.low { stop-color: var(--board-white-low); }
stop.black { stop-color: var(--board-black); }
stop.black.shine { stop-color: var(--board-black-shine); }
.board .face { fill: url(#wood) var(--board-face); stroke: var(--board-edge); stroke-width: 2; }
.board .rim { fill: var(--board-edge); stroke: var(--board-edge); stroke-width: 22; stroke-linejoin: round; }
.board .face.rounded { stroke: var(--board-face); stroke-width: 14; stroke-linejoin: round; }
.board .tile { fill: var(--board-cell); stroke: var(--board-face); stroke-width: 1.5; }
.board .hole, .board .store { fill: url(#hollow) var(--board-cell); stroke: var(--board-cell-edge); }
.board .hole, .board .store { stroke-width: 2; }
.board .hole.white, .board .store.white { stroke: var(--board-white); }
.board .hole.black, .board .store.black { stroke: var(--board-faint); }
.board .hole.neutral { fill: var(--board-neutral); stroke-dasharray: 5 4; }
.board .tile.last { fill: var(--board-last-cell); stroke: var(--board-last); }
.board .tile.win { fill: var(--board-win); stroke: var(--board-text); stroke-width: 2.5; }
.board .centre { fill: var(--board-cell-edge); }
.board .seed { fill: url(#nut) var(--board-seed); stroke: var(--board-seed-edge); stroke-width: 1; }
.board .stone, .board .disc, .board .ring { stroke-width: 1.8; stroke-linejoin: round; }
.board .white:is(.stone,.disc,.ring) { fill: url(#bone) var(--board-white); stroke: var(--board-white-edge); }
.board .black:is(.stone,.disc,.ring) { fill: url(#jet) var(--board-black); stroke: var(--board-black-edge); }
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
.small text { font-size: 18px; font-weight: 600; letter-spacing: -1px; }
.small .halo { stroke: var(--board-cell); stroke-width: 4; paint-order: stroke; }
.small .on-seed { fill: var(--board-on-seed); }
.small .on-white { fill: #2f2a27; }
.small .on-black { fill: #fffdf6; }
.small .hoop { fill: none; stroke-width: 5.5; }
.small .hoop.white { stroke: var(--board-white); }
.small .hoop.black { stroke: var(--board-black); }
.small .hoop.edge { stroke-width: 8; }
.small .hoop.white.edge { stroke: var(--board-white-edge); }
.small .hoop.black.edge { stroke: var(--board-black-edge); }
.board .standing { fill: var(--board-last); font-weight: 600; }
"""
"""Colours are variables of ``.board``; the contrast of text to board is over 4.5 to 1 in both.

Without ``MATERIALS`` surfaces have one colour.
"""

_WOOD: Final = "x2='.3' y2='1'"
_GLOSS: Final = "cx='.36' cy='.3' r='.75'"
_GRADIENTS: Final = {
    name: f'<{kind} id="{name}" {shape}><stop class="{first}" offset="{start}"/>'
    f'<stop class="{second}" offset="{end}"/></{kind}>'
    for name, kind, shape, first, start, second, end in (
        ("wood", "linearGradient", _WOOD, "face", "0", "face low", "1"),
        ("hollow", "linearGradient", _WOOD, "cell low", "0", "cell", "1"),
        ("nut", "radialGradient", _GLOSS, "seed shine", "0", "seed", ".6"),
        ("bone", "radialGradient", _GLOSS, "white", ".4", "white low", "1"),
        ("jet", "radialGradient", _GLOSS, "black shine", "0", "black", ".7"),
    )
}

MATERIALS: Final = f"<defs>{''.join(_GRADIENTS.values())}</defs>"
"""The gradients that ``STYLE`` names, once on a page, in an ``<svg class="materials">`` that is displayed."""


def needed_style(drawn: str) -> str:
    """The ``<style>`` and ``<defs>`` that a drawing needs, parts of ``STYLE`` and ``MATERIALS``."""
    light, dark, rules = _PARTS.match(STYLE).groups()  # type: ignore[union-attr]
    words = {"board", "small"} | _classes(drawn)
    plain = _fitting(rules, words)
    gradients = [text for name, text in _GRADIENTS.items() if f"url(#{name})" in plain]
    fitting = _fitting(rules, words | _classes("".join(gradients)))
    used = set(_USE.findall(fitting))
    colours = (
        "".join(f"{name}:{colour};" for name, colour in _VARIABLE.findall(part) if name in used)
        for part in (light, dark)
    )
    font = _VARIABLE.sub("", light).split(";")[0].strip()
    head = ".board{{{}{}}}@media (prefers-color-scheme: dark){{.board{{{}}}}}".format(font + ";", *colours)
    return f"<style>{head}{fitting}</style><defs>{''.join(gradients)}</defs>"


def _classes(drawn: str) -> set[str]:
    return {word for kinds in _CLASS.findall(drawn) for word in kinds.split()}


def _fitting(rules: str, words: set[str]) -> str:
    """The rules with those of their selectors that have no other classes than ``words``."""
    fitting = []
    for rule in rules.splitlines():
        selectors, _, body = _expand(rule).partition("{")
        fits = [one.strip() for one in selectors.split(",") if words.issuperset(_WORD.findall(one))]
        if fits and body:
            fitting.append(f"{','.join(fits)}{{{body}")
    return "\n".join(fitting)


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
