"""Where a move token leads, read without the rules: cells to light up and arrows to draw.

A token comes from records and addresses: anything may stand in it, and what
names no cell of the board is ignored.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

LONGEST: Final = 32
"""Characters of a token that are looked at; no game has a longer one."""


def paths(token: str, cells: Container[str]) -> tuple[tuple[str, ...], ...]:
    """The cells each part of a move touches, in order: ``Dd4:Re5-e6`` is (("d4",), ("e5", "e6"))."""
    found = (_path(part, cells) for part in token[:LONGEST].split(":"))
    return tuple(path for path in found if path)


def direction(token: str) -> str:
    """The sign at the end of a Dogon sowing, ``+`` or ``-``, or nothing."""
    return token[-1:] if token[-1:] in ("+", "-") else ""


def _path(part: str, cells: Container[str]) -> tuple[str, ...]:
    names = part.removesuffix("+").split("-")
    names[0] = names[0].removeprefix("D").removeprefix("R")
    return tuple(name for name in names if name in cells)
