"""Sends one request to an address that a user gave: to a public host, over TLS, within limits.

The host's name is resolved once. Every address of it must be public, and the socket is connected to one of
these addresses, so a name that resolves to something else a moment later changes nothing. No redirect is
followed, no cookie or proxy is known, and the whole exchange has one limit of time and one of size.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from engines.visible import visible
from tournament.models.webhooks import MAX_ANSWER, MAX_URL

PORTS = (443, 8443)
SECONDS = 10.0
"""From the resolution of the name to the end of the answer."""
MAX_RECEIVED = 64 * 1024
"""Bytes of an answer with its headers; a longer one is a failure."""
TOO_LONG = f"the answer is longer than {MAX_RECEIVED // 1024} KB"
MAX_TRIED = 3
"""Addresses of one host that are tried."""
_IPV4_IN_IPV6 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
"""NAT64 (RFC 6052) and the deprecated IPv4-compatible addresses: the last 32 bits are one of IPv4."""
_NOT_PUBLIC = (
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("192.88.99.0/24"),
    ipaddress.ip_network("168.63.129.16/32"),
    ipaddress.ip_network("2001::/23"),
    ipaddress.ip_network("3fff::/20"),
)
"""What ``ipaddress`` of some versions calls global: IETF protocol assignments, where Oracle Cloud has its
metadata; relays of 6to4; the host of Azure's virtual machines; documentation (RFC 9637).
"""
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
MAX_RESOLVING = 64
"""Names that are resolved at a time, also by resolvers that nobody waits for any longer."""
_resolvers = threading.BoundedSemaphore(MAX_RESOLVING)
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\.?|[0-9a-f:.]*:[0-9a-f:.]*")


class TargetError(Exception):
    """Why nothing is sent to an address, or no more read of it: one clause without capital and full stop.

    No ``ValueError``, which ``http.client`` takes for a malformed answer.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL."""

    host: str
    port: int
    path: str
    """With the query."""

    @property
    def authority(self) -> str:
        """The value of the header ``Host``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[0] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ReceiverAnswer:
    """What came of a request."""

    status: int | None
    """None: there was no whole answer."""
    text: str
    """The beginning of the answer, or why there is none: printable, at most ``MAX_ANSWER`` characters."""
    took_s: float
    retry_after_s: int = 0

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        return self.status == HTTPStatus.GONE


def is_public(address: str) -> bool:
    """Whether an IP address is one of a host on the internet, also if it contains another one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and any(ip in network for network in _IPV4_IN_IPV6):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _GLOBAL_UNICAST:
            return False
    return (
        ip.is_global
        and not (ip.is_multicast or ip.is_reserved)
        and not any(ip in network for network in _NOT_PUBLIC)
    )


@dataclass(frozen=True, slots=True)
class Network:
    """How receivers are reached. The sender has ``INTERNET``; tests, whose receivers listen on loopback, make
    their own, and no setting does.
    """

    is_allowed: Callable[[str], bool] = is_public
    resolve: Callable[..., Sequence[Any]] = socket.getaddrinfo
    context: ssl.SSLContext | None = field(default_factory=ssl.create_default_context)
    """None: without TLS."""
    seconds: float = SECONDS
    ports: Sequence[int] = PORTS


INTERNET = Network()


def parse_target(url: str, ports: Sequence[int] = PORTS) -> Target:
    """Parse the URL of a webhook; its host is not resolved yet. Raises ``TargetError``."""
    if len(url) > MAX_URL:
        raise TargetError(f"the address is longer than {MAX_URL} characters")
    if not re.fullmatch(r"[!-~]+", url):
        raise TargetError("the address has a space or a character that is not ASCII")
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[0]
    except ValueError:
        raise TargetError("the address is malformed") from None
    if parts.scheme != "https":
        raise TargetError("the address must begin with https://")
    if "@" in parts.netloc or "#" in url or "\\" in url:
        raise TargetError("the address must have no user, no fragment and no backslash")
    host = parts.hostname or ""
    if not _HOST.fullmatch(host) or ".." in host:
        raise TargetError(f"the address has no valid host: {host!r:.80}")
    if port not in ports:
        raise TargetError(f"the port must be {' or '.join(map(str, ports))}, and is {port}")
    return Target(host, port, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")


def post(url: str, headers: Mapping[str, str], body: bytes, network: Network = INTERNET) -> ReceiverAnswer:
    """Send one POST request and read its whole answer; whatever goes wrong is an answer without a status."""
    begun = time.monotonic()
    deadline = begun + network.seconds
    try:
        target = parse_target(url, network.ports)
        with _connect(target, network, deadline) as connection:
            connection.settimeout(_left(deadline))
            connection.sendall(_request(target, headers, body))
            status, text, pause_s = _read(connection, deadline)
        return ReceiverAnswer(status, text, time.monotonic() - begun, pause_s)
    except TargetError as error:
        why = str(error)
    except TimeoutError:
        why = f"no whole answer within {network.seconds:g} s"
    except ssl.SSLCertVerificationError as error:
        why = f"its certificate is refused: {error.verify_message}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    return ReceiverAnswer(None, visible(why, MAX_ANSWER), time.monotonic() - begun)


def _left(deadline: float) -> float:
    """The seconds until the deadline; raises ``TimeoutError`` after it."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect(target: Target, network: Network, deadline: float) -> socket.socket:
    """A connection to one of the host's addresses, all of which are allowed."""
    found = _resolve(target, network, deadline)
    for *_, (address, *_more) in found:
        if not network.is_allowed(address):
            raise TargetError(f"its name resolves to {address}, which is no public address")
    trouble: OSError = OSError("its name has no address")
    for family, kind, protocol, _name, address in found[:MAX_TRIED]:
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(_left(deadline))
            connection.connect(address)
            if network.context is None:
                return connection
            connection.settimeout(_left(deadline))
            return network.context.wrap_socket(connection, server_hostname=target.host.rstrip("."))
        except BaseException as error:
            connection.close()
            if not isinstance(error, OSError) or isinstance(error, TimeoutError):
                raise
            trouble = error
    raise trouble


def _resolve(target: Target, network: Network, deadline: float) -> Sequence[Any]:
    """What the resolver finds; one that has not ended at the deadline is left to a thread of its own."""
    found: Future[Sequence[Any]] = Future()
    resolvers = _resolvers

    def ask() -> None:
        try:
            found.set_result(network.resolve(target.host, target.port, type=socket.SOCK_STREAM))
        except Exception as error:
            found.set_exception(error)
        finally:
            resolvers.release()

    late = TargetError(f"its name did not resolve within {network.seconds:g} s")
    if not resolvers.acquire(timeout=_left(deadline)):
        raise late
    threading.Thread(target=ask, name="resolver", daemon=True).start()
    try:
        return found.result(_left(deadline))
    except TimeoutError:
        raise late from None
    except OSError as error:
        raise TargetError(f"its name does not resolve: {error.strerror or error}") from None
    except UnicodeError as error:
        raise TargetError(f"its name does not resolve: {error}") from None


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    sent = {"Host": target.authority, "Connection": "close", "Content-Length": str(len(body)), **headers}
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def _read(connection: socket.socket, deadline: float) -> tuple[int, str, int]:
    """The status of the answer, the beginning of its text, and the seconds that it asks to wait."""
    response = http.client.HTTPResponse(cast(socket.socket, _Received(connection, deadline)), method="POST")
    response.begin()
    if (response.length or 0) > MAX_RECEIVED:
        raise TargetError(TOO_LONG)
    content = response.read(MAX_RECEIVED)  # without a number it makes room for what the answer announces
    if response.length:
        raise http.client.IncompleteRead(content, response.length)
    text = content.decode(errors="replace")
    pause = response.getheader("Retry-After", "")
    return response.status, visible(text.strip(), MAX_ANSWER), int(pause[:6]) if pause.isdecimal() else 0


class _Received(io.RawIOBase):
    """What comes from a connection, until the deadline and up to ``MAX_RECEIVED`` bytes."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        super().__init__()
        self._connection = connection
        self._deadline = deadline
        self._count = 0

    def makefile(self, *_: object) -> io.BufferedReader:
        """As of a socket, for ``HTTPResponse``."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._deadline))
        count = self._connection.recv_into(buffer)
        self._count += count
        if self._count > MAX_RECEIVED:
            raise TargetError(TOO_LONG)
        return count
