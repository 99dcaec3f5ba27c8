"""The threads of a process that make responses; each keeps its connection to the database."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from tournament.monitoring.logs import WORKER_PATHS

T = TypeVar("T")
HEALTH_PATH = "/healthz"
PASSWORD_PATHS = ("/log-in/", "/sign-up/", "/account/password/", "/account/again/", "/password-reset/")
"""The beginnings of the addresses of forms with a password."""
SEARCH_PATHS = ("/games/", "/api/v1/games/")
EXPORT_PATHS = "/games/games."
"""The lists of games and their downloads, whose cost their filters decide."""
THREADS = {"pages": 4, "work": 4, "health": 1, "passwords": 1, "searches": 1}
"""Some requests have a thread of their own, so that they neither delay pages nor wait for them: the health
check, so that monitoring does not take a busy site for a dead one; workers; passwords, since each takes a
fifth of a second of processor time; searches, which take seconds.
"""


class Threads:
    """Calls functions in threads, in turn by address.

    One address occupies at most half of the threads of a kind, so its other requests delay nobody else.
    """

    def __init__(self) -> None:
        self._pools = {kind: ThreadPoolExecutor(count, kind) for kind, count in THREADS.items()}
        self._turns = WeakValueDictionary[tuple[str, str], asyncio.Semaphore]()
        self._files = ThreadPoolExecutor(1, "files")

    async def call(self, kind: str, address: str, function: Callable[..., T], *arguments: Any) -> T:
        turn = self._turns.setdefault((kind, address), asyncio.Semaphore(max(1, THREADS[kind] // 2)))
        async with turn:
            return await _run(self._pools[kind], function, *arguments)

    async def read(self, function: Callable[..., T], *arguments: Any) -> T:
        """Read a part of a file."""
        return await _run(self._files, function, *arguments)


async def _run(pool: ThreadPoolExecutor, function: Callable[..., T], *arguments: Any) -> T:
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, context.run, function, *arguments)


def kind_of(scope: dict[str, Any]) -> str:
    """Which threads answer a request."""
    path = scope["path"]
    if path == HEALTH_PATH:
        return "health"
    if path.startswith(WORKER_PATHS):
        return "work"
    if scope["method"] == "POST" and path.startswith(PASSWORD_PATHS):
        return "passwords"
    if path.startswith(EXPORT_PATHS) or (path in SEARCH_PATHS and scope["query_string"]):
        return "searches"
    return "pages"
