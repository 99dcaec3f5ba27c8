"""The faults of the soak test, drawn from a seed: which process is killed, and when."""

from __future__ import annotations

import datetime
import os
import random
import signal
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from benchmarks.soak.network import Network
from benchmarks.soak.site import Site
from benchmarks.soak.terms import Terms

WORKER_EVERY_S: Final = (2.0, 5.0)
"""The time between two kills of a worker's process or of a whole worker."""
WHOLE_WORKERS: Final = 0.3
"""The part of these kills that kill the whole worker."""
OTHER_EVERY_S: Final = (20.0, 30.0)
"""The time between kills of other processes: no lease ends before the keeper has run for one."""
CUT_HOST: Final = 0
CUT_AFTER: Final = 5
"""The number of finished games at which the host is disconnected."""
CUT_S, CUT_LEASES = 30.0, 1.5
"""The least duration: its games must be lost, and its connections given up."""
SETTLE_S: Final = 2.0
"""The time after which messages sent before the cut have arrived."""
OTHERS: Final = ("the record keeper", "beat", "Redis, its data kept", "Redis, its data lost")
WORKER_KILLED: Final = "whole workers killed"
SLOT_KILLED: Final = "processes of workers killed"


class Harm:
    """Does nothing; derived classes cause faults. Call ``do_due`` often; ``counts`` counts the faults."""

    def __init__(self, site: Site) -> None:
        self.counts: Counter[str] = Counter()
        self.is_under_way = False
        """Whether a fault must be repaired before the end."""
        self._site = site

    @property
    def is_complete(self) -> bool:
        """Whether each kind of fault was caused at least once; ladders play until then."""
        return True

    def do_due(self, done: int) -> None:
        """Cause the faults that are due; ``done`` is the number of finished games."""

    def find_faults(self) -> Iterator[str]:
        """At the end: the faults that should have been caused and were not, as sentences."""
        yield from ()

    def _count(self, what: str, times: int = 1) -> None:
        self.counts[what] += times
        with (self._site.logs / "harm.log").open("a") as log:
            log.write(f"{datetime.datetime.now(datetime.UTC):%H:%M:%S.%f} {what}\n")


class Kills(Harm):
    """Kills processes, ``pace`` times as often as by default.

    Between two kills of a kind a game is finished, so that a slow machine has time to restart processes.
    """

    def __init__(self, site: Site, seed: int, pace: float) -> None:
        super().__init__(site)
        self._pace = pace
        self._dice = random.Random(seed)
        self._worker_at = self._other_at = 0.0
        self._worker_done = self._other_done = -1
        """The number of finished games at the last kill."""
        self._turn = self._dice.randrange(len(OTHERS))
        self._postpone_worker()
        self._postpone_other()

    @property
    def is_complete(self) -> bool:
        return all(self.counts[what] for what in (WORKER_KILLED, SLOT_KILLED, *map(_kill_of, OTHERS)))

    def do_due(self, done: int) -> None:
        now = time.monotonic()
        if now >= self._worker_at and done > self._worker_done:
            self._kill_of_a_worker()
            self._worker_done = done
            self._postpone_worker()
        if now >= self._other_at and done > self._other_done:
            self._kill_other()
            self._other_done = done
            self._postpone_other()

    def _postpone_worker(self) -> None:
        self._worker_at = time.monotonic() + self._dice.uniform(*WORKER_EVERY_S) / self._pace

    def _postpone_other(self) -> None:
        self._other_at = time.monotonic() + self._dice.uniform(*OTHER_EVERY_S) / self._pace

    def _kill_of_a_worker(self) -> None:
        worker = self._dice.choice(self._site.workers)
        if self._dice.random() < WHOLE_WORKERS:
            self._count(WORKER_KILLED, worker.kill())
        elif slots := worker.slots():
            with suppress(ProcessLookupError):
                os.kill(self._dice.choice(slots), signal.SIGKILL)
                self._count(SLOT_KILLED)

    def _kill_other(self) -> None:
        victim = OTHERS[self._turn % len(OTHERS)]
        self._turn += 1
        site = self._site
        process = {"the record keeper": site.keeper, "beat": site.beat}.get(victim, site.store)
        killed = process.kill()
        if victim == "Redis, its data lost":
            site.forget_messages()
        self._count(_kill_of(victim), killed)


def _kill_of(victim: str) -> str:
    return f"kills of {victim}"


class Cut(Harm):
    """Disconnects the first host once in the middle of a game, for ``seconds``.

    If the game ended just before, so that no game was hit, the host is connected again, and the cut is
    repeated in a later game.
    """

    def __init__(self, site: Site, seconds: float) -> None:
        super().__init__(site)
        self._seconds = seconds
        self._cut_at: float | None = None
        self._hit: list[uuid.UUID] = []
        """The attempts that were interrupted, when they are known."""

    def do_due(self, done: int) -> None:
        now = time.monotonic()
        if self._cut_at is None:
            if not self._hit and done >= CUT_AFTER and self._under_way():
                self._cut(now)
        elif not self._hit:
            # By then the keeper has processed all messages sent before the cut.
            if now >= self._cut_at + SETTLE_S and not self._site.client.llen("records"):
                self._hit = self._under_way()
                self._count("hosts cut off") if self._hit else self._join("cuts between two games")
        elif now >= self._cut_at + self._seconds:
            self._join("hosts back again")

    @property
    def is_complete(self) -> bool:
        return bool(self._hit) and not self.is_under_way

    def find_faults(self) -> Iterator[str]:
        from tournament.models import Attempt

        if not self._hit:
            yield "no host was cut off in the middle of a game"
        elif not Attempt.objects.filter(pk__in=self._hit, end=Attempt.End.LOST).exists():
            yield "the host was cut off in the middle of a game, and none was lost"

    def _cut(self, now: float) -> None:
        self._network.cut(CUT_HOST)
        self._cut_at, self.is_under_way = now, True

    def _join(self, what: str) -> None:
        self._network.join(CUT_HOST)
        self._cut_at, self.is_under_way = None, False
        self._count(what)

    @property
    def _network(self) -> Network:
        assert self._site.network is not None
        return self._site.network

    def _under_way(self) -> list[uuid.UUID]:
        """The attempts that this host has started and for which the site has no report."""
        from tournament.models import Attempt

        begun = Attempt.objects.filter(ended_at__isnull=True, started_at__isnull=False)
        name = self._site.workers[CUT_HOST].name
        return list(begun.filter(worker__startswith=f"{name}@").values_list("pk", flat=True))


def choose_harm(terms: Terms, site: Site) -> Harm:
    if terms.calm:
        return Harm(site)
    if terms.hosts:
        return Cut(site, max(CUT_S, CUT_LEASES * terms.lease_s))
    return Kills(site, terms.seed, terms.pace)
