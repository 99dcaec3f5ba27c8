"""System calls that escape the namespaces, and the user's terminal."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import pty
import resource
import signal
import socket
import struct
import termios
from collections.abc import Iterator, Sequence
from typing import Any

from .limits import child, libc, secrets_in

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
PRETENDED = ("utimensat", "fsync", "fdatasync", "msync", "sync_file_range")
LAST_FAMILY = 46
KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
OWN_FAMILIES = (socket.AF_UNIX,)
SO_ATTACH_FILTER = 26
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
LONGEST_FILTER = 4096
RETURN_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
MAX_TERMINALS = 20
FIRST_TO_GO = 1000
MULTIPATH = (socket.AF_INET, socket.SOCK_STREAM, 262)
LITE = (socket.AF_INET, socket.SOCK_DGRAM, 136)
CONTROL = (socket.AF_INET, socket.SOCK_SEQPACKET, 132)
AUDIT = (socket.AF_NETLINK, socket.SOCK_RAW, 9)
"""Kinds of sockets and protocols that the kernel has in modules, or not at all."""
MAX_TIMERS = 2000
BY_ARGUMENT: tuple[tuple[str, int, tuple[int, ...]], ...] = (
    *(("fcntl", errno.EPERM, (0, command, 0)) for command in (5, 6, 7, 36, 37, 38, 1024, 1026, 1035, 1039)),
    *(("ioctl", errno.EPERM, (0, command, 0)) for command in (0x5412, 0x541C)),
    *(("prctl", errno.EPERM, (command, 0, 0, 0, 0)) for command in (22, 62, 67)),
    *(("madvise", errno.EPERM, (0, 0, advice)) for advice in (12, 21)),
    ("fadvise64", errno.EPERM, (0, 0, 0, 4)),
    ("preadv2", errno.EOPNOTSUPP, (-1, 0, 0, 0, 0, 8)),
    ("pwritev2", errno.EOPNOTSUPP, (-1, 0, 0, 0, 0, 8)),
    ("memfd_create", errno.ENOSYS, (0, 0)),
)
"""Calls that are refused because of an argument, with the error each gets."""


def ask_for_every_call(facts: dict[str, Any]) -> list[str]:
    """The refused calls, made with invalid arguments, that did not get the refusal's error."""
    answered = []
    for name, number in facts["calls"].items():
        if _asks(lambda number=number: _answered(number, errno.EPERM, [-1] * 6)):
            answered.append(name)
    return answered


def ask_with_every_argument(facts: dict[str, Any]) -> list[str]:
    """The calls refused because of an argument that did not get the refusal's error."""
    numbers = facts["watched"]
    return [
        f"{name}{arguments}"
        for name, error, arguments in BY_ARGUMENT
        if _asks(lambda number=numbers[name], error=error, given=arguments: _answered(number, error, given))
    ]


def ask_for_pretended_calls(facts: dict[str, Any]) -> list[str]:
    """The calls that should pretend to succeed and reached the kernel."""
    numbers = facts["watched"]
    return [name for name in PRETENDED if _asks(lambda n=numbers[name]: libc.syscall(n, -1, -1, -1, -1) != 0)]


def ask_for_families(_: dict[str, Any]) -> list[int]:
    """The socket families it could use, except the local ones."""
    opened = set()
    for family in set(range(LAST_FAMILY + 1)) - set(OWN_FAMILIES):
        for kind in KINDS:
            with contextlib.suppress(OSError):
                socket.socket(family, kind).close()
                opened.add(family)
    return sorted(opened)


def filter_a_socket(_: dict[str, Any]) -> bool:
    """Have the kernel compile a socket filter, whose memory no limit counts."""
    program = ctypes.create_string_buffer(RETURN_ALL * LONGEST_FILTER)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, _described(program))
    return True


def filter_its_calls(_: dict[str, Any]) -> bool:
    """The same with a system call filter."""
    program = ctypes.create_string_buffer(RETURN_ALL * LONGEST_FILTER)
    described = _described(program)
    return _asks(lambda: libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, described, 0, 0) == 0)


def open_terminals(_: dict[str, Any]) -> int:
    """The number of terminals it could open; the machine has few."""
    opened: list[int] = []
    with contextlib.suppress(OSError):
        while len(opened) < 2 * MAX_TERMINALS:
            opened += pty.openpty()
    for descriptor in opened:
        os.close(descriptor)
    return len(opened) // 2


def be_spared(_: dict[str, Any]) -> int:
    """By how much it could lower its score for being killed when memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("0")
    with open("/proc/self/oom_score_adj") as file:
        return FIRST_TO_GO - int(file.read())


def set_core_limit(_: dict[str, Any]) -> bool:
    """Set the limit of core dumps to 0; the kernel still pipes them to a handler program."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, _hard = resource.getrlimit(resource.RLIMIT_CORE)
    return soft != 1


def ask_for_protocols(_: dict[str, Any]) -> list[int]:
    """The protocols of the sockets it could open for which the kernel may load modules."""
    opened = []
    for family, kind, protocol in (MULTIPATH, LITE, CONTROL, AUDIT):
        with contextlib.suppress(OSError):
            socket.socket(family, kind, protocol).close()
            opened.append(protocol)
    return opened


def set_timers(_: dict[str, Any]) -> int:
    """The number of timers it could create."""
    library = ctypes.CDLL("librt.so.1", use_errno=True)
    timer = ctypes.c_void_p()
    made = 0
    while made < MAX_TIMERS and library.timer_create(0, None, ctypes.byref(timer)) == 0:
        made += 1
    return made


def change_settings(_: dict[str, Any]) -> list[str]:
    """The kernel settings that it could write, with their values unchanged."""
    changed = []
    for path in ("/proc/sysrq-trigger", *_files("/proc/sys")):
        with contextlib.suppress(OSError), open(path, "r+b", 0) as file:
            file.write(file.read(64))
            changed.append(path)
    return changed


def make_a_namespace(_: dict[str, Any]) -> bool:
    return _asks(lambda: libc.unshare(CLONE_NEWUSER) == 0)


def clone_a_namespace(_: dict[str, Any]) -> bool:
    """With ``clone``."""
    return _asks(lambda: _is_parent(libc.syscall(CLONE, CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)))


def clone_a_namespace_anew(_: dict[str, Any]) -> bool:
    """With ``clone3``, whose arguments are in memory, where a filter cannot read them."""
    words = (ctypes.c_uint64 * (SIZE_OF_CLONE_ARGS // 8))()
    words[0], words[4] = CLONE_NEWUSER, signal.SIGCHLD
    return _asks(lambda: _is_parent(libc.syscall(CLONE3, ctypes.byref(words), SIZE_OF_CLONE_ARGS)))


def mount_over(_: dict[str, Any]) -> bool:
    """Mount a file system over ``/usr`` in new namespaces."""

    def mount() -> bool:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        return bool(libc.mount(b"none", b"/usr", b"tmpfs", 0, None) == 0)

    return _asks(mount)


def call_as_x32(_: dict[str, Any]) -> bool:
    """Whether a call of the x32 table returned at all, even with an error."""
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
    """Enlarge a pipe, which uses up the quota of all of the user's processes."""
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
    """The number of message queues it could create."""
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
    """Call ``question`` in a new process, since the call may kill it."""

    def ask() -> None:
        os._exit(0 if question() else 1)

    return os.waitpid(child(ask), 0)[1] == 0


def _answered(number: int, refusal: int, arguments: Sequence[int]) -> bool:
    """Whether a call succeeded or failed with another error than ``refusal``."""
    ctypes.set_errno(0)
    given = [ctypes.c_long(argument) for argument in arguments]
    return libc.syscall(number, *given) != -1 or ctypes.get_errno() != refusal


def _described(program: Any) -> bytes:
    """``struct sock_fprog``."""
    return struct.pack("@HP", LONGEST_FILTER, ctypes.addressof(program))


def _files(top: str) -> Iterator[str]:
    for folder, _, names in os.walk(top):
        yield from (os.path.join(folder, name) for name in names)


def _is_parent(number: int) -> bool:
    if number == 0:
        os._exit(0)
    return number > 0
