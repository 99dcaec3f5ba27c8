"""What the site tells the main process of a worker: whether it gets jobs, and which jobs it must stop.

Each worker has a queue of its own for them. Independent of Celery: ``registration`` receives them.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from workers.jobs import JobError, JsonValue

LIFETIME_SECONDS = 60
"""An older command is ignored: the worker was away, and the site repeats what still applies."""


@dataclass(frozen=True, slots=True)
class Admission(JsonValue):
    """Whether run ``run`` of a worker gets jobs; ``why`` is the reason if it does not."""

    run: str
    admitted: bool
    why: str


@dataclass(frozen=True, slots=True)
class Command(JsonValue):
    """A command to ``worker``; ``stop`` lists ids of jobs. ``expires`` is a Unix time in seconds."""

    worker: str
    expires: int
    admission: Admission | None = None
    stop: tuple[str, ...] = ()


def commands_queue(worker: str) -> str:
    """The queue of a worker's commands."""
    return f"commands.{worker}"


def make_command(worker: str, *, admission: Admission | None = None, stop: tuple[str, ...] = ()) -> Command:
    """A command that is valid from now on."""
    return Command(worker, round(time.time()) + LIFETIME_SECONDS, admission, stop)


def read_command(body: str | bytes, worker: str, now: float) -> Command:
    """Read the body of a message. Raises ``JobError``, also for an expired command and another worker's."""
    try:
        command = Command.from_json(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise JobError(f"not a command: {str(error)[:80]}") from None
    if command.worker != worker:
        raise JobError(f"a command to {command.worker[:80]!r}")
    if command.expires < now:
        raise JobError(f"a command that expired {now - command.expires:.0f} s ago")
    return command
