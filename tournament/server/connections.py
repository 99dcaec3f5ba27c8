"""One connection: what it waits for, and how long it may wait for its client."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from waitress.channel import HTTPChannel

from tournament.server.limits import BYTES_A_SECOND, GRACE_S, IDLE_S, LINGER_S, SENT_BYTES
from tournament.server.requests import ApplicationTask, RefusalTask, Request


class Connection(HTTPChannel):
    """A connection that closes when its client is too slow.

    Everything but ``service`` runs in the thread that reads and writes all connections.
    """

    parser_class = Request
    task_class = ApplicationTask
    error_task_class = RefusalTask

    client = ""
    """What the connection counts for (``counted_address``); empty for a proxy's between requests."""
    address = ""
    """The address of the client, for the log."""
    _lingers = False
    _drops = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._restart()
        super().__init__(*arguments, **named)
        # What waitress reads again from a file each time the client has taken some bytes; its default is the
        # system's buffer, which is megabytes.
        self.sendbuf_len = SENT_BYTES

    def _restart(self) -> None:
        """Begin to measure the client's next part: of a request, or of a response."""
        self.since, self._moved = time.monotonic(), 0

    @property
    def waits_for_client(self) -> bool:
        """Not while a request is in the queue or with the application."""
        return not self.requests

    @property
    def upload(self) -> Request | None:
        """The request that counts as an upload, if there is one."""
        requests = [*self.requests[:1], self.request]
        return next((request for request in requests if request is not None and request.has_slot), None)

    def is_overdue(self, now: float) -> bool:
        """Whether the client has had the time for its part; ``now`` is of the monotonic clock."""
        if not self.waits_for_client:
            return False
        if self._drops:
            return now > self.since + LINGER_S
        if self.request is not None or self.total_outbufs_len:
            return now > self.since + GRACE_S + self._moved / BYTES_A_SECOND
        return bool(time.time() > self.last_activity + IDLE_S)

    def recv(self, buffer_size: int) -> bytes:
        data: bytes = super().recv(buffer_size)
        self._moved += len(data)
        return data

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent: int = super().send(data, do_close=do_close)
        self._moved += sent
        return sent

    def received(self, data: bytes) -> bool:
        if self._drops:
            return False
        was_idle = not self.request
        taken: bool = super().received(data)
        if was_idle or self.requests:
            self._restart()
        request: Request | None = self.request
        if request is not None and request.is_large and not request.has_slot:
            self._take_upload(request)
        return taken

    def _take_upload(self, request: Request) -> None:
        """Count a large body that begins to arrive, or refuse it if too many arrive already."""
        if (error := self.server.refusal_of_upload(self)) is None:
            request.has_slot = True
            return
        request.refuse(error)
        with self.requests_lock:
            self.request = None
            self.requests.append(request)
            if len(self.requests) == 1:
                self.server.add_task(self)

    def service(self) -> None:
        """Runs in a thread of the application."""
        self._lingers = self.requests[0].is_refused
        super().service()
        self._restart()
        if not self.requests:
            self.server.finished(self)

    # A refused body is read and dropped after the response. If the connection were closed with unread data,
    # the system would reset it, and a client that is still sending could not read the response.

    def readable(self) -> bool:
        return self._drops or super().readable()

    def handle_write(self) -> None:
        if self._lingers and self.close_when_flushed and not self.total_outbufs_len and not self.will_close:
            self._begin_to_drop()
        else:
            super().handle_write()

    def _begin_to_drop(self) -> None:
        self._drops, self._lingers, self.close_when_flushed = True, False, False
        self._restart()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
