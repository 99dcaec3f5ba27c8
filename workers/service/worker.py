"""The main process of a worker: sends heartbeats to the site, restarts and ends.

The slots are its children and get no work before the site admits the worker.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from celery.signals import worker_ready
from celery.worker import state

from engines.release import RELEASE
from workers.bundles.bundle_site import SiteAway, TokenRevoked, WorkerOutdated
from workers.bundles.cache import touch_alive
from workers.jobs import Heartbeat
from workers.sandbox.levels import Verdict
from workers.sandbox.policy import trusts_all
from workers.service.celery import app, configure, turns_queue, work_taken
from workers.service.context import (
    RUN,
    open_door,
    probe_sandbox,
    sandbox_policy,
    worker_cache,
    worker_name,
    worker_speed,
)
from workers.service.restart import RESTART, SandboxRecheck
from workers.service.site import SiteDoor
from workers.service.slots import SLOTS, Slots, SlotState
from workers.watchdog import watch_threads

HEARTBEAT_SECONDS = 5.0
WAITING_HEARTBEAT_SECONDS = 1.0
"""The interval of heartbeats while a worker waits for the site to admit it."""
TICK_SECONDS = 0.5
STATUS_SECONDS = 10.0
HEARTBEAT_TIMEOUT_SECONDS = 10.0
LAST_HEARTBEAT_SECONDS = 3.0
HOUR = 3600.0

log = logging.getLogger("workers.service.worker")


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


def _stop_worker() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(slots=True)
class Registration:
    """The registration of one worker for one run: admitted, or barred until the site admits it.

    ``identity`` has the fields of a heartbeat that do not change. ``stop`` ends the worker.
    """

    identity: Heartbeat
    slots: Slots
    door: SiteDoor
    on_answer: Callable[[], None] = lambda: None
    stop: Callable[[], None] = _stop_worker
    status: int = field(default=0, init=False)
    """The exit status of the worker."""
    does_answer: bool = field(default=False, init=False)
    _last_sent: float = field(default=float("-inf"), init=False)
    _sent: tuple[str, bool] = field(default=("", True), init=False)
    _said: str = field(default="", init=False)
    _rate: GameRate = field(default_factory=GameRate, init=False)

    def tick(self, now: float) -> None:
        """Send a heartbeat if one is due at ``now``, seconds of a monotonic clock; after a change one is."""
        state = (self.slots.trouble, self.slots.is_barred)
        every = WAITING_HEARTBEAT_SECONDS if self.slots.is_barred else HEARTBEAT_SECONDS
        if self.status or (now < self._last_sent + every and state == self._sent):
            return
        self._last_sent, self._sent = now, state
        self.send(now)
        self._sent = (self._sent[0], self.slots.is_barred)

    def send(self, now: float, *, stopping: bool = False) -> None:
        """Send a heartbeat and apply the answer."""
        try:
            admission = self.door.beat(replace(self.heartbeat(now), stopping=stopping))
        except (TokenRevoked, WorkerOutdated) as refused:
            self.does_answer = True
            self.status = refused.exit_status
            needs = "another token" if isinstance(refused, TokenRevoked) else "the site's release"
            log.error("%s This worker ends and needs %s.", refused.why, needs)
            self.stop()
        except SiteAway as away:
            self.does_answer = False
            self._say(away.why)
        else:
            self.does_answer = True
            if admission.admitted:
                self.slots.admit()
                self._say("the site gives this worker work")
            else:
                self.slots.bar()
                self._say(f"the site gives this worker no work: {admission.why}")
            self.on_answer()

    def heartbeat(self, now: float) -> Heartbeat:
        games = self.slots.games
        return replace(
            self.identity,
            busy=self.slots.number_in(SlotState.BUSY),
            held=self.slots.number_in(SlotState.HELD),
            games=games,
            voids=self.slots.voids,
            games_an_hour=self._rate.note(games, now),
            trouble=self.slots.trouble,
        )

    def _say(self, what: str) -> None:
        """Log a sentence, once until there is another one."""
        if what != self._said:
            self._said = what
            log.warning("%s", what)


class StatusLine:
    """Lines for a terminal: what the worker plays."""

    def __init__(self, registration: Registration) -> None:
        self._registration = registration
        self._last: tuple[float, int] | None = None

    def line(self, now: float) -> str:
        """The line at ``now``, seconds of a monotonic clock; moves are counted when their game has ended."""
        slots = self._registration.slots
        (since, before), plies = self._last or (now, slots.plies), slots.plies
        self._last = now, plies
        speed = (plies - before) / (now - since) if now > since else 0.0
        answers = "the site answers" if self._registration.does_answer else "the site does not answer"
        busy = slots.number_in(SlotState.BUSY)
        return (
            f"{busy} of {self._registration.identity.slots} slots play · {slots.games:,} games"
            f" · {speed:,.0f} moves a second · {answers}"
        )


def run(slots: int) -> int:
    """Run the worker of this process until it is stopped; returns its exit status, 1 if it did not start."""
    configure()
    verdict, _ = probe_sandbox()
    door = open_door()
    door.connection.timeout = HEARTBEAT_TIMEOUT_SECONDS
    registration = Registration(
        _identity(slots, verdict), SLOTS, door, on_answer=lambda: touch_alive(worker_cache())
    )
    recheck = SandboxRecheck(verdict, worker_cache() / f"probed-{worker_name()}")
    ended = threading.Event()
    heart = threading.Thread(target=_beat, args=(registration, ended), name="heartbeat", daemon=True)

    def look_for_sandbox() -> None:
        if SLOTS.is_stopping:
            return
        if not trusts_all(os.environ) and (change := recheck.find_change(time.monotonic())):
            log.warning("%s: this worker restarts", change)
            RESTART.ask()

    @worker_ready.connect(weak=False)
    def begin(sender: Any, **_: Any) -> None:
        watch_threads()
        heart.start()
        sender.timer.call_repeatedly(1.0, look_for_sandbox)

    _run_celery(slots)
    ended.set()
    if heart.ident is None and state.should_stop is None:
        return 1  # Celery has logged the reason, and returns as from a stop
    if heart.is_alive():
        heart.join(LAST_HEARTBEAT_SECONDS)
    if not registration.status and not heart.is_alive():
        door.connection.timeout = LAST_HEARTBEAT_SECONDS
        registration.send(time.monotonic(), stopping=True)
    return registration.status


def _run_celery(slots: int) -> None:
    """Run the Celery worker in this process until it is stopped."""
    words = ["worker", f"--queues={turns_queue()}", f"--concurrency={slots}", f"--hostname={worker_name()}"]
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker([*words, "--loglevel=INFO", "--without-gossip", "--without-heartbeat", "--without-mingle"])


def _identity(slots: int, verdict: Verdict) -> Heartbeat:
    """What does not change in the heartbeats of this worker."""
    return Heartbeat(
        worker=worker_name(),
        run=RUN,
        host=socket.gethostname(),
        takes=work_taken(),
        version=RELEASE,
        slots=slots,
        busy=0,
        held=0,
        games=0,
        voids=0,
        games_an_hour=0,
        speed=worker_speed(),
        level=str(verdict.level),
        refusal=sandbox_policy().refusal,
        trouble="",
        stopping=False,
    )


def _beat(registration: Registration, ended: threading.Event) -> None:
    status, next_line = StatusLine(registration), 0.0
    while not ended.wait(TICK_SECONDS):
        try:
            registration.tick(now := time.monotonic())
            if sys.stderr.isatty() and now >= next_line:
                next_line = now + STATUS_SECONDS
                print(status.line(now), file=sys.stderr, flush=True)
        except Exception:
            log.exception("a heartbeat cannot be sent")
