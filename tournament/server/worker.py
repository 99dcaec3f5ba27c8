"""A process of the server: the worker class that gunicorn is started with.

gunicorn starts, restarts and stops its workers, and writes the access log; its own worker classes occupy a
thread while a client sends or reads slowly.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.task import Task

from tournament.monitoring.sharing import share_measurements
from tournament.server.limits import HEADER_BYTES, ConnectionLimits
from tournament.server.listening import LimitedServer, SiteDispatcher

NICENESS = 10
"""The pages step back behind the engines, which have 5 and whose clocks run: a flood of requests takes a
quarter of a core from an engine, and not three quarters.
"""
GROUP_NICENESS = 7
"""The same where the kernel gives each session its share of a core (``sched(7)``, autogroups): there the
niceness of a process counts only within its session. With 5 a flood of forms delayed games by a third of a
core more, with 10 the home page took 0.9 seconds under it.
"""
AUTOGROUP = Path("/proc/self/autogroup")
MANY_CONNECTIONS = 64
PAUSE_S = 0.01
"""With more connections than that the process looks at them at most a hundred times a second: each look takes
time for every connection, so slow clients alone would use a third of a core.
"""
SWITCH_S = 0.001
"""How long a thread that computes keeps the others waiting. With Python's five milliseconds, which a busy
processor makes longer, a page under a flood waits for other threads for most of its time.
"""
LOOK_S = 1.0
"""How often gunicorn hears that the worker is alive."""
KILL_MARGIN_S = 0.5
"""A worker ends this long before gunicorn would kill it."""
MEMORY_BYTES = 64 * 1024
"""A longer request or response is kept in a temporary file."""
BUFFERED_BYTES = 1024**3
"""A response of the application never waits for its client: none is so long."""

Environment = dict[str, Any]
Application = Callable[[Environment, Callable[..., Any]], Iterable[bytes]]


class BufferedWorker(Worker):
    """Serves the application by waitress, within the limits of ``limits.py``."""

    @classmethod
    def setup(cls) -> None:
        """Called in gunicorn's main process before any worker is started."""
        share_measurements()

    def run(self) -> None:
        from tournament.services.work.leases import start_door_clock  # it needs the application

        start_door_clock()
        step_back()
        sys.setswitchinterval(SWITCH_S)
        limits = ConnectionLimits.of_process(self.cfg.workers)
        _raise_file_limit(4 * limits.connections)
        sockets: dict[int, Any] = {}
        dispatcher = SiteDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        self._servers = [
            LimitedServer(
                without_body_of_head(self.wsgi),
                listener.sock,
                limits,
                self._log_access,
                adj=adjustments(limits),
                map=sockets,
                dispatcher=dispatcher,
            )
            for listener in self.sockets
        ]
        while self.alive and self.ppid == os.getppid():
            self.notify()
            wasyncore.loop(timeout=LOOK_S, map=sockets, count=1, use_poll=True)
            if len(sockets) > MANY_CONNECTIONS:
                time.sleep(PAUSE_S)
        self._finish(sockets)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Called on SIGTERM: end the wait in ``run``."""
        super().handle_exit(sig, frame)
        for server in self._servers:
            server.pull_trigger()

    def _finish(self, sockets: dict[int, Any]) -> None:
        """Accept nothing more, and complete the responses to requests that have arrived."""
        deadline = time.monotonic() + self.cfg.graceful_timeout - KILL_MARGIN_S
        for server in self._servers:
            server.accepting = False
            server.socket.close()
            sockets.pop(server._fileno, None)
        while any(map(_is_busy, self._servers)) and time.monotonic() < deadline:
            self.notify()
            wasyncore.loop(timeout=0.1, map=sockets, count=1, use_poll=True)

    def _log_access(self, task: Task, environ: Environment) -> None:
        sent = None if task.chunked_response else task.content_length
        response = _Answered(task.status, sent, task.response_headers)
        request = _Asked([(key, str(value)) for key, value in task.request.headers.items()])
        self.log.access(response, request, environ, timedelta(seconds=time.time() - task.start_time))


@dataclass(frozen=True, slots=True)
class _Answered:
    """A response as gunicorn's access log reads it."""

    status: str
    sent: int | None
    headers: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as gunicorn's access log reads it."""

    headers: list[tuple[str, str]]


def step_back() -> None:
    """Lower the priority of this process, and of its session where that is what counts."""
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # another process of the session did it just now, or there are none
        AUTOGROUP.write_text(str(GROUP_NICENESS))


def adjustments(limits: ConnectionLimits) -> Adjustments:
    """The settings of waitress."""
    return Adjustments(
        ident=None,
        url_scheme="https" if settings.IS_HTTPS else "http",
        # LimitedServer keeps the limit. At this one waitress would accept nothing more.
        connection_limit=2 * limits.connections + 100,
        cleanup_interval=1,
        inbuf_overflow=MEMORY_BYTES,
        outbuf_overflow=MEMORY_BYTES,
        outbuf_high_watermark=BUFFERED_BYTES,
        max_request_header_size=HEADER_BYTES,
        log_socket_errors=False,
        clear_untrusted_proxy_headers=True,
        **_proxy_settings(),
    )


def _proxy_settings() -> dict[str, Any]:
    if not settings.PROXY:
        return {}
    return {
        "trusted_proxy": settings.PROXY,
        "trusted_proxy_count": 1,
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
    }


def without_body_of_head(application: Application) -> Application:
    """The application without bodies in its responses to HEAD: Django leaves them to the server."""

    def answer(environ: Environment, start_response: Callable[..., Any]) -> Iterable[bytes]:
        chunks = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return chunks
        if hasattr(chunks, "close"):
            chunks.close()
        return ()

    return answer


def _is_busy(server: LimitedServer) -> bool:
    return any(connection.requests or connection.total_outbufs_len for connection in server.connections)


def _raise_file_limit(wanted: int) -> None:
    """Allow this process as many open files as its connections may need, if the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
