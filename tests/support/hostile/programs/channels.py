"""Words from one engine to the other: ``number``, of 16 bits, is to be handed over behind the referee's back.

``say_…`` runs in one engine, then ``hear_…`` in the other; ``wait_…`` before both in the one that hears.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import socket
import struct
from collections.abc import Iterator
from typing import Any

from .fuse import libc

BITS = 16
KEY = 0x6475
IPC_CREAT = 0o1000
IN_OPEN = 0x20
ADD_KEY = {"x86_64": 248, "aarch64": 217}
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_READ = 11
KEYCTL_SEARCH = 10
SESSION_KEYRING = -3
USER_KEYRING = -4
NAME = "duarena-hostile"

kept: list[Any] = []


def say_in_files(facts: dict[str, Any]) -> None:
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):
        with contextlib.suppress(OSError), open(f"{folder}/{NAME}", "w") as file:
            file.write(str(facts["number"]))


def hear_in_files(_: dict[str, Any]) -> int | None:
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):
        with contextlib.suppress(OSError), open(f"{folder}/{NAME}") as file:
            return int(file.read())
    return None


def say_in_a_segment(facts: dict[str, Any]) -> None:
    ctypes.memmove(_segment(IPC_CREAT | 0o666), struct.pack("i", facts["number"]), 4)


def hear_in_a_segment(_: dict[str, Any]) -> int:
    return int(struct.unpack("i", ctypes.string_at(_segment(0o666), 4))[0])


def say_in_a_queue(facts: dict[str, Any]) -> None:
    queue = libc.msgget(KEY, IPC_CREAT | 0o666)
    libc.msgsnd(queue, struct.pack("ll", 1, facts["number"]), 8, 0)


def hear_in_a_queue(_: dict[str, Any]) -> int | None:
    block = ctypes.create_string_buffer(16)
    got = libc.msgrcv(libc.msgget(KEY, 0o666), block, 8, ctypes.c_long(0), 0o4000)
    return None if got != 8 else int(struct.unpack("ll", block.raw)[1])


def say_in_semaphores(facts: dict[str, Any]) -> None:
    libc.semctl(libc.semget(KEY, 1, IPC_CREAT | 0o666), 0, 16, ctypes.c_int(facts["number"] & 0x7FFF))


def hear_in_semaphores(_: dict[str, Any]) -> int | None:
    value = libc.semctl(libc.semget(KEY, 1, 0o666), 0, 12, 0)
    return None if value < 0 else int(value)


def wait_at_a_socket(_: dict[str, Any]) -> None:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(f"\0{NAME}")
    receiver.setblocking(False)
    kept.append(receiver)


def say_at_a_socket(facts: dict[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(str(facts["number"]).encode(), f"\0{NAME}")


def hear_at_a_socket(_: dict[str, Any]) -> int:
    return int(kept[0].recv(64))


def say_by_whole_locks(facts: dict[str, Any]) -> None:
    for descriptor, bit in zip(_shared_files(), _bits(facts["number"]), strict=False):
        if bit:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def hear_by_whole_locks(_: dict[str, Any]) -> int:
    return _number(_refuses(descriptor) for descriptor in _shared_files())


def say_by_record_locks(facts: dict[str, Any]) -> None:
    for descriptor, bit in zip(_shared_files(), _bits(facts["number"]), strict=False):
        if bit:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def hear_by_record_locks(_: dict[str, Any]) -> int:
    return _number(_is_read_locked(descriptor) for descriptor in _shared_files())


def wait_for_openings(_: dict[str, Any]) -> None:
    """Watch files that the other is going to open."""
    watcher = libc.inotify_init()
    kept.append(watcher)
    kept.append([libc.inotify_add_watch(watcher, path.encode(), IN_OPEN) for path in _shared_paths()])


def say_by_openings(facts: dict[str, Any]) -> None:
    for path, bit in zip(_shared_paths(), _bits(facts["number"]), strict=False):
        if bit:
            open(path, "rb").close()


def hear_by_openings(_: dict[str, Any]) -> int:
    watcher, watches = kept
    told = os.read(watcher, 65536) if select.select([watcher], [], [], 0)[0] else b""
    opened = {struct.unpack_from("i", told, at)[0] for at in range(0, len(told), 16)}
    return _number(watch in opened for watch in watches)


def say_in_a_keyring(facts: dict[str, Any]) -> list[int]:
    """The kernel's keys, which know users and sessions but no namespace of files."""
    word = str(facts["number"]).encode()
    return [_call(ADD_KEY, b"user", NAME.encode(), word, len(word), ring) for ring in (-3, -4)]


def hear_in_a_keyring(_: dict[str, Any]) -> int | None:
    block = ctypes.create_string_buffer(64)
    for ring in (SESSION_KEYRING, USER_KEYRING):
        key = _call(KEYCTL, KEYCTL_SEARCH, ring, b"user", NAME.encode(), 0)
        if key > 0 and (size := _call(KEYCTL, KEYCTL_READ, key, block, 64)) > 0:
            return int(block.raw[:size])
    return None


def _segment(flags: int) -> int:
    libc.shmat.restype = ctypes.c_void_p
    number = libc.shmget(KEY, 4096, flags)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return int(libc.shmat(number, None, 0))


def _call(numbers: dict[str, int], *arguments: Any) -> int:
    return int(libc.syscall(numbers[os.uname().machine], *arguments))


def _shared_paths() -> list[str]:
    """Files that both see."""
    paths = (os.path.join("/usr/bin", name) for name in sorted(os.listdir("/usr/bin")))
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)][:BITS]


def _shared_files() -> list[int]:
    descriptors = [os.open(path, os.O_RDONLY) for path in _shared_paths()]
    kept.append(descriptors)
    return descriptors


def _bits(number: int) -> Iterator[bool]:
    return (bool(number >> at & 1) for at in range(BITS))


def _number(bits: Iterator[bool]) -> int:
    return sum(bit << at for at, bit in enumerate(bits))


def _refuses(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _is_read_locked(descriptor: int) -> bool:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    return bool(struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[0] == fcntl.F_RDLCK)
