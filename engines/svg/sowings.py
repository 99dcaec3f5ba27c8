"""What a mancala move does hole by hole, for the drawing: the holes sown, the last one, captures, changes.

The rules give the position after a move and nothing of the way there, because the referee needs no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engines.rules.base import Position, Side
from engines.rules.duovallis import FACING, MAX_LAPS, NAMES, OWN, PATHS, DuovallisPosition

Stones = tuple[int, int]
"""White and black stones; Dogon's seeds, which have one colour, stand first."""

CAPTURED_BY: Final = (FACING, {theirs: own for own, theirs in FACING.items()})
"""The holes of each side that capture, and the hole captured from each."""


@dataclass(frozen=True, slots=True)
class Sowing:
    """One sowing move. A lap is the hole it starts from, then each hole that gets a stone, in order."""

    laps: tuple[tuple[str, ...], ...]
    captured: tuple[str, ...]
    changes: Mapping[str, Stones]
    """The holes whose content differs after the move, and by how much."""

    @property
    def origin(self) -> str:
        return self.laps[0][0]

    @property
    def last(self) -> str:
        """The hole that the last stone falls into."""
        return self.laps[-1][-1]

    @property
    def order(self) -> Mapping[str, int]:
        """For each hole sown: the number of the first stone that falls into it, from 1."""
        first: dict[str, int] = {}
        for number, name in enumerate((name for lap in self.laps for name in lap[1:]), start=1):
            first.setdefault(name, number)
        return first


def trace_sowing(before: Position, after: Position, token: str) -> Sowing | None:
    """The sowing that leads from one position to the next.

    None for a pass, an illegal move and games without sowing.
    """
    if not before.is_legal(token):
        return None
    if isinstance(before, DuovallisPosition):
        held, left = _stones(before), _stones(after)
        laps, sown = _sow_valleys(dict(held), before.side, token)
        opposite = CAPTURED_BY[before.side].get(laps[-1][-1])
        may_be_captured: Iterable[str] = () if opposite is None else (opposite,)
    elif token[:-1] in before.board() and token[-1] in "+-":
        held, left = _stones(before), _stones(after)
        laps, sown = _sow_rows(dict(held), token)
        may_be_captured = dict.fromkeys(laps[-1])
    else:
        return None
    captured = tuple(name for name in may_be_captured if left[name] != sown[name])
    return Sowing(laps, captured, _changes(held, left))


def _stones(position: Position) -> dict[str, Stones]:
    if isinstance(position, DuovallisPosition):
        return dict(zip(NAMES, zip(*position.holes, strict=True), strict=True))
    return {name: (int(content), 0) for name, content in position.board().items()}


def _changes(before: Mapping[str, Stones], after: Mapping[str, Stones]) -> dict[str, Stones]:
    return {
        name: (white - before[name][0], black - before[name][1])
        for name, (white, black) in after.items()
        if (white, black) != before[name]
    }


def _sow_rows(holes: dict[str, Stones], token: str) -> tuple[tuple[tuple[str, ...], ...], dict[str, Stones]]:
    """Dogon: one lap, which skips its origin; the stones after it, before captures."""
    files = sorted({name[0] for name in holes})
    ring = [file + "1" for file in files] + [file + "2" for file in reversed(files)]
    origin, step = token[:-1], 1 if token[-1] == "+" else -1
    place, lap = ring.index(origin), [origin]
    for _ in range(holes[origin][0]):
        place = (place + step) % len(ring)
        if ring[place] == origin:
            place = (place + step) % len(ring)
        name = ring[place]
        holes[name] = (holes[name][0] + 1, 0)
        lap.append(name)
    holes[origin] = (0, 0)
    return (tuple(lap),), holes


def _sow_valleys(
    holes: dict[str, Stones], side: Side, origin: str
) -> tuple[tuple[tuple[str, ...], ...], dict[str, Stones]]:
    """Duovallis: lap after lap until one ends in an empty hole or in a majority of the opponent's."""
    path = PATHS[side]
    place, laps = OWN[side][origin], []
    for _ in range(MAX_LAPS):
        white, black = holes[path[place]]
        lap, holes[path[place]] = [path[place]], (0, 0)
        colours = [side.other] * (white if side is Side.BLACK else black)
        colours += [side] * (black if side is Side.BLACK else white)
        for colour in colours:
            place = (place + 1) % len(path)
            white, black = holes[path[place]]
            holes[path[place]] = (white + (colour is Side.WHITE), black + (colour is Side.BLACK))
            lap.append(path[place])
        laps.append(tuple(lap))
        white, black = holes[path[place]]
        mine = black if side is Side.BLACK else white
        if white + black == 1 or 2 * mine < white + black:
            break
    return tuple(laps), holes
