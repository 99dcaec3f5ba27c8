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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from celery.signals import worker_init, worker_ready, worker_shutdown
from celery.worker import state

from engines.release import RELEASE
from workers.bundles.bundle_site import SiteAway, TokenRevoked, WorkerOutdated
from workers.bundles.cache import touch_alive
from workers.jobs import Heartbeat
from workers.sandbox.levels import Verdict
from workers.sandbox.policy import trusts_all
from workers.service.broker import PLAY
from workers.service.celery import MEMORY, app, work_taken
from workers.service.context import (
    RUN,
    open_door,
    probe_sandbox,
    sandbox_policy,
    worker_cache,
    worker_name,
    worker_speed,
)
from workers.service.restart import RESTART, start_again, wait_for_better
from workers.service.site import SiteDoor
from workers.service.slot import LAST_POST_SECONDS
from workers.service.slots import SLOTS, Slots, SlotState
from workers.watchdog import watch_threads

HEARTBEAT_SECONDS = 5.0
WAITING_HEARTBEAT_SECONDS = 1.0
"""The interval of heartbeats while a worker waits for the site to admit it."""
TICK_SECONDS = 0.5
TEND_SECONDS = 2.0
"""The interval in which free slots ask for work without the site's Redis."""
SLACK_SECONDS = 2.0
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


class MainProcess:
    """What the main process of a worker does beside Celery's, whose pool it gets."""

    def __init__(self, slots: int) -> None:
        verdict, _ = probe_sandbox()
        self._door = open_door()
        self._door.connection.timeout = HEARTBEAT_TIMEOUT_SECONDS
        self.registration = Registration(
            _identity(slots, verdict), SLOTS, self._door, on_answer=lambda: touch_alive(worker_cache())
        )
        self._verdict = verdict
        self._processes: set[int] = set()
        self._ended = threading.Event()
        self._heart = threading.Thread(
            target=_beat, args=(self.registration, self._ended), name="heartbeat", daemon=True
        )

    def begin(self, pool: Any) -> None:
        watch_threads()
        self._heart.start()
        if not trusts_all(os.environ):
            threading.Thread(target=self._watch_sandbox, name="sandbox", daemon=True).start()
        if app.conf.broker_url == MEMORY:
            threading.Thread(target=self._tend, args=(pool,), name="tend", daemon=True).start()

    @property
    def has_begun(self) -> bool:
        return self._heart.ident is not None

    def end(self) -> None:
        """Tell the site that this worker has stopped."""
        self._ended.set()
        if self.has_begun:
            self._heart.join(LAST_HEARTBEAT_SECONDS)
        if not self.registration.status and not self._heart.is_alive():
            self._door.connection.timeout = LAST_HEARTBEAT_SECONDS
            self.registration.send(time.monotonic(), stopping=True)

    def _watch_sandbox(self) -> None:
        change = wait_for_better(self._verdict, worker_cache() / f"probed-{worker_name()}")
        if change and not SLOTS.is_stopping:
            log.warning("%s: this worker restarts", change)
            RESTART.ask()

    def _tend(self, pool: Any) -> None:
        """Without the site's Redis: look after the slots, and have free ones ask for work."""
        while not self._ended.wait(TEND_SECONDS) and not SLOTS.is_stopping:
            try:
                self._check_slots(set(pool.info["processes"]))
                self._feed()
            except Exception:
                log.exception("the worker cannot be tended")

    def _check_slots(self, processes: set[int]) -> None:
        """Start again if a slot was killed.

        With a broker in memory all processes of Celery's pool read tasks from one pipe under a lock, and one
        that was killed keeps the lock.
        """
        if self._processes - processes:
            log.error("a slot was killed: this worker restarts")
            SLOTS.stop()
            self._ended.wait(LAST_POST_SECONDS + SLACK_SECONDS)  # the others return their games
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            start_again()
        self._processes = processes

    def _feed(self) -> None:
        """Have each free slot ask the site."""
        if not SLOTS.is_barred:
            free = self.registration.identity.slots - SLOTS.number_in(SlotState.BUSY)
            for _ in range(free - waiting_messages()):
                app.send_task(PLAY)


def waiting_messages() -> int:
    """How many messages wait for a slot of this worker."""
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel  # its stubs do not have the method
        return int(channel.queue_declare(app.conf.task_default_queue, passive=True).message_count)


_main: MainProcess | None = None


@worker_init.connect
def _make_main(sender: Any, **_: Any) -> None:
    global _main
    os.environ.setdefault("DUARENA_NAME", sender.hostname)
    app.conf.worker_concurrency = sender.concurrency
    _main = MainProcess(sender.concurrency)


@worker_ready.connect
def _begin_main(sender: Any, **_: Any) -> None:
    if _main is not None:
        _main.begin(sender.pool)


@worker_shutdown.connect
def _end_main(**_: Any) -> None:
    if _main is not None and _main.has_begun:
        _main.end()


def run(slots: int) -> int:
    """Run the worker of this process until it is stopped; returns its exit status, 1 if it did not start."""
    words = ["worker", f"--concurrency={slots}", f"--hostname={worker_name()}", "--loglevel=INFO"]
    become_worker: Callable[[list[str]], object] = app.worker_main  # its stubs say it never returns
    become_worker([*words, "--without-gossip", "--without-mingle"])
    if _main is None or (not _main.has_begun and state.should_stop is None):
        return 1  # Celery has logged the reason, and returns as from a stop
    return _main.registration.status


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
