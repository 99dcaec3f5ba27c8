"""Makes published files in short steps between the record keeper's other work."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from typing import ClassVar, Generic, TypeVar

from tournament.services.disk import full_disk

STEP_SECONDS = 0.15
"""After this time a step ends with the chunk that it writes."""
LOOK_SECONDS = 5.0
"""Between two looks for what is due."""
QUIET_SECONDS = 30.0
"""How long nothing has changed when something is begun: the annulment of many games makes one revision."""
REST_SECONDS = 600.0
"""After a failure nothing is begun for so long."""
_Key = TypeVar("_Key", bound=Hashable)


class StepwiseMaker(ABC, Generic[_Key]):
    """Makes one thing after the other; only the record keeper has one. A key changes with its subject."""

    log: ClassVar[logging.Logger]

    def __init__(self) -> None:
        self._run: Iterator[None] | None = None
        self._look_at = 0.0
        self._made: _Key | None = None
        """What was begun last."""
        self._due: dict[_Key, float] = {}
        """When each of what is due may be begun."""

    @abstractmethod
    def due(self) -> Iterable[_Key]:
        """What is to be made."""

    @abstractmethod
    def begin(self, key: _Key) -> Iterator[None] | None:
        """The making of what is due, which pauses after each chunk; None if there is nothing to make."""

    def step(self, seconds: float = STEP_SECONDS) -> bool:
        """Work for about so long; returns whether something is being made. Errors are logged."""
        until = time.monotonic() + seconds
        try:
            if self._run is None:
                self._run = self._next()
            for _ in self._run or ():
                if time.monotonic() >= until:
                    return True
        except Exception:
            self.log.exception("it cannot be made, tried again in %.0f s", REST_SECONDS)
            if self._made is not None:
                self._due[self._made] = time.monotonic() + REST_SECONDS
        self._run = None
        return False

    def _next(self) -> Iterator[None] | None:
        """What is due and has not changed for a while."""
        now = time.monotonic()
        if now < self._look_at or full_disk():
            return None
        self._look_at = now + LOOK_SECONDS
        self._due = {key: self._due.get(key, now + QUIET_SECONDS) for key in self.due()}
        for key, begins_at in self._due.items():
            if begins_at <= now and (run := self.begin(key)) is not None:
                self._made = key
                return run
        return None
