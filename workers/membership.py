"""A worker's place among a site's workers: it tells of itself, and takes jobs once the site admits it.

Part of the worker's own process, not of its slots: a step of Celery's consumer that ticks while the
broker is there, and the one command that the site gives. Without the site's word a worker waits; nobody
gives out games then anyway, because that is the record keeper's part as well.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from celery import bootsteps
from celery.worker.consumer.control import Control
from celery.worker.control import control_command

from workers.celery import app
from workers.heartbeat import HEARTBEAT_SECONDS, KNOCK_SECONDS, Heartbeat, Pace
from workers.slots import SLOTS, Slots, SlotState

log = logging.getLogger("workers.membership")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a worker tells of itself that does not change while it runs; see ``Heartbeat``."""

    worker: str
    host: str
    queue: str
    version: str
    slots: int
    speed: str
    level: str
    refusal: str


@dataclass(slots=True)
class Membership:
    """One worker's, for one run. It is admitted, barred, or waits for the site's word."""

    identity: Identity
    slots: Slots
    send: Callable[[Heartbeat], None]
    run: str = field(default_factory=lambda: str(uuid.uuid4()))
    is_admitted: bool = field(default=False, init=False)
    _told: float = field(default=float("-inf"), init=False)
    _told_stopping: bool = field(default=False, init=False)
    _pace: Pace = field(default_factory=Pace, init=False)

    def tick(self, now: float) -> None:
        """Tell of itself, if it is time (seconds of a monotonic clock)."""
        every = HEARTBEAT_SECONDS if self.is_admitted else KNOCK_SECONDS
        if now >= self._told + every or self.slots.is_stopping != self._told_stopping:
            self._told, self._told_stopping = now, self.slots.is_stopping
            self.send(self.heartbeat(now))

    def decide(self, run: str, admitted: bool, why: str) -> bool:
        """The site's word; False if it says nothing new, or is for another run."""
        if run != self.run or admitted == self.is_admitted:
            return False
        self.is_admitted = admitted
        if admitted:
            self.slots.admit()
            log.warning("the site gives this worker jobs")
        else:
            self.slots.bar()
            log.error("the site gives this worker no jobs: %s", why)
        self._told = float("-inf")
        return True

    def heartbeat(self, now: float) -> Heartbeat:
        identity, games = self.identity, self.slots.games
        return Heartbeat(
            worker=identity.worker,
            run=self.run,
            host=identity.host,
            queue=identity.queue,
            version=identity.version,
            slots=identity.slots,
            busy=self.slots.number_in(SlotState.BUSY),
            held=self.slots.number_in(SlotState.HELD),
            games=games,
            voids=self.slots.voids,
            games_an_hour=self._pace.note(games, now),
            speed=identity.speed,
            level=identity.level,
            refusal=identity.refusal,
            admitted=self.is_admitted,
            stopping=self.slots.is_stopping,
        )


_mine: list[Membership] = []
"""This process's, if it is a worker's."""


def join(identity: Identity, send: Callable[[Heartbeat], None]) -> None:
    """Have the worker that this process becomes tell of itself, and take no job before it is admitted."""
    _mine[:] = [Membership(identity, SLOTS, send)]
    app.steps["consumer"].add(MembershipStep)


class MembershipStep(bootsteps.StartStopStep):
    """Starts with every connection to the broker, once the site's word can be heard."""

    requires = (Control,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        self._timer: Any = None
        super().__init__(consumer, **options)

    def start(self, consumer: Any) -> None:
        _listen(consumer, _mine[0])
        self._timer = consumer.timer.call_repeatedly(KNOCK_SECONDS, self._tick)
        self._tick()

    def stop(self, consumer: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if SLOTS.is_stopping:
            with contextlib.suppress(ConnectionError):
                self._tick()

    def _tick(self) -> None:
        _mine[0].tick(time.monotonic())


@control_command(args=[("run", str), ("admitted", bool), ("why", str)])
def workers_standing(state: Any, run: str, admitted: bool, why: str = "") -> None:
    """The site's word whether this worker gets jobs."""
    if _mine and _mine[0].decide(run, admitted, why):
        _listen(state.consumer, _mine[0])
        _mine[0].tick(time.monotonic())


def _listen(consumer: Any, membership: Membership) -> None:
    """Take jobs from the queue, or no more of them."""
    queue = membership.identity.queue
    if membership.is_admitted:
        # Celery's own command forgets to select it again, and a new connection would leave it out.
        app.amqp.queues.select_add(app.amqp.queues[queue])
        consumer.add_task_queue(queue)
    else:
        consumer.cancel_task_queue(queue)
