"""Hosts of workers with addresses of their own: network namespaces on a bridge, that can be cut off.

A host is cut off by taking its cable out of the bridge: its own end stays up, nothing is refused, nothing
arrives. That is what a broken switch does, and no process is told of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

INSIDE: Final = "DUARENA_SOAK_INSIDE"
"""Set in a process that has a network of its own."""
BRIDGE: Final = "arena"
SITE_HOST: Final = "10.77.0.1"


def command_inside(arguments: Sequence[str]) -> tuple[str, ...] | None:
    """This program once more in a network of its own; None if that is where we are.

    It is root's to have, and everybody's who may have user namespaces.
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
        """Before a command that is to run on that host."""
        return ("nsenter", f"--net=/proc/{self._holders[host].pid}/ns/net", "--")

    def cut(self, host: int) -> None:
        _ip("link", "set", _cable(host), "nomaster")

    def join(self, host: int) -> None:
        _ip("link", "set", _cable(host), "master", BRIDGE)

    def _add_host(self, host: int) -> subprocess.Popen[bytes]:
        """Its namespace lives as long as the process in it, which says when it is there."""
        holder = subprocess.Popen(
            ("unshare", "--net", "sh", "-c", "echo; exec cat"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._holders.append(holder)
        assert holder.stdout is not None
        holder.stdout.readline()
        cable = _cable(host)
        _ip("link", "add", "name", cable, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        _ip("link", "set", cable, "up")
        self.join(host)
        inside = self.prefix(host)
        _ip("link", "set", "lo", "up", prefix=inside)
        _ip("address", "add", f"10.77.0.{host + 2}/24", "dev", "eth0", prefix=inside)
        _ip("link", "set", "eth0", "up", prefix=inside)
        return holder


def _cable(host: int) -> str:
    return f"host{host + 1}"


def _ip(*words: str, prefix: Sequence[str] = ()) -> None:
    subprocess.run((*prefix, "ip", *words), check=True)
