"""Attacks that use each kind of memory. ``size`` of the facts is the number of bytes to take at most."""

from __future__ import annotations

import array
import contextlib
import ctypes
import mmap
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from .limits import MAX_SECONDS, child, libc

MEBIBYTE = 1024 * 1024
PIECE = 8 * MEBIBYTE
MAX_SOCKETS = 160
HOLD_SECONDS = 3.0
"""How long the memory is held, so that a periodic check sees it."""
PR_SET_DUMPABLE = 4
IPC_PRIVATE = 0
SPAN_OF_A_TABLE = 2 * MEBIBYTE
"""The memory that one page of page tables maps."""
MADV_NOHUGEPAGE = 15
SHMAT_FAILED = ctypes.c_void_p(-1).value
EXIT = {"x86_64": 60, "aarch64": 93}

held: list[Any] = []


def heap(facts: dict[str, Any]) -> int:
    held.extend(b"x" * PIECE for _ in range(facts["size"] // PIECE))
    return _hold(facts)


def many_processes(facts: dict[str, Any]) -> int:
    """Take a little memory in each of many processes."""
    children = [child(lambda: _keep(b"x" * PIECE)) for _ in range(facts["size"] // PIECE)]
    _hold(facts)
    return len(_living(children)) * PIECE // MEBIBYTE


def shared(facts: dict[str, Any]) -> int:
    """Anonymous memory that is shared with later children."""
    block = mmap.mmap(-1, facts["size"])
    for at in range(0, facts["size"], mmap.PAGESIZE):
        block[at] = 1
    held.append(block)
    return _hold(facts)


def memory_files(facts: dict[str, Any]) -> int:
    for number in range(facts["size"] // PIECE):
        descriptor = os.memfd_create(str(number))
        os.write(descriptor, b"x" * PIECE)
    return _hold(facts)


def files_in_memory(facts: dict[str, Any]) -> int:
    """In ``/tmp`` and ``/dev/shm``, which are memory."""
    for number in range(facts["size"] // PIECE):
        folder = "/tmp" if number % 2 else "/dev/shm"
        with open(f"{folder}/{number}", "wb", 0) as file:
            file.write(b"x" * PIECE)
    return _hold(facts)


def removed_files(facts: dict[str, Any]) -> int:
    """Open files in memory after they were removed from their folders."""
    for number in range(facts["size"] // PIECE):
        folder = "/tmp" if number % 2 else "/dev/shm"
        descriptor = os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY)
        os.remove(f"{folder}/{number}")
        os.write(descriptor, b"x" * PIECE)
    return _hold(facts)


def segments(facts: dict[str, Any]) -> int:
    """System V segments, which stay when no process has them attached."""
    libc.shmat.restype = ctypes.c_void_p
    libc.shmdt.argtypes = (ctypes.c_void_p,)
    for _ in range(facts["size"] // PIECE):
        start = libc.shmat(libc.shmget(IPC_PRIVATE, PIECE, 0o600), None, 0)
        if start == SHMAT_FAILED:
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(start, 1, PIECE)
        libc.shmdt(start)
    return _hold(facts)


def in_flight(facts: dict[str, Any]) -> int:
    """Memory files sent into a socket and closed: no process has them open."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    held.extend((near, far))
    near.setblocking(False)
    for number in range(facts["size"] // PIECE):
        descriptor = os.memfd_create(str(number))
        os.write(descriptor, b"x" * PIECE)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))
        near.sendmsg([b"x"], [rights])
        os.close(descriptor)
    return _hold(facts)


def unread_messages(facts: dict[str, Any]) -> int:
    """Data in sockets that nobody reads."""

    def fill() -> None:
        size = 0
        with contextlib.suppress(OSError):
            while size < PIECE:
                near, far = socket.socketpair()
                held.extend((near, far))
                near.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        size += near.send(b"x" * 65536)
        signal.pause()

    return _filled(fill, facts)


def unread_packets(facts: dict[str, Any]) -> int:
    """Data in loopback connections to itself that nobody reads."""

    def fill() -> None:
        size = 0
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", 0)) as door:
            while size < PIECE:
                near = socket.create_connection(door.getsockname())
                held.extend((near, door.accept()[0]))
                near.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while size < PIECE:
                        size += near.send(b"x" * 65536)
            signal.pause()

    return _filled(fill, facts)


def wide_messages(facts: dict[str, Any]) -> int:
    """Data in few sockets with enlarged buffers; returns the megabytes in them."""
    size = 0
    while len(held) < MAX_SOCKETS and size < facts["size"]:
        near, far = socket.socketpair()
        held.extend((near, far))
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, facts["size"])
        near.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                size += near.send(b"x" * 65536)
    _hold(facts)
    return size // MEBIBYTE


def page_tables(facts: dict[str, Any]) -> int:
    """The kernel's page tables for memory that was only read."""
    tables = facts["size"] // mmap.PAGESIZE
    size = tables * SPAN_OF_A_TABLE
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    block.madvise(MADV_NOHUGEPAGE)
    held.append(block)
    return _hold(facts) if sum(block[at] for at in range(0, size, SPAN_OF_A_TABLE)) == 0 else 0


def undumpable(facts: dict[str, Any]) -> int:
    """Memory of a process that is not dumpable, so that ``/proc`` hides it."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    return heap(facts)


def without_a_leader(facts: dict[str, Any]) -> int:
    """Memory of a process whose first thread has ended; ``/proc`` shows that thread's values."""

    def leave() -> None:
        threading.Thread(target=lambda: _keep(b"x" * facts["size"])).start()
        libc.syscall(EXIT[os.uname().machine], 0)

    left = child(leave)
    size = _hold(facts)
    return size if _living([left]) else 0


def _keep(block: bytes) -> None:
    held.append(block)
    time.sleep(MAX_SECONDS)


def _filled(fill: Callable[[], None], facts: dict[str, Any]) -> int:
    """Start children that each hold a piece and wait; returns the megabytes in those left."""
    children = [child(fill) for _ in range(facts["size"] // PIECE)]
    _hold(facts)
    return len(_living(children)) * PIECE // MEBIBYTE


def _living(children: list[int]) -> list[int]:
    """Those that are still running."""
    return [number for number in children if os.waitpid(number, os.WNOHANG)[0] == 0]


def _hold(facts: dict[str, Any]) -> int:
    """Hold the memory for ``HOLD_SECONDS``; returns the megabytes."""
    time.sleep(HOLD_SECONDS)
    return int(facts["size"]) // MEBIBYTE
