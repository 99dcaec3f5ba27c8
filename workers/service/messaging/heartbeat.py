"""The messages of a worker about itself: its identity, its state, and why it cannot play.

They are sent as JSON, like the values of ``workers.jobs``. ``GameRate`` counts games per hour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from workers.jobs import PROTOCOL, JobError, JsonValue

HEARTBEAT_SECONDS = 5
WAITING_HEARTBEAT_SECONDS = 1
"""The interval of heartbeats while a worker waits for the site to admit it."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Heartbeat(JsonValue):
    """The state of a worker, sent every few seconds and once more when it stops.

    ``worker`` is its name, the same at every start; ``run`` is new at each start. ``slots``, ``busy`` and
    ``held`` are numbers of slots; a held slot failed its self-test. ``games`` and ``voids`` count from the
    start. ``speed`` is measured by ``workers.play.environment``. ``level`` is the sandbox level;
    ``refusal`` is the reason why the worker does not run uploaded bots, empty if it runs them.
    ``admitted``: the worker takes jobs. ``protocol`` is the worker's ``workers.jobs.PROTOCOL``.
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
    protocol: int = PROTOCOL

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read these fields of a heartbeat, also of a worker of another release.

        They are its name, run, queue and version. Raises ``JobError`` if one of them is missing or wrong.
        """
        # Named, because a dataclass with slots is another class than the one in which this is written.
        if not isinstance(value, Mapping) or value.get("protocol") == PROTOCOL:
            return super(Heartbeat, cls).from_json(value)
        protocol = value.get("protocol", 1)
        if type(protocol) is not int:
            raise JobError(f"Heartbeat.protocol must be a whole number, not {protocol!r}")
        named = {name: value[name] for name in _COMMON if name in value}
        return replace(super(Heartbeat, cls).from_json({**_UNKNOWN, **named}), protocol=protocol)


_COMMON = ("worker", "run", "queue", "version", "host", "stopping", "admitted")
"""Fields that every version has."""
_UNKNOWN = {
    **dict.fromkeys(("slots", "busy", "held", "games", "voids", "games_an_hour"), 0),
    **dict.fromkeys(("host", "speed", "refusal"), ""),
    "level": "C",
    "stopping": False,
}
"""Values of the other fields for a worker whose heartbeat may have a different form."""


@dataclass(frozen=True, slots=True)
class Trouble(JsonValue):
    """Why a slot takes no jobs, in a sentence; empty if it takes jobs again.

    ``worker`` is as in reports: the worker's name, a slash and the slot's process number.
    """

    worker: str
    why: str


def name_of(worker: str) -> str:
    """The worker's name in a report's ``worker``: ``players@east/4711`` is a slot of ``players@east``."""
    return worker.rpartition("/")[0] or worker


class GameRate:
    """Games per hour, over the last hour or since the first count."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()

    def note(self, games: int, now: float) -> int:
        """Add the number of games at ``now`` (seconds of a monotonic clock); returns the games per hour."""
        if not self._counts or now >= self._counts[-1][0] + HEARTBEAT_SECONDS:
            self._counts.append((now, games))
        while len(self._counts) > 1 and self._counts[1][0] <= now - HOUR:
            self._counts.popleft()
        since, before = self._counts[0]
        return round((games - before) * HOUR / (now - since)) if now > since else 0
