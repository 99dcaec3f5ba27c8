"""What is done to a site under soak, drawn from a seed: which process is killed, and when."""

from __future__ import annotations

import datetime
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from benchmarks.soak.site import Site
from benchmarks.soak.terms import Terms

WORKER_EVERY_S: Final = (2.0, 5.0)
"""Between two kills of a worker's process or of a whole worker."""
WHOLE_WORKERS: Final = 0.3
"""The part of these kills that end the whole worker."""
OTHER_EVERY_S: Final = (20.0, 30.0)
"""Between two kills of the others, each in its turn: no lease ends before the keeper has run for one."""
CUT_HOST: Final = 0
CUT_AFTER: Final = 5
"""Games that are done when the host is cut off."""
CUT_S, CUT_LEASES = 30.0, 1.5
"""For how long at least: until its games are lost, and its connections given up."""
OTHERS: Final = ("the record keeper", "beat", "Redis, its data kept", "Redis, its data lost")


class Harm:
    """``do_due`` is to be called often; ``counts`` tells what was done. This one does nothing."""

    def __init__(self, site: Site) -> None:
        self.counts: Counter[str] = Counter()
        self.is_under_way = False
        """Something is to be made good again before the end."""
        self._site = site

    def do_due(self, done: int) -> None:
        """What is due by now, so many games being done."""

    def _count(self, what: str, times: int = 1) -> None:
        self.counts[what] += times
        with (self._site.logs / "harm.log").open("a") as log:
            log.write(f"{datetime.datetime.now(datetime.UTC):%H:%M:%S.%f} {what}\n")


class Kills(Harm):
    """Of processes, ``pace`` times as often as usual."""

    def __init__(self, site: Site, seed: int, pace: float) -> None:
        super().__init__(site)
        self._pace = pace
        self._dice = random.Random(seed)
        self._worker_at = self._other_at = 0.0
        self._turn = self._dice.randrange(len(OTHERS))
        self._postpone_worker()
        self._postpone_other()

    def do_due(self, done: int) -> None:
        now = time.monotonic()
        if now >= self._worker_at:
            self._kill_of_a_worker()
            self._postpone_worker()
        if now >= self._other_at:
            self._kill_other()
            self._postpone_other()

    def _postpone_worker(self) -> None:
        self._worker_at = time.monotonic() + self._dice.uniform(*WORKER_EVERY_S) / self._pace

    def _postpone_other(self) -> None:
        self._other_at = time.monotonic() + self._dice.uniform(*OTHER_EVERY_S) / self._pace

    def _kill_of_a_worker(self) -> None:
        worker = self._dice.choice(self._site.workers)
        if self._dice.random() < WHOLE_WORKERS:
            self._count("whole workers killed", worker.kill())
        elif slots := worker.slots():
            with suppress(ProcessLookupError):
                os.kill(self._dice.choice(slots), signal.SIGKILL)
                self._count("processes of workers killed")

    def _kill_other(self) -> None:
        victim = OTHERS[self._turn % len(OTHERS)]
        self._turn += 1
        site = self._site
        post = {"the record keeper": site.keeper, "beat": site.beat}.get(victim, site.store)
        killed = post.kill()
        if victim == "Redis, its data lost":
            site.forget_messages()
        self._count(f"kills of {victim}", killed)


class Cut(Harm):
    """The first host is cut off while it plays, once, for so long."""

    def __init__(self, site: Site, seconds: float) -> None:
        super().__init__(site)
        self._seconds = seconds
        self._join_at: float | None = None

    def do_due(self, done: int) -> None:
        network = self._site.network
        assert network is not None
        if self._join_at is None and done >= CUT_AFTER and self._plays():
            network.cut(CUT_HOST)
            self._count("hosts cut off")
            self._join_at = time.monotonic() + self._seconds
            self.is_under_way = True
        elif self.is_under_way and self._join_at is not None and time.monotonic() >= self._join_at:
            network.join(CUT_HOST)
            self._count("hosts back again")
            self.is_under_way = False

    def _plays(self) -> bool:
        """Whether a game is under way on that host."""
        from tournament.models import Attempt

        told = Attempt.objects.filter(ended_at__isnull=True, started_at__isnull=False)
        players = {worker.rpartition("/")[2] for worker in told.values_list("worker", flat=True)}
        return any(str(pid) in players for pid in self._site.workers[CUT_HOST].slots())


def choose_harm(terms: Terms, site: Site) -> Harm:
    if terms.calm:
        return Harm(site)
    if terms.hosts:
        return Cut(site, max(CUT_S, CUT_LEASES * terms.lease_s))
    return Kills(site, terms.seed, terms.pace)
