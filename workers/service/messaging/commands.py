"""What the site tells the main process of a worker: whether it gets jobs, and which jobs it must stop.

Each worker has a queue of its own for them. Independent of Celery: ``registration`` receives them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from workers.jobs import JobError, JsonValue


@dataclass(frozen=True, slots=True)
class Admission(JsonValue):
    """Whether run ``run`` of a worker gets jobs; ``why`` is the reason if it does not."""

    run: str
    admitted: bool
    why: str


@dataclass(frozen=True, slots=True)
class Command(JsonValue):
    """A command to ``worker``; ``stop`` lists ids of jobs. The message that carries it expires."""

    worker: str
    admission: Admission | None = None
    stop: tuple[str, ...] = ()


def read_command(body: str | bytes, worker: str) -> Command:
    """Read the body of a message. Raises ``JobError``, also for another worker's command."""
    try:
        command = Command.from_json(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise JobError(f"not a command: {str(error)[:80]}") from None
    if command.worker != worker:
        raise JobError(f"a command to {command.worker[:80]!r}")
    return command
