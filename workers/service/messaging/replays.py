"""Which messages a process has received lately, so that a message that is sent again has no effect.

A queue is first in, first out. So it is enough to know the messages of the last minutes: one that was sent
long before the newest of them has been received before. A worker keeps them in a file, the site in its
database (``tournament.services.results.received``). Times are seconds of the broker's clock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engines.files import atomic_file

WINDOW_SECONDS = 600
"""The longest time between the signing of a message and its arrival in its queue."""
MOST_SPARE_LINES = 1000
"""The file is written anew when it has so many more lines than messages that it must keep."""

log = logging.getLogger("workers.service.messaging.replays")


@dataclass(frozen=True, slots=True)
class Received:
    """A message that was received: a name that no other message has, its queue, and when it was sent."""

    name: str
    queue: str
    sent: int


class MessageMemory(Protocol):
    """The messages that a process has received; ``now`` is the time by the broker's clock."""

    def has(self, message: Received, now: float) -> bool:
        """Whether the message was received before."""

    def add(self, message: Received, now: float) -> None:
        """Remember a message; may be repeated."""


class RecentMessages:
    """A memory without a file. Each queue has its own messages: jobs wait while commands are received."""

    def __init__(self, messages: Iterable[Received] = ()) -> None:
        self._sent: dict[str, dict[str, int]] = {}
        self._newest: dict[str, int] = {}
        for message in messages:
            self.add(message, message.sent)

    def has(self, message: Received, now: float) -> bool:
        known = self._sent.get(message.queue, {})
        return message.name in known or message.sent < self._oldest(message.queue, now)

    def add(self, message: Received, now: float) -> None:
        self._sent.setdefault(message.queue, {})[message.name] = message.sent
        # Not above the present: the broker's clock may have been set back.
        newest = min(self._newest.get(message.queue, message.sent), round(now))
        self._newest[message.queue] = max(newest, message.sent)

    def forget_old(self, now: float) -> list[Received]:
        """Forget the messages that are known by their age; returns the others."""
        for queue, known in self._sent.items():
            oldest = self._oldest(queue, now)
            self._sent[queue] = {name: sent for name, sent in known.items() if sent >= oldest}
        return [
            Received(name, queue, sent) for queue, known in self._sent.items() for name, sent in known.items()
        ]

    def _oldest(self, queue: str, now: float) -> float:
        return min(self._newest.get(queue, 0), now) - WINDOW_SECONDS


class FileMemory:
    """A memory that survives restarts of its process, in a file that no other process writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recent = RecentMessages(_read(path))
        self._lines = self._kept = 0
        self._is_written = False

    def has(self, message: Received, now: float) -> bool:
        return self._recent.has(message, now)

    def add(self, message: Received, now: float) -> None:
        """Remember a message. If the file cannot be written, it is remembered until this process ends."""
        self._recent.add(message, now)
        try:
            if not self._is_written or self._lines > self._kept + MOST_SPARE_LINES:
                self._write_all(now)
            else:
                with self._path.open("a") as file:
                    file.write(_line(message))
                self._lines += 1
        except OSError as error:
            log.error("the received messages cannot be stored: %s", error)

    def _write_all(self, now: float) -> None:
        kept = self._recent.forget_old(now)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(self._path, mode=0o600) as file:
            file.write("".join(map(_line, kept)).encode())
        self._lines = self._kept = len(kept)
        self._is_written = True


def _line(message: Received) -> str:
    return f"{message.queue} {message.name} {message.sent}\n"


def _read(path: Path) -> list[Received]:
    """The messages in a file; a line that cannot be read was being written when the machine stopped."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        log.error("the received messages cannot be read: %s", error)
        return []
    found = []
    for line in lines:
        match line.split(" "):
            case [queue, name, sent] if sent.isascii() and sent.isdigit():
                found.append(Received(name, queue, int(sent)))
    return found
