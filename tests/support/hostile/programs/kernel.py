"""System calls that lead past the namespaces, and the user's terminal."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import signal
import termios
from typing import Any

from .fuse import child, libc, secrets_in

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE = 56
CLONE3 = 435
GETPID_X32 = 0x40000000 | 39
SIZE_OF_CLONE_ARGS = 88
F_SETPIPE_SZ = 1031
F_GETPIPE_SZ = 1032
GETPID_I386 = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
"""``mov eax, 20; int 0x80; ret``."""
TYPED = b"typed"


def ask_for_every_call(facts: dict[str, Any]) -> list[str]:
    """The refused calls that the kernel answered otherwise, though asked for nonsense."""
    answered = []
    for name, number in facts["calls"].items():
        if _asks(lambda number=number: _answered(number)):
            answered.append(name)
    return answered


def make_a_namespace(_: dict[str, Any]) -> bool:
    return _asks(lambda: libc.unshare(CLONE_NEWUSER) == 0)


def clone_a_namespace(_: dict[str, Any]) -> bool:
    """By the call that starts processes."""
    return _asks(lambda: _is_parent(libc.syscall(CLONE, CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)))


def clone_a_namespace_anew(_: dict[str, Any]) -> bool:
    """By its younger sister, whose arguments lie in memory where no filter looks."""
    words = (ctypes.c_uint64 * (SIZE_OF_CLONE_ARGS // 8))()
    words[0], words[4] = CLONE_NEWUSER, signal.SIGCHLD
    return _asks(lambda: _is_parent(libc.syscall(CLONE3, ctypes.byref(words), SIZE_OF_CLONE_ARGS)))


def mount_over(_: dict[str, Any]) -> bool:
    """Put files of its own in the place of the system's, in namespaces of its own."""

    def mount() -> bool:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        return bool(libc.mount(b"none", b"/usr", b"tmpfs", 0, None) == 0)

    return _asks(mount)


def call_as_x32(_: dict[str, Any]) -> bool:
    """Whether a call by another table was answered, and be it with a refusal."""
    return _asks(lambda: libc.syscall(GETPID_X32) != 0)


def call_as_i386(_: dict[str, Any]) -> bool:
    def call() -> bool:
        with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
            page.write(GETPID_I386)
            start = ctypes.addressof(ctypes.c_char.from_buffer(page))
            found = ctypes.CFUNCTYPE(ctypes.c_int)(start)()
        return bool(found == os.getpid())

    return _asks(call)


def widen_pipes(_: dict[str, Any]) -> int:
    """Take the pipes' share of all of the user's processes for itself."""
    fcntl.fcntl(1, F_SETPIPE_SZ, 1024 * 1024)
    return int(fcntl.fcntl(1, F_GETPIPE_SZ))


def read_the_first_environment(_: dict[str, Any]) -> list[str]:
    with open("/proc/1/environ", "rb") as file:
        return secrets_in(file.read())


def read_its_environment(_: dict[str, Any]) -> list[str]:
    return secrets_in(repr(dict(os.environ)).encode())


def use_the_terminal(_: dict[str, Any]) -> list[str]:
    """Write on the user's terminal, and type into it."""
    done = []
    for name in ("/dev/tty", "/dev/console"):
        with contextlib.suppress(OSError):
            descriptor = os.open(name, os.O_RDWR)
            os.write(descriptor, TYPED)
            done.append(f"{name} written")
            for letter in TYPED:
                fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([letter]))
            done.append(f"{name} typed")
    return done


def use_message_queues(_: dict[str, Any]) -> int:
    """How many queues the kernel keeps for it."""
    library = ctypes.CDLL("librt.so.1", use_errno=True)
    names = [b"/hostile-%d" % number for number in range(4)]
    opened = [name for name in names if library.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0]
    for name in opened:
        library.mq_unlink(name)
    return len(opened)


def lock_memory(_: dict[str, Any]) -> bool:
    size = 1024 * 1024
    block = ctypes.create_string_buffer(size)
    return bool(libc.mlock(block, size) == 0)


def _asks(question: Any) -> bool:
    """Ask in a process of its own, which may be killed for it."""

    def ask() -> None:
        os._exit(0 if question() else 1)

    return os.waitpid(child(ask), 0)[1] == 0


def _answered(number: int) -> bool:
    ctypes.set_errno(0)
    return libc.syscall(number, -1, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != errno.EPERM


def _is_parent(number: int) -> bool:
    if number == 0:
        os._exit(0)
    return number > 0
