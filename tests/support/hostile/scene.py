"""Secrets, listeners and a terminal that a trial sets up, and what it sees of the engines as they play."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import pty
import random
import select
import signal
import socket
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.sandbox import tree
from workers.sandbox.filter.syscalls import MACHINES

PR_SET_CHILD_SUBREAPER = 36
LOOK_SECONDS = 0.05


@dataclass
class Scene:
    """``facts`` are the arguments of the hostile programs; the secret is not among them."""

    folder: Path
    facts: dict[str, Any]
    terminal: int
    listeners: dict[str, socket.socket]
    most_processes: int = 0
    entered: set[str] = field(default_factory=set)

    def contacts(self) -> tuple[str, ...]:
        """The names of the listeners that were reached, and ``door`` if an engine accepted a connection."""
        reached = select.select(self.listeners.values(), [], [], 0)[0]
        names = {name for name, listener in self.listeners.items() if listener in reached}
        return tuple(sorted(names | self.entered))

    def terminal_text(self) -> str:
        """The text written on the terminal, including the echo of typed text."""
        if not select.select([self.terminal], [], [], 0)[0]:
            return ""
        return os.read(self.terminal, 4096).decode("utf-8", "replace")


@contextlib.contextmanager
def scene_in(folder: Path, secret: str) -> Iterator[Scene]:
    """Set up secrets, listeners, a terminal and an observing thread; ``folder`` must be empty."""
    _adopt_orphans()
    for name in ("one", "two", "shared"):
        (folder / name).mkdir()
    path = folder / "secret.txt"
    path.write_text(secret)
    with contextlib.ExitStack() as stack:
        left_open = stack.enter_context(open(path, "rb"))
        os.set_inheritable(left_open.fileno(), True)
        listeners = _listeners(folder, stack)
        facts = {
            "secret": str(path),
            "opponent": str(folder / "two"),
            "tcp": listeners["tcp"].getsockname()[1],
            "udp": listeners["udp"].getsockname()[1],
            "abstract": listeners["abstract"].getsockname()[1:].decode(),
            "socket": str(folder / "socket"),
            "door": _free_port(),
            "calls": MACHINES[os.uname().machine].refused,
            "watched": MACHINES[os.uname().machine].watched,
            "number": random.SystemRandom().randrange(1, 2**15),
            "size": 160 * 1024 * 1024,
        }
        scene = Scene(folder, facts, stack.enter_context(_terminal()), listeners)
        with _observer(scene):
            yield scene


def survivors(seconds: float) -> int:
    """The number of descendants left after at most that time; close the reaper before."""
    end = time.monotonic() + seconds
    while (left := _living_below()) and time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
    return left


def digest(folder: Path) -> str:
    """A hash of all names, modes, modification times and contents in a folder."""
    found = hashlib.sha256()
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        found.update(repr((str(path), status.st_mode, status.st_mtime_ns)).encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def _adopt_orphans() -> None:
    """Become the parent of all orphaned descendants."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _living_below() -> int:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return len(tree.descendants(os.getpid()))


def _listeners(folder: Path, stack: contextlib.ExitStack) -> dict[str, socket.socket]:
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    listeners = {"tcp": stack.enter_context(socket.create_server(("127.0.0.1", 0))), "udp": udp}
    abstract = f"\0{folder.name}-{os.getpid()}"
    for name, address in (("abstract", abstract), ("path", str(folder / "socket"))):
        listeners[name] = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listeners[name].bind(address)
        listeners[name].listen()
    return listeners


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def _terminal() -> Iterator[int]:
    """Make a new terminal the controlling terminal, as if a user had started the worker in it."""
    master, slave = pty.openpty()
    with contextlib.suppress(PermissionError):
        os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    try:
        yield master
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # sent when the terminal closes
        os.close(slave)
        os.close(master)


@contextlib.contextmanager
def _observer(scene: Scene) -> Iterator[None]:
    done = threading.Event()

    def look() -> None:
        while not done.wait(LOOK_SECONDS):
            scene.most_processes = max(scene.most_processes, len(tree.descendants(os.getpid())))
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", scene.facts["door"]), 0.2).close()
                scene.entered.add("door")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
