"""Hosts for workers: network namespaces on a bridge, with addresses of their own, that can be disconnected.

Disconnecting removes a host's link from the bridge. Its own end stays up, so connections are not refused and
nothing arrives, as with a broken switch; no process gets an error.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

INSIDE: Final = "DUARENA_SOAK_INSIDE"
"""Set in a process with a network namespace of its own."""
BRIDGE: Final = "arena"
SITE_HOST: Final = "10.77.0.1"


def command_inside(arguments: Sequence[str]) -> tuple[str, ...] | None:
    """The command of this program in a network namespace of its own; None if it runs in one.

    Needs root or user namespaces.
    """
    if INSIDE in os.environ:
        return None
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return (
        "unshare",
        *user,
        "--net",
        "env",
        f"{INSIDE}=1",
        sys.executable,
        "-m",
        "benchmarks.soak",
        *arguments,
    )


class Network:
    """A bridge in this process's network, with the site's address, and a namespace for each host."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self._holders: list[subprocess.Popen[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Network:
        with ExitStack() as stack:
            _ip("link", "set", "lo", "up")
            _ip("link", "add", "name", BRIDGE, "type", "bridge")
            _ip("address", "add", f"{SITE_HOST}/24", "dev", BRIDGE)
            _ip("link", "set", BRIDGE, "up")
            for number in range(self._hosts):
                stack.callback(self._add_host(number).kill)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for holder in self._holders:
            holder.wait()
        _ip("link", "delete", BRIDGE)

    def prefix(self, host: int) -> tuple[str, ...]:
        """The words before a command that run it on the host."""
        return ("nsenter", f"--net=/proc/{self._holders[host].pid}/ns/net", "--")

    def cut(self, host: int) -> None:
        _ip("link", "set", _link_name(host), "nomaster")

    def join(self, host: int) -> None:
        _ip("link", "set", _link_name(host), "master", BRIDGE)

    def _add_host(self, host: int) -> subprocess.Popen[bytes]:
        """Start the process that keeps the host's namespace; it writes a line when the namespace exists."""
        holder = subprocess.Popen(
            ("unshare", "--net", "sh", "-c", "echo; exec cat"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._holders.append(holder)
        assert holder.stdout is not None
        holder.stdout.readline()
        link = _link_name(host)
        _ip("link", "add", "name", link, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        _ip("link", "set", link, "up")
        self.join(host)
        inside = self.prefix(host)
        _ip("link", "set", "lo", "up", prefix=inside)
        _ip("address", "add", f"10.77.0.{host + 2}/24", "dev", "eth0", prefix=inside)
        _ip("link", "set", "eth0", "up", prefix=inside)
        return holder


def _link_name(host: int) -> str:
    return f"host{host + 1}"


def _ip(*words: str, prefix: Sequence[str] = ()) -> None:
    subprocess.run((*prefix, "ip", *words), check=True)
