"""The HTTP server with real connections: limits, slow clients, refused bodies."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from django.urls import reverse
from waitress import wasyncore
from waitress.adjustments import Adjustments

from tests.support.jobs import wait_until
from tournament.server import connections
from tournament.server.addresses import counted_address
from tournament.server.limits import (
    EXPORT_PATHS,
    HEALTH_PATH,
    PASSWORD_PATHS,
    SEARCH_PATH,
    TOO_LARGE,
    ConnectionLimits,
)
from tournament.server.listening import FairQueue, LimitedServer, SiteDispatcher
from tournament.server.worker import adjustments, without_body_of_head

pytestmark = pytest.mark.slow

LIMITS = ConnectionLimits(connections=20, connections_per_address=3, uploads=2, uploads_per_address=1)
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HALF = GET[:-2]


SLOW_PAGE = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
HEALTH = f"GET {HEALTH_PATH} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
slow_pages_end = threading.Event()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers with the body's length, and whether a body was dropped."""
    if environ["PATH_INFO"].startswith(("/slow", SEARCH_PATH, *PASSWORD_PATHS)):
        assert slow_pages_end.wait(60)
    body = environ["wsgi.input"].read()
    text = f"{len(body)} {environ[TOO_LARGE]} {environ['REMOTE_ADDR']}".encode()
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text]


class Running:
    """A server with one thread for the application."""

    def __init__(self, adj: Adjustments, host: str = "127.0.0.1") -> None:
        self.log: list[tuple[str, str]] = []
        self.addresses: list[str] = []
        self._sockets: dict[int, Any] = {}
        self._stack = ExitStack()
        dispatcher = SiteDispatcher()
        dispatcher.set_thread_count(1)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, 0), family=family, dualstack_ipv6=family == socket.AF_INET6)
        self.address = ("127.0.0.1" if host == "::" else host, listener.getsockname()[1])
        app = without_body_of_head(application)
        self.server = LimitedServer(
            app, listener, LIMITS, self._log, adj=adj, map=self._sockets, dispatcher=dispatcher
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _log(self, task: Any, environ: dict[str, Any]) -> None:
        self.log.append((environ["REQUEST_METHOD"], task.status))
        self.addresses.append(environ["REMOTE_ADDR"])

    def _run(self) -> None:
        while not self._stopped.is_set():
            wasyncore.loop(timeout=0.05, map=self._sockets, count=1, use_poll=True)

    def connect(self, sent: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
        """A connection whose client has sent this; the server has accepted it."""
        known = len(self.server.connections)
        connection = socket.create_connection(self.address, timeout=20, source_address=(address, 0))
        self._stack.enter_context(closing(connection))
        connection.sendall(sent)
        wait_until(lambda: len(self.server.connections) != known, 1)
        return connection

    @property
    def uploads(self) -> int:
        """How many connections send an upload that was not refused."""
        return sum(one.upload is not None for one in list(self.server.connections))

    def close(self) -> None:
        self._stack.close()
        self._stopped.set()
        self._thread.join()
        self.server.task_dispatcher.shutdown()
        wasyncore.close_all(self._sockets)


@pytest.fixture
def running() -> Iterator[Running]:
    with closing(Running(adjustments(LIMITS))) as server:
        yield server


def answer(connection: socket.socket) -> bytes:
    """All that the server sends until it closes the connection, or a whole response."""
    received = b""
    while not _is_whole(received) and (chunk := connection.recv(65536)):
        received += chunk
    return received


def _is_whole(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return bool(end) and length.isdigit() and len(body) >= int(length)


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HALF,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nx",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx",
    ],
)
def test_half_a_request_occupies_no_thread_of_the_application(running: Running, sent: bytes) -> None:
    for place in range(10):
        running.connect(sent, f"127.0.0.{2 + place}")
    assert answer(running.connect(GET)).endswith(b"0 False 127.0.0.1")


def test_slow_pages_do_not_delay_the_health_check(running: Running) -> None:
    slow_pages_end.clear()
    pages = [running.connect(SLOW_PAGE, f"127.0.0.{2 + place}") for place in range(3)]
    try:
        assert answer(running.connect(HEALTH)).startswith(b"HTTP/1.1 200")
    finally:
        slow_pages_end.set()
    assert all(answer(page).startswith(b"HTTP/1.1 200") for page in pages)


@pytest.mark.parametrize(
    "line",
    [*(f"POST {path}" for path in PASSWORD_PATHS), "GET /games/?round=9", "GET /games/games.csv"],
)
def test_passwords_and_searches_do_not_delay_pages(running: Running, line: str) -> None:
    slow_pages_end.clear()
    form = f"{line} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".encode()
    forms = [running.connect(form, f"127.0.0.{2 + place}") for place in range(3)]
    try:
        assert answer(running.connect(GET)).startswith(b"HTTP/1.1 200")
    finally:
        slow_pages_end.set()
    assert all(answer(form).startswith(b"HTTP/1.1 200") for form in forms)


def test_the_addresses_with_a_thread_of_their_own_are_those_of_the_site() -> None:
    names = (
        *("log-in", "account_login", "sign-up", "account_signup", "password-change"),
        *("account_reauthenticate", "account_reset_password"),
    )
    paths = [reverse(name) for name in names]
    paths.append(reverse("account_reset_password_from_key", args=["1", "a-b"]))
    assert all(path.startswith(PASSWORD_PATHS) for path in paths)
    assert reverse("healthz") == HEALTH_PATH
    assert reverse("games") == SEARCH_PATH
    assert reverse("games-export", args=["csv"]).startswith(EXPORT_PATHS)


def test_health_checks_do_not_delay_pages(running: Running) -> None:
    """The thread of the health check takes no page, and pages do not wait for it."""
    checks = [running.connect(HEALTH, f"127.0.0.{2 + place}") for place in range(9)]
    assert answer(running.connect(GET)).startswith(b"HTTP/1.1 200")
    assert all(answer(check).startswith(b"HTTP/1.1 200") for check in checks)


def test_the_connection_over_an_address_s_limit_replaces_the_one_that_waits_longest(running: Running) -> None:
    first, second, third = (running.connect(HALF, "127.0.0.2") for _ in range(3))
    stranger = running.connect(HALF, "127.0.0.3")
    assert answer(running.connect(GET, "127.0.0.2"))
    assert is_closed(first)
    for kept in (second, third, stranger):
        kept.sendall(b"\r\n")
        assert answer(kept).startswith(b"HTTP/1.1 200")


def test_the_connection_over_the_limit_of_all_replaces_the_one_that_waits_longest(running: Running) -> None:
    first = running.connect(HALF, "127.0.0.2")
    for place in range(LIMITS.connections - 1):
        running.connect(HALF, f"127.0.1.{place // 2}")
    assert answer(running.connect(GET))
    assert is_closed(first)


def test_a_client_that_is_too_slow_is_closed(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "GRACE_S", 0.0)
    assert is_closed(running.connect(HALF))


def test_an_idle_connection_is_closed(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = running.connect(GET)
    assert answer(connection)
    monkeypatch.setattr(connections, "IDLE_S", 0.0)
    assert is_closed(connection)


@pytest.mark.parametrize("path", ["/log-in/", "/upload/", "/api/bots/"])
def test_a_body_over_the_limit_is_refused_before_it_arrives(
    running: Running, settings: Any, path: str
) -> None:
    settings.MAX_BUNDLE_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n".encode()
    connection = running.connect(head)
    response = answer(connection)
    assert b"Connection: close" in response
    assert response.endswith(b"0 True 127.0.0.1")
    connection.sendall(b"x" * 100_000)  # the rest is dropped: no reset before the response is read


def test_a_chunked_body_over_the_limit_is_refused(running: Running, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    head = b"POST /log-in/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection = running.connect(head + b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
    assert answer(connection).endswith(b"0 True 127.0.0.1")


def test_a_body_at_the_limit_arrives_whole(running: Running, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    head = b"POST /log-in/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
    assert answer(running.connect(head + b"x" * 1000)).endswith(b"1000 False 127.0.0.1")


def test_a_second_upload_of_an_address_is_refused_while_the_first_arrives(running: Running) -> None:
    head = b"POST /upload/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n"
    running.connect(head)
    assert answer(running.connect(head)).startswith(b"HTTP/1.1 429")
    running.connect(head, "127.0.0.2")
    assert wait_until(lambda: running.uploads == 2)
    assert answer(running.connect(head, "127.0.0.3")).startswith(b"HTTP/1.1 503")
    assert answer(running.connect(GET)).startswith(b"HTTP/1.1 200")


def test_a_refused_upload_does_not_count_while_its_response_waits(running: Running) -> None:
    slow_pages_end.clear()
    head = b"POST /upload/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n"
    try:
        running.connect(SLOW_PAGE, "127.0.0.9")
        running.connect(head)
        refused = running.connect(head)
        running.connect(head, "127.0.0.2")
        assert wait_until(lambda: sum(one.request is not None for one in running.server.connections) == 2)
        assert running.uploads == 2
    finally:
        slow_pages_end.set()
    assert answer(refused).startswith(b"HTTP/1.1 429")


def test_the_response_to_head_has_no_body(running: Running) -> None:
    connection = running.connect(b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer(connection).endswith(b"\r\n\r\n")
    assert is_closed(connection)


def test_every_response_is_logged(running: Running) -> None:
    answer(running.connect(GET))
    answer(running.connect(b"nonsense\r\n\r\n", "127.0.0.2"))
    assert wait_until(lambda: len(running.log) == 2)
    assert running.log[0] == ("GET", "200 OK")
    assert running.log[1][1] == "400 Bad Request"


def test_behind_a_proxy_the_limit_is_that_of_the_address_it_names(settings: Any) -> None:
    settings.PROXY = "127.0.0.1"
    with closing(Running(adjustments(LIMITS))) as running:
        for _ in range(LIMITS.connections_per_address + 1):
            running.connect(HALF)  # connections of the proxy itself
        request = GET[:-2] + b"X-Forwarded-For: 9.9.9.9, 1.2.3.4\r\n\r\n"
        assert answer(running.connect(request)).endswith(b"0 False 1.2.3.4")
        for other in running.server.connections[: LIMITS.connections_per_address]:
            other.client = "1.2.3.4"
        assert answer(running.connect(request)).startswith(b"HTTP/1.1 429")


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", "2001:db8::ffff:2"),
        ("[2001:db8::1]:81", "[2001:db8::2]:82", "2001:db8::2"),
        ("1.2.3.4:81", "1.2.3.4:82", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4", "1.2.3.4"),
    ],
)
def test_addresses_that_a_proxy_names_count_by_network(
    settings: Any, first: str, second: str, shown: str
) -> None:
    settings.PROXY = "127.0.0.1"
    with closing(Running(adjustments(LIMITS))) as running:
        for _ in range(LIMITS.connections_per_address):
            running.connect(HALF)
        request = GET[:-2] + f"X-Forwarded-For: {second}\r\n\r\n".encode()
        for other in running.server.connections[: LIMITS.connections_per_address]:
            other.client = counted_address(first)
        assert answer(running.connect(request)).startswith(b"HTTP/1.1 429")
        for other in running.server.connections:
            other.client = ""
        assert answer(running.connect(request)).startswith(b"HTTP/1.1 200")
        assert running.addresses[0] == shown


def test_a_proxy_that_reaches_an_ipv6_socket_by_ipv4_is_known(settings: Any) -> None:
    settings.PROXY = "127.0.0.1"
    with closing(Running(adjustments(LIMITS), "::")) as running:
        request = GET[:-2] + b"X-Forwarded-For: 1.2.3.4\r\n\r\n"
        assert answer(running.connect(request)).endswith(b"0 False 1.2.3.4")


def test_an_ipv4_client_of_an_ipv6_socket_counts_by_its_ipv4_address() -> None:
    """And not, as part of ``::ffff:0:0/96``, together with all other IPv4 addresses."""
    with closing(Running(adjustments(LIMITS), "::")) as running:
        for _ in range(LIMITS.connections_per_address):
            running.connect(HALF, "127.0.0.2")
        assert answer(running.connect(GET, "127.0.0.3")).endswith(b"0 False 127.0.0.3")
        assert {other.client for other in running.server.connections} == {"127.0.0.2", "127.0.0.3"}


def test_a_stranger_cannot_name_another_address(running: Running) -> None:
    request = GET[:-2] + b"X-Forwarded-For: 1.2.3.4\r\n\r\n"
    assert answer(running.connect(request)).endswith(b"0 False 127.0.0.1")


def test_requests_wait_in_turn_by_address() -> None:
    class Waiting:
        def __init__(self, client: str) -> None:
            self.client = client

    queue: Any = FairQueue()
    for client in "aaabac":
        queue.append(Waiting(client))
    assert len(queue) == 6
    assert "".join(queue.popleft().client for _ in range(6)) == "abcaaa"
    assert not queue
