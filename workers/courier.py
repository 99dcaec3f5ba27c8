"""Word of how games go, carried by a thread of its own.

A broker that is slow or gone must not keep a game waiting: its clocks are running.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Word = TypeVar("Word")


class Courier(Generic[Word]):
    """Carries the latest word to ``deliver``; one that is overtaken by a newer is not delivered at all.

    ``tell`` never waits; what it is told within ``pause`` seconds of a word is passed over.
    The thread starts with the first word, so a courier may be made
    before a fork and used after it.
    """

    def __init__(
        self,
        deliver: Callable[[Word], None],
        pause: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deliver = deliver
        self._pause = pause
        self._clock = clock
        self._next = -math.inf
        self._word: Word | None = None
        self._told = threading.Event()
        self._thread: threading.Thread | None = None

    def tell(self, word: Word) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + self._pause
        self._word = word
        self._told.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._carry, name="courier", daemon=True)
            self._thread.start()

    def hurry(self) -> None:
        """Let the next word be carried, however soon it comes."""
        self._next = -math.inf

    def _carry(self) -> None:
        while self._told.wait():
            self._told.clear()
            word, self._word = self._word, None
            if word is not None:
                self._deliver(word)
