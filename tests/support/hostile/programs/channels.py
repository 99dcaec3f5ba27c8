"""Hidden messages from one engine to the other: ``number``, of 15 bits, is passed without the referee.

``send_…`` runs in one engine, then ``receive_…`` in the other; ``wait_…`` runs first, in the receiver.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from typing import Any

from .limits import libc

KEY = 0x6475
IPC_CREAT = 0o1000
ADD_KEY = {"x86_64": 248, "aarch64": 217}
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_READ = 11
KEYCTL_SEARCH = 10
SESSION_KEYRING = -3
USER_KEYRING = -4
NAME = "duarena-hostile"

kept: list[Any] = []


def send_in_a_segment(facts: dict[str, Any]) -> None:
    ctypes.memmove(_segment(IPC_CREAT | 0o666), struct.pack("i", facts["number"]), 4)


def receive_in_a_segment(_: dict[str, Any]) -> int:
    return int(struct.unpack("i", ctypes.string_at(_segment(0o666), 4))[0])


def send_in_a_queue(facts: dict[str, Any]) -> None:
    queue = libc.msgget(KEY, IPC_CREAT | 0o666)
    libc.msgsnd(queue, struct.pack("ll", 1, facts["number"]), 8, 0)


def receive_in_a_queue(_: dict[str, Any]) -> int | None:
    block = ctypes.create_string_buffer(16)
    got = libc.msgrcv(libc.msgget(KEY, 0o666), block, 8, ctypes.c_long(0), 0o4000)
    return None if got != 8 else int(struct.unpack("ll", block.raw)[1])


def send_in_semaphores(facts: dict[str, Any]) -> None:
    libc.semctl(libc.semget(KEY, 1, IPC_CREAT | 0o666), 0, 16, ctypes.c_int(facts["number"] & 0x7FFF))


def receive_in_semaphores(_: dict[str, Any]) -> int | None:
    value = libc.semctl(libc.semget(KEY, 1, 0o666), 0, 12, 0)
    return None if value < 0 else int(value)


def wait_at_a_socket(_: dict[str, Any]) -> None:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(f"\0{NAME}")
    receiver.setblocking(False)
    kept.append(receiver)


def send_at_a_socket(facts: dict[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(str(facts["number"]).encode(), f"\0{NAME}")


def receive_at_a_socket(_: dict[str, Any]) -> int:
    return int(kept[0].recv(64))


def send_in_a_keyring(facts: dict[str, Any]) -> list[int]:
    """The kernel's keyrings belong to users and sessions; mount namespaces do not separate them."""
    word = str(facts["number"]).encode()
    return [_call(ADD_KEY, b"user", NAME.encode(), word, len(word), ring) for ring in (-3, -4)]


def receive_in_a_keyring(_: dict[str, Any]) -> int | None:
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
