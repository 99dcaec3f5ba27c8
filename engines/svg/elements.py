"""Makes SVG elements; all escaping is done here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

Spot = tuple[float, float]

_SPELLINGS: Final = {"kind": "class", "rule": "fill-rule", "anchor": "text-anchor"}
"""Attributes whose SVG names are not Python names."""


def element(tag: str, *children: str, **attributes: str | float) -> str:
    """One element; ``children`` are SVG already, attribute values are escaped here.

    ``kind`` is written as ``class``. Numbers are rounded to a tenth.
    """
    written = "".join(f" {_SPELLINGS.get(key, key)}={_quoted(value)}" for key, value in attributes.items())
    inside = "".join(children)
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def lettering(x: float, y: float, text: str, kind: str, anchor: str = "middle") -> str:
    """``text`` (escaped) with the middle of its letters at ``y``."""
    return element("text", escape(text), kind=kind, x=x, y=y, dy=".35em", anchor=anchor)


def circle(x: float, y: float, radius: float, kind: str) -> str:
    return element("circle", kind=kind, cx=x, cy=y, r=radius)


def polygon(corners: Iterable[Spot]) -> str:
    """Path data of a closed figure."""
    return polyline(corners) + "z"


def polyline(corners: Iterable[Spot]) -> str:
    """Path data of straight lines from corner to corner."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners)


def number(value: float) -> str:
    """A coordinate, rounded to a tenth, in its shortest form."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _quoted(value: str | float) -> str:
    return quoteattr(value) if isinstance(value, str) else f'"{number(value)}"'
