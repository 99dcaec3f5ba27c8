"""The faults of the soak test, drawn from a seed: which process is killed, and when."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks.soak.site import Site, Terms

WORKER_EVERY_SECONDS: Final = (2.0, 5.0)
"""The time between two kills of a worker's process or of a whole worker."""
WHOLE_WORKERS: Final = 0.3
"""The part of these kills that kill the whole worker."""
OTHER_EVERY_LEASES: Final = (1.0, 1.25)
"""The time between the other faults: no lease ends before the site has run for one."""
AWAY_LEASES: Final = 1.5
"""For so long a part of the site is away, or a worker is cut off: its games must be lost."""
DATABASE_SECONDS: Final = 25.0
"""For so long SQLite cannot be written: longer than a process waits for the lock."""
STOPPED: Final = ("keeper", "beat", "site", "validators", "redis", "players-1")
SERVICES: Final = ("keeper", "beat", "site", "validators", "webhooks")
"""What is killed, beside workers and Redis."""
AWAY: Final = ("keeper", "site", "redis")
WHOLE, SLOT = "whole workers killed", "processes of workers killed"


class Faults:
    """Call ``do_due`` often; ``counts`` counts the faults, none in a calm run.

    Between two faults of a kind a game is finished, so that a slow machine has time to restart processes.
    """

    def __init__(self, site: Site, terms: Terms, seed: int = 1) -> None:
        self.counts: Counter[str] = Counter()
        self._site, self._terms = site, terms
        self._dice = random.Random(seed)
        self._kinds = list(self._plan())
        self._turn = 0
        self._end: tuple[float, Callable[[], None]] | None = None
        """When and how the fault under way ends."""
        now = time.monotonic()
        self._worker_at, self._other_at = now + self._draw_worker(), now + self._draw_other()
        self._worker_done = self._other_done = 0
        """The number of finished games at the last fault."""

    def _plan(self) -> list[tuple[str, Callable[[], bool]]]:
        site = self._site
        if self._terms.calm:
            return []
        return [
            *((f"kills of {name}", partial(site.kill, name)) for name in SERVICES),
            ("kills of Redis", partial(site.kill, "redis")),
            ("empties of Redis", site.empty_redis),
            ("kills of a process of the site", partial(site.kill_child, "site")),
            ("times without the database", self._take_database),
            ("workers cut off", self._cut),
            *((f"times without {name}", partial(self._take, name)) for name in AWAY),
            *((f"stops of {name}", partial(self._stop, name)) for name in STOPPED),
        ]

    @property
    def is_complete(self) -> bool:
        """Whether each kind of fault was caused and none is under way; the ladders play until then."""
        of_workers = () if self._terms.calm else (WHOLE, SLOT)
        kinds = (*(kind for kind, _ in self._kinds), *of_workers)
        return all(self.counts[kind] for kind in kinds) and not self.is_under_way

    @property
    def is_under_way(self) -> bool:
        """Whether a part of the site, the database or a worker is away."""
        return self._end is not None

    def do_due(self, done: int) -> None:
        """Cause and end the faults that are due; ``done`` is the number of finished games."""
        now = time.monotonic()
        if self._end is not None and now >= self._end[0]:
            self._end[1]()
            self._end = None
        if not self._kinds:
            return
        if now >= self._worker_at and done > self._worker_done:
            self._kill_of_a_worker()
            self._worker_at, self._worker_done = now + self._draw_worker(), done
        if now >= self._other_at and done > self._other_done and not self.is_under_way:
            kind, cause = self._kinds[self._turn % len(self._kinds)]
            self._turn += 1
            self.counts[kind] += cause()
            self._other_at, self._other_done = now + self._draw_other(), done

    def finish(self) -> None:
        """End the fault under way."""
        if self._end is not None:
            self._end[1]()

    def _draw_worker(self) -> float:
        return self._dice.uniform(*WORKER_EVERY_SECONDS)

    def _draw_other(self) -> float:
        return self._dice.uniform(*OTHER_EVERY_LEASES) * self._terms.lease_s

    def _kill_of_a_worker(self) -> None:
        worker = self._dice.choice(self._site.workers)
        if self._dice.random() < WHOLE_WORKERS:
            self.counts[WHOLE] += self._site.kill(worker)
        else:
            self.counts[SLOT] += self._site.kill_child(worker)

    def _take_database(self) -> bool:
        self._end = time.monotonic() + DATABASE_SECONDS, self._site.return_database
        return self._site.take_database()

    def _take(self, name: str) -> bool:
        self._end = time.monotonic() + AWAY_LEASES * self._terms.lease_s, partial(self._site.give_back, name)
        return self._site.take(name)

    def _stop(self, name: str) -> bool:
        self._end = time.monotonic() + AWAY_LEASES * self._terms.lease_s, partial(self._site.resume, name)
        return self._site.stop(name)

    def _cut(self) -> bool:
        self._site.link.silence()
        self._end = time.monotonic() + AWAY_LEASES * self._terms.lease_s, self._site.link.resume
        return True
