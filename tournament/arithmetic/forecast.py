"""Forecasts when games will begin, by simulating the queue and the ladders.

Slots take pairs of games in the order of the queue, each as soon as it is free. After the last of them
the ladders' pairs follow, each when it is due and a slot is free. Unknown values (the duration of a game,
the ratings after new results) are taken from recent games. No database here.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tournament.arithmetic.matchmaker import DrawnPair

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
    """The pairs that a ladder's matchmaker will make; times are counted from now."""

    ladder: str
    due_s: float
    interval_s: float
    pairs: Sequence[DrawnPair]
    games: int
    """Games in a pair."""
    seconds: float
    """Duration of a pair."""
    early: int = 0
    """How many of the first pairs an idle slot takes before they are due, for provisional ratings."""


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """When a version's next game is likely to begin."""

    seconds: float
    """Seconds from now."""
    ahead: int
    """Games that begin before it; for a pair yet to be made, only those of its ladder."""
    is_drawn: bool
    """True: it is in the queue. False: its pair is yet to be made."""


@dataclass(slots=True)
class Forecast:
    starts: dict[Player, PlannedStart] = field(default_factory=dict)
    drained_s: float = 0.0
    """When the last game of the queue starts; the ladders' pairs come after it."""
    ladders_s: dict[str, float] = field(default_factory=dict)
    """By ladder, when the last simulated pair begins; versions that are not in ``starts`` come later."""


def forecast(
    slots: int,
    playing: Sequence[float],
    queued: Iterable[QueuedPair],
    unlisted_s: float,
    ladders: Sequence[LadderPairs],
) -> Forecast:
    """``playing``: the remaining seconds of the current games, one value for each busy slot.

    ``unlisted_s``: the waiting games behind ``queued`` that are not listed, in seconds of one slot.
    """
    free = sorted(playing) + [0.0] * (slots - len(playing))
    heapq.heapify(free)
    found, ahead = Forecast(), 0
    for pair in queued:
        start = heapq.heappop(free)
        _note(found, pair.ladder, pair.versions, PlannedStart(start, ahead, True))
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
    """Simulate the ladders' pairs in the order in which they are due.

    A slot that is free before takes an early pair, of the ladder that has had the fewest.
    """
    due = {code: one.due_s for code, one in ladders.items() if one.pairs}
    made = dict.fromkeys(due, 0)
    while due:
        code = min(due, key=lambda code: due[code])
        early = [code for code in due if made[code] < ladders[code].early]
        is_early = bool(early) and free[0] < due[code]
        if is_early:
            code = min(early, key=lambda code: made[code])
        one, number = ladders[code], made[code]
        pair = one.pairs[number]
        start = heapq.heappop(free) if is_early else max(due[code], heapq.heappop(free))
        _note(found, code, (pair.first, pair.second), PlannedStart(start, one.games * number, False))
        heapq.heappush(free, start + one.seconds)
        found.ladders_s[code], made[code] = start, number + 1
        if not is_early:
            due[code] = start + one.interval_s
        if number + 1 == len(one.pairs):
            del due[code]


def _note(found: Forecast, ladder: str, versions: Iterable[int], start: PlannedStart) -> None:
    for version in versions:
        found.starts.setdefault((ladder, version), start)
