"""Maps of a board onto itself under which the rules stay the same: both players keep their colours.

The hexagons have twelve, six rotations and their mirror images; Dogon has the mirror image, in which the
directions of sowing change places. In Duovallis, where both players sow anticlockwise, there is none but the
identity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, final

_PARTS: Final = re.compile("[a-i][1-9]|[+-]")
"""What a symmetry may change of a token."""


@final
class Symmetry:
    """One such map. ``words`` has the new name of each cell, and of each direction if these change."""

    __slots__ = ("words",)

    def __init__(self, words: Mapping[str, str]) -> None:
        self.words: Final = dict(words)

    def turn(self, token: str) -> str:
        """The move that corresponds to this one on the board after the map."""
        words = self.words
        return _PARTS.sub(lambda part: words.get(part[0], part[0]), token)

    def turn_back(self, token: str) -> str:
        """The move on the board before the map, given the one on the board after it."""
        words = {new: old for old, new in self.words.items()}
        return _PARTS.sub(lambda part: words.get(part[0], part[0]), token)


IDENTITY: Final = Symmetry({})
ONLY_IDENTITY: Final = (IDENTITY,)
