"""When games will likely begin: the queue and the ladders played through in thought.

Slots take pairs of games in the order of the queue, each as soon as it is free. Once the last of them is
taken the ladders' pairs follow, each when it is due and a slot is free. What is not known (how long a game
takes, who is drawn once new results are in) is taken to be as it was of late. No database here.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tournament.matchmaker import DrawnPair

Player = tuple[str, int]
"""A version on a ladder: the ladder's code and the version's id."""


@dataclass(frozen=True, slots=True)
class QueuedPair:
    """Games of two versions that one slot will play one after the other."""

    ladder: str
    versions: tuple[int, int]
    games: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LadderPairs:
    """The pairs a ladder's matchmaker will make, times counted from now."""

    ladder: str
    due_s: float
    interval_s: float
    pairs: Sequence[DrawnPair]
    games: int
    """Of a pair."""
    seconds: float
    """How long a pair takes."""


@dataclass(frozen=True, slots=True)
class Start:
    """When a version's next game will likely begin."""

    seconds: float
    """From now."""
    ahead: int
    """Games that are begun before; of a pair yet to be made, those of its ladder alone."""
    is_drawn: bool
    """Whether it is in the queue already, or its pair is yet to be made."""


@dataclass(slots=True)
class Forecast:
    starts: dict[Player, Start] = field(default_factory=dict)
    drained_s: float = 0.0
    """When the last game of the queue is taken; the ladders' pairs come after it."""
    ladders_s: dict[str, float] = field(default_factory=dict)
    """When the last pair looked at of each ladder begins: whoever is not among ``starts`` comes later."""


def forecast(
    slots: int,
    playing: Sequence[float],
    queued: Iterable[QueuedPair],
    unlisted_s: float,
    ladders: Sequence[LadderPairs],
) -> Forecast:
    """``playing``: the seconds that what is being played will still take, for each slot that plays.

    ``unlisted_s``: what waits behind ``queued`` and is not listed, in seconds of one slot.
    """
    free = sorted(playing) + [0.0] * (slots - len(playing))
    heapq.heapify(free)
    found, ahead = Forecast(), 0
    for pair in queued:
        start = heapq.heappop(free)
        _note(found, pair.ladder, pair.versions, Start(start, ahead, True))
        heapq.heappush(free, start + pair.seconds)
        found.drained_s = start
        ahead += pair.games
    if unlisted_s:
        free = [moment + unlisted_s / len(free) for moment in free]
        heapq.heapify(free)
        found.drained_s = free[0]
    _follow_ladders(found, free, {one.ladder: one for one in ladders})
    return found


def _follow_ladders(found: Forecast, free: list[float], ladders: Mapping[str, LadderPairs]) -> None:
    """The ladders' pairs in the order in which they are due."""
    due = [(one.due_s, code, 0) for code, one in ladders.items() if one.pairs]
    heapq.heapify(due)
    while due:
        moment, code, number = heapq.heappop(due)
        one = ladders[code]
        pair = one.pairs[number]
        start = max(moment, heapq.heappop(free))
        _note(found, code, (pair.first, pair.second), Start(start, one.games * number, False))
        heapq.heappush(free, start + one.seconds)
        found.ladders_s[code] = start
        if number + 1 < len(one.pairs):
            heapq.heappush(due, (start + one.interval_s, code, number + 1))


def _note(found: Forecast, ladder: str, versions: Iterable[int], start: Start) -> None:
    for version in versions:
        found.starts.setdefault((ladder, version), start)
