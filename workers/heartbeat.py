"""What a worker tells of itself: who it is, how it does, and what keeps it from playing.

Values that travel as JSON, as those of ``workers.jobs`` do; and the pace of its games.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from workers.jobs import JsonValue

HEARTBEAT_SECONDS = 5
KNOCK_SECONDS = 1
"""As often a worker tells of itself while it waits for the site's word that it may play."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Heartbeat(JsonValue):
    """A worker's word of itself, told every few seconds and once more when it stops.

    ``worker`` is its name, the same whenever it is started; ``run`` another at each start. Of its ``slots``
    so many are ``busy``, and so many ``held``: they found themselves unable to play. ``games`` and
    ``voids`` count from its start. ``speed`` is as ``workers.conditions`` has it, ``level`` of its sandbox,
    and ``refusal`` says why it does not run uploaded bots, empty if it does. ``admitted``: it takes jobs.
    """

    worker: str
    run: str
    host: str
    queue: str
    version: str
    slots: int
    busy: int
    held: int
    games: int
    voids: int
    games_an_hour: int
    speed: str
    level: str
    refusal: str
    admitted: bool
    stopping: bool


@dataclass(frozen=True, slots=True)
class Trouble(JsonValue):
    """Why a slot takes no jobs, one sentence; an empty one says that it does again.

    ``worker`` is as in reports: the worker's name, a slash and the slot's process.
    """

    worker: str
    why: str


def name_of(worker: str) -> str:
    """The worker's name in what a report has: ``players@east/4711`` is a slot of ``players@east``."""
    return worker.rpartition("/")[0] or worker


class Pace:
    """Games an hour, over the last hour or since the first count."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()

    def note(self, games: int, now: float) -> int:
        """Take in how many games there are by now (seconds of a monotonic clock); returns the pace."""
        if not self._counts or now >= self._counts[-1][0] + HEARTBEAT_SECONDS:
            self._counts.append((now, games))
        while len(self._counts) > 1 and self._counts[1][0] <= now - HOUR:
            self._counts.popleft()
        since, before = self._counts[0]
        return round((games - before) * HOUR / (now - since)) if now > since else 0
