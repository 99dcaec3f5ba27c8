"""Registers a worker with its site: sends heartbeats, and takes jobs once the site admits the worker.

Runs in the worker's main process, not in its slots: a step of Celery's consumer that ticks while the broker
is connected and receives the site's commands. Without an answer of the site a worker waits; no games are
assigned then either, because the record keeper does both.
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
from celery.worker.consumer.tasks import Tasks
from kombu import Consumer, Queue

from workers.jobs import JobError
from workers.service.celery import app
from workers.service.messaging.commands import Command, read_command
from workers.service.messaging.heartbeat import (
    HEARTBEAT_SECONDS,
    WAITING_HEARTBEAT_SECONDS,
    GameRate,
    Heartbeat,
)
from workers.service.messaging.signing import COMMANDS, own_queue
from workers.service.restart import RESTART
from workers.service.slot_watch import SlotWatch
from workers.service.slots import SLOTS, Slots, SlotState

log = logging.getLogger("workers.service.registration")


@dataclass(frozen=True, slots=True)
class Identity:
    """The fields of ``Heartbeat`` that do not change while a worker runs."""

    worker: str
    host: str
    queue: str
    version: str
    slots: int
    speed: str
    level: str
    refusal: str


@dataclass(slots=True)
class Registration:
    """The registration of one worker for one run: admitted, barred, or waiting for the site's decision."""

    identity: Identity
    slots: Slots
    send: Callable[[Heartbeat], None]
    find_change: Callable[[], str] = lambda: ""
    """Why a restart of the worker would give a better sandbox; empty if it would not."""
    on_tick: Callable[[], None] = lambda: None
    """Called every second while the broker is connected."""
    run: str = field(default_factory=lambda: str(uuid.uuid4()))
    is_admitted: bool = field(default=False, init=False)
    _last_sent: float = field(default=float("-inf"), init=False)
    _sent_stopping: bool = field(default=False, init=False)
    _rate: GameRate = field(default_factory=GameRate, init=False)

    def tick(self, now: float) -> None:
        """Send a heartbeat if one is due at ``now`` (seconds of a monotonic clock)."""
        every = HEARTBEAT_SECONDS if self.is_admitted else WAITING_HEARTBEAT_SECONDS
        if now >= self._last_sent + every or self.slots.is_stopping != self._sent_stopping:
            self._last_sent, self._sent_stopping = now, self.slots.is_stopping
            self.send(self.heartbeat(now))

    def decide(self, run: str, admitted: bool, why: str) -> bool:
        """Apply the site's decision; False if it changes nothing or is for another run."""
        if run != self.run or admitted == self.is_admitted:
            return False
        self.is_admitted = admitted
        if admitted:
            self.slots.admit()
            log.warning("the site gives this worker jobs")
        else:
            self.slots.bar()
            log.error("the site gives this worker no jobs: %s", why)
        self._last_sent = float("-inf")
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
            games_an_hour=self._rate.note(games, now),
            speed=identity.speed,
            level=identity.level,
            refusal=identity.refusal,
            admitted=self.is_admitted,
            stopping=self.slots.is_stopping,
        )


_registrations: list[Registration] = []
"""The registration of this process if it is a worker, else empty."""


def join(
    identity: Identity,
    send: Callable[[Heartbeat], None],
    *,
    find_change: Callable[[], str],
    on_tick: Callable[[], None],
) -> None:
    """Make the worker of this process send heartbeats, and take no job before the site admits it.

    Once ``find_change`` returns a reason the worker ends, with ``RESTART`` due.
    """
    _registrations[:] = [Registration(identity, SLOTS, send, find_change, on_tick)]
    app.steps["consumer"].add(RegistrationStep)


class RegistrationStep(bootsteps.ConsumerStep):
    """Starts with every connection to the broker.

    Its channel is its own: commands come also while all slots are busy and no job is taken.
    """

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        self._timer: Any = None
        self._watch = SlotWatch(SLOTS)
        self._consumer = consumer
        super().__init__(consumer, **options)

    def get_consumers(self, channel: Any) -> list[Consumer]:
        queue = Queue(own_queue(COMMANDS, _registrations[0].identity.worker))
        return [Consumer(channel, queues=[queue], on_message=self._on_message, no_ack=True)]

    def start(self, consumer: Any) -> None:
        super().start(consumer)
        _update_queue(consumer, _registrations[0])
        self._timer = consumer.timer.call_repeatedly(WAITING_HEARTBEAT_SECONDS, self._tick)
        self._tick()

    def stop(self, consumer: Any) -> None:
        super().stop(consumer)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if SLOTS.is_stopping:
            with contextlib.suppress(ConnectionError):
                self._tick()

    def _tick(self) -> None:
        _registrations[0].tick(time.monotonic())
        _registrations[0].on_tick()
        if not SLOTS.is_stopping:
            self._watch.check(self._consumer.pool.info["processes"], time.monotonic())
        if change := _registrations[0].find_change():
            log.warning("%s: this worker restarts", change)
            RESTART.ask()

    def _on_message(self, message: Any) -> None:
        """Carry out a command; one that cannot be read is logged and has no effect."""
        try:
            command = read_command(message.body, _registrations[0].identity.worker)
        except JobError as error:
            log.warning("a command is ignored: %s", error)
            return
        self._carry_out(command)

    def _carry_out(self, command: Command) -> None:
        SLOTS.stop_jobs(command.stop)
        decided = command.admission
        if decided and _registrations[0].decide(decided.run, decided.admitted, decided.why):
            _update_queue(self._consumer, _registrations[0])
            self._tick()


def _update_queue(consumer: Any, registration: Registration) -> None:
    """Consume the worker's queue of jobs if it is admitted, else stop consuming it."""
    queue = own_queue(registration.identity.queue, registration.identity.worker)
    if registration.is_admitted:
        # Celery's own command does not select the queue again; a new connection would not consume it.
        app.amqp.queues.select_add(app.amqp.queues[queue])
        consumer.add_task_queue(queue)
    else:
        consumer.cancel_task_queue(queue)
