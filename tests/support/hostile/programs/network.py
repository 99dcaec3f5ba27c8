"""Attacks over the network; they connect only to listeners of the trial."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

CONNECT_SECONDS = 1.0
DOOR_SECONDS = 1.0


def call_tcp(facts: dict[str, Any]) -> None:
    socket.create_connection(("127.0.0.1", facts["tcp"]), CONNECT_SECONDS).close()


def call_udp(facts: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", ("127.0.0.1", facts["udp"]))


def call_abstract(facts: dict[str, Any]) -> None:
    _call_unix("\0" + facts["abstract"])


def call_path(facts: dict[str, Any]) -> None:
    """Connect to a socket in the file system, as if it were a broker's or a database's."""
    _call_unix(facts["socket"])


def open_a_door(facts: dict[str, Any]) -> None:
    """Accept a connection from outside."""
    with socket.create_server(("", facts["door"])) as listener:
        listener.settimeout(DOOR_SECONDS)
        with contextlib.suppress(TimeoutError):
            listener.accept()[0].close()


def _call_unix(address: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(CONNECT_SECONDS)
        caller.connect(address)
