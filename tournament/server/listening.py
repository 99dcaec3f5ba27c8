"""The listening socket of one process: its connections, their limits, and the queue of requests."""

from __future__ import annotations

import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from typing import Any

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import Task, ThreadedTaskDispatcher
from waitress.utilities import Error

from tournament.server.addresses import counted_address, plain_address
from tournament.server.connections import Connection
from tournament.server.limits import HEALTH_PATH, PASSWORD_PATHS, SYSTEM_BYTES, ConnectionLimits
from tournament.server.requests import TooManyRequests, TooManyUploads

Log = Callable[[Task, dict[str, Any]], None]
NOTICE_S = 60.0
"""At most one line of the log in this time says how many connections were closed."""


class FairQueue:
    """A queue of connections with a request, in turn by address, so that none waits for all of another's."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Connection]] = OrderedDict()

    def append(self, connection: Connection) -> None:
        self._waiting.setdefault(connection.client, deque()).append(connection)

    def popleft(self) -> Connection:
        """The oldest of the address whose turn it is; that address's next turn comes last."""
        address, connections = self._waiting.popitem(last=False)
        connection = connections.popleft()
        if connections:
            self._waiting[address] = connections
        return connection

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))


class FairDispatcher(ThreadedTaskDispatcher):
    """Threads of the application."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = FairQueue()
        # Waitress warns of every request that waits.
        self.queue_logger.disabled = True


class SiteDispatcher(FairDispatcher):
    """The threads for pages, and three more for what neither delays pages nor waits for them.

    One is for the health check, so that monitoring does not take a busy site for a dead one; one for
    passwords, since each takes a fifth of a second of processor time; one for searches, which take seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._health, self._passwords, self._searches = (FairDispatcher() for _ in range(3))
        for single in self._singles:
            single.set_thread_count(1)

    @property
    def _singles(self) -> tuple[FairDispatcher, ...]:
        return self._health, self._passwords, self._searches

    def add_task(self, connection: Connection) -> None:
        request = connection.requests[0]
        if request.path == HEALTH_PATH:
            self._health.add_task(connection)
        elif request.command == "POST" and request.path.startswith(PASSWORD_PATHS):
            self._passwords.add_task(connection)
        elif request.is_search:
            self._searches.add_task(connection)
        else:
            super().add_task(connection)

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        for single in self._singles:
            single.shutdown(cancel_pending, timeout)
        return bool(super().shutdown(cancel_pending, timeout))


class LimitedServer(TcpWSGIServer):
    """Accepts connections within the limits.

    Where a limit is reached, a new connection replaces the one that has waited longest for its client; if
    none waits for its client, the new one is closed.
    """

    def __init__(
        self,
        application: Any,
        listener: socket.socket,
        limits: ConnectionLimits,
        log: Log,
        *,
        adj: Adjustments,
        **named: Any,
    ) -> None:
        info = (listener.family, listener.type, listener.proto, listener.getsockname())
        self._limits = limits
        self.log_access = log
        self._closed, self._noticed = 0, float("-inf")
        super().__init__(application, _sock=listener, bind_socket=False, sockinfo=info, adj=adj, **named)

    @property
    def connections(self) -> list[Connection]:
        return list(self.active_channels.values())

    def _is_proxy(self, address: str) -> bool:
        return self.adj.trusted_proxy in {"*", address}

    # Connections

    def set_socket_options(self, connection: socket.socket) -> None:
        super().set_socket_options(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SYSTEM_BYTES)

    def channel_class(
        self, _server: LimitedServer, sock: socket.socket, address: Any, *rest: Any, **named: Any
    ) -> None:
        """Called for each accepted connection, in place of waitress's class."""
        address = (plain_address(address[0]), *address[1:])
        client = "" if self._is_proxy(address[0]) else counted_address(address[0])
        if not self._has_room(client):
            self._closed += 1
            sock.close()
            return
        connection = Connection(self, sock, address, *rest, **named)
        connection.client, connection.address = client, address[0]

    def _has_room(self, client: str) -> bool:
        """Whether there is room for one more connection, after another one was closed if needed."""
        same = [connection for connection in self.connections if connection.client == client]
        if client and len(same) >= self._limits.connections_per_address:
            return self._close_one(same)
        if len(self.active_channels) >= self._limits.connections:
            return self._close_one(self.connections)
        return True

    def _close_one(self, connections: Collection[Connection]) -> bool:
        """Close the one that has waited longest for its client; returns False if none waits for it."""
        waiting = [connection for connection in connections if connection.waits_for_client]
        if not waiting:
            return False
        min(waiting, key=lambda connection: connection.since).handle_close()
        self._closed += 1
        return True

    def maintenance(self, now: float) -> None:
        """Close the connections whose clients are too slow; called every second."""
        for connection in self.connections:
            if connection.is_overdue(time.monotonic()):
                connection.will_close = True
                self._closed += 1
        if self._closed and now > self._noticed + NOTICE_S:
            self.logger.warning("%d connections of slow clients or over the limits were closed", self._closed)
            self._closed, self._noticed = 0, now

    # Requests

    def add_task(self, connection: Connection) -> None:
        """Queue a request; one from a proxy counts for the address that the proxy names."""
        if self._is_proxy(connection.addr[0]):
            request = connection.requests[0]
            address = request.headers.get("X_FORWARDED_FOR", "").rpartition(",")[2].strip()
            connection.address = plain_address(address or connection.addr[0])
            client = address and counted_address(address)
            same = sum(other.client == client for other in self.connections if other is not connection)
            connection.client = client or counted_address(connection.addr[0])
            if client and same >= self._limits.connections_per_address and request.error is None:
                request.refuse(TooManyRequests("Too many requests of your address at once."))
        super().add_task(connection)

    def finished(self, connection: Connection) -> None:
        """The connection has no request any more."""
        if self._is_proxy(connection.addr[0]):
            connection.client = ""

    def refusal_of_upload(self, connection: Connection) -> Error | None:
        """The error if there are too many uploads besides this connection's; else None."""
        others = list(self._other_uploads(connection))
        if len(others) >= self._limits.uploads:
            return TooManyUploads("Too many uploads at once: try again in a minute.")
        mine = sum(other.client == connection.client for other in others)
        if connection.client and mine >= self._limits.uploads_per_address:
            return TooManyRequests("Too many uploads of your address at once: try again in a minute.")
        return None

    def _other_uploads(self, connection: Connection) -> Iterator[Connection]:
        return (other for other in self.connections if other is not connection and other.upload is not None)
