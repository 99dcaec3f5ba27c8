"""The system call filter of every engine, as the BPF program that the kernel runs at each call.

A refused call fails with EPERM, so a program that only tries it can continue. Two calls fail with ENOSYS,
because programs then use another call: ``clone3``, whose flags are in memory that a filter cannot read, and
``memfd_create``, whose files no limit counts after they were sent into a socket.

Some calls do nothing and return success:

- Setting a file's times: every process may set and read those of devices such as ``/dev/null``.
- Flushing a file to the disk: an engine's own files are in memory, and for any other file that it can read
  the disk would write the data of all programs.
- Changing a socket's buffer size: the kernel itself only takes the size as a hint.

A program for another processor architecture is killed.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator

from workers.sandbox.filter.bpf import (
    JUMP_ANY_BIT,
    JUMP_AT_LEAST,
    JUMP_EQUAL,
    Branch,
    Label,
    Line,
    Step,
    assemble,
    load,
    return_value,
)
from workers.sandbox.filter.syscalls import MACHINES, Machine

# struct seccomp_data of <linux/seccomp.h>
NUMBER_AT = 0
ARCHITECTURE_AT = 4
ARGUMENTS_AT = 16
"""Eight bytes each, the lower word first: both processors are little-endian."""

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
FAIL = 0x00050000
"""Plus the error number."""
PRETEND = FAIL
"""The action that does not execute the call and returns 0: error number 0."""

NAMESPACE_FLAGS = 0x7E020000
"""``CLONE_NEWNS``, ``NEWCGROUP``, ``NEWUTS``, ``NEWIPC``, ``NEWUSER``, ``NEWPID`` and ``NEWNET``."""

FILE_COMMANDS = {
    "F_GETLK": 5,
    "F_SETLK": 6,
    "F_SETLKW": 7,
    "F_OFD_GETLK": 36,
    "F_OFD_SETLK": 37,
    "F_OFD_SETLKW": 38,
    "F_SETLEASE": 1024,
    "F_GETLEASE": 1025,
    "F_NOTIFY": 1026,
    "F_SETPIPE_SZ": 1031,
    "F_GET_RW_HINT": 1035,
    "F_SET_RW_HINT": 1036,
    "F_GET_FILE_RW_HINT": 1037,
    "F_SET_FILE_RW_HINT": 1038,
    "F_GETDELEG": 1039,
    "F_SETDELEG": 1040,
}
"""Commands of ``fcntl``. Locks, leases, watches and hints can carry messages between bots; large pipes
use up a limit that all processes share."""

TERMINAL_COMMANDS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
"""Commands of ``ioctl`` that put input into a terminal."""

PROCESS_COMMANDS = {"PR_SET_SECCOMP": 22, "PR_SCHED_CORE": 62, "PR_SET_MEMORY_MERGE": 67}
"""Commands of ``prctl``. For filters see ``SOCKET_FILTERS``, for memory merging see ``ADVICE``; core
scheduling makes other programs on the same core wait."""

ADVICE = {"MADV_MERGEABLE": 12, "MADV_PAGEOUT": 21}
"""Advice to ``madvise``. Merged pages show whether another engine has an equal page; for the other see
``DROP``."""

CORE_LIMIT = 4
"""``RLIMIT_CORE``, which the worker sets: see ``SandboxedProcess.started``."""

SOCKET_LEVEL = 1
"""``SOL_SOCKET``: the options of all sockets."""
SOCKET_WIDTHS = {"SO_SNDBUF": 7, "SO_RCVBUF": 8}
"""Socket buffers are memory that only a control group counts."""
SOCKET_FILTERS = {
    "ATTACH_FILTER": 26,
    "ATTACH_BPF": 50,
    "ATTACH_REUSEPORT_CBPF": 51,
    "ATTACH_REUSEPORT_EBPF": 52,
}
"""The kernel compiles these filters into memory that no limit counts and all processes share."""

HUGE_PAGES = 0x40000
"""``MAP_HUGETLB`` of ``mmap``: memory that the operator has reserved, and that no limit counts."""

NO_WAIT = 0x8
"""``RWF_NOWAIT`` of ``preadv2``: shows whether part of a file is in memory, and so who read it."""

DROP = 4
"""``POSIX_FADV_DONTNEED`` of ``fadvise64``: removes from memory what other programs have read."""

DEFAULT_PROTOCOL = 0
"""The only protocol allowed: the kernel would load modules for others."""

SOCKET_FAMILIES = {"AF_UNIX": 1}
"""The families that an engine may use in its network namespace. Others, such as vsock, have no namespaces.
Internet sockets reach nothing, but their unread data is memory that control groups of version 1 do not
count. ``AF_NETLINK`` is the kernel's interface for administrators. Programs use it only to list the
addresses of the machine: ``getaddrinfo``, Python, Java and Go continue without it, and in Node
``os.networkInterfaces()`` throws, for every error number, when a program calls it."""


def filter_program(machine: str) -> bytes:
    """The filter for a processor, by its name in ``os.uname()``; raises ``KeyError`` for an unknown one."""
    return assemble(list(_lines(MACHINES[machine])))


def _lines(machine: Machine) -> Iterator[Line]:
    yield load(ARCHITECTURE_AT)
    yield Branch(JUMP_EQUAL, machine.audit, then="native processor")
    yield return_value(KILL_PROCESS)
    yield Label("native processor")
    yield load(NUMBER_AT)
    if machine.first_foreign is not None:
        yield Branch(JUMP_AT_LEAST, machine.first_foreign, otherwise="native")
        yield return_value(KILL_PROCESS)
        yield Label("native")
    for number in sorted(machine.refused.values()):
        yield from _when(number, [_fail(errno.EPERM)])
    for name, number in machine.watched.items():
        yield from _when(number, _rule(name))
    yield return_value(ALLOW)


def _rule(name: str) -> Iterable[Line]:
    """The instructions that decide a watched call, from its arguments where they matter."""
    match name:
        case "clone":
            return _fails_with_a_bit(0, NAMESPACE_FLAGS, errno.EPERM)
        case "clone3" | "memfd_create":
            return [_fail(errno.ENOSYS)]
        case "fcntl":
            return _fails_if_one_of(1, FILE_COMMANDS.values(), errno.EPERM)
        case "ioctl":
            return _fails_if_one_of(1, TERMINAL_COMMANDS.values(), errno.EPERM)
        case "prctl":
            return _fails_if_one_of(0, PROCESS_COMMANDS.values(), errno.EPERM)
        case "mmap":
            return _fails_with_a_bit(3, HUGE_PAGES, errno.ENOMEM)
        case "madvise":
            return _fails_if_one_of(2, ADVICE.values(), errno.EPERM)
        case "socket" | "socketpair":
            return _socket_rule()
        case "setsockopt":
            return _setsockopt_rule()
        case "setrlimit":
            return _fails_if_one_of(0, [CORE_LIMIT], errno.EPERM)
        case "prlimit64":
            return _prlimit_rule()
        case "preadv2" | "pwritev2":
            return _fails_with_a_bit(5, NO_WAIT, errno.EOPNOTSUPP)
        case "fadvise64":
            return _fails_if_one_of(3, [DROP], errno.EPERM)
        case "utime" | "utimes" | "futimesat" | "utimensat":
            return [return_value(PRETEND)]
        case "fsync" | "fdatasync" | "msync" | "sync_file_range":
            return [return_value(PRETEND)]
    raise KeyError(name)


def _socket_rule() -> Iterator[Line]:
    yield from _continues_if_one_of(0, SOCKET_FAMILIES.values(), "family", errno.EAFNOSUPPORT)
    yield from _continues_if_one_of(2, [DEFAULT_PROTOCOL], "protocol", errno.EPROTONOSUPPORT)
    yield return_value(ALLOW)


def _setsockopt_rule() -> Iterator[Line]:
    yield _argument(1)
    yield Branch(JUMP_EQUAL, SOCKET_LEVEL, otherwise="allowed")
    yield _argument(2)
    for option in SOCKET_WIDTHS.values():
        yield Branch(JUMP_EQUAL, option, then="pretended")
    for option in SOCKET_FILTERS.values():
        yield Branch(JUMP_EQUAL, option, then="refused")
    yield Label("allowed")
    yield return_value(ALLOW)
    yield Label("pretended")
    yield return_value(PRETEND)
    yield Label("refused")
    yield _fail(errno.EPERM)


def _prlimit_rule() -> Iterator[Line]:
    """The core limit may be read, not set: the address of the new limit, in both words, must be 0."""
    yield _argument(1)
    yield Branch(JUMP_EQUAL, CORE_LIMIT, otherwise="allowed")
    yield _argument(2)
    yield Branch(JUMP_EQUAL, 0, otherwise="refused")
    yield _argument(2, upper=True)
    yield Branch(JUMP_EQUAL, 0, otherwise="refused")
    yield Label("allowed")
    yield return_value(ALLOW)
    yield Label("refused")
    yield _fail(errno.EPERM)


def _when(number: int, lines: Iterable[Line]) -> Iterator[Line]:
    """``lines`` for the call ``number`` only; they must end the program. Labels get the number as prefix."""
    yield Branch(JUMP_EQUAL, number, otherwise=f"not {number}")
    for line in lines:
        yield _with_prefix(line, number)
    yield Label(f"not {number}")


def _with_prefix(line: Line, number: int) -> Line:
    if isinstance(line, Label):
        return Label(f"{number} {line.name}")
    if isinstance(line, Branch):
        then, otherwise = (name and f"{number} {name}" for name in (line.then, line.otherwise))
        return Branch(line.code, line.operand, then, otherwise)
    return line


def _fail(error: int) -> Step:
    return return_value(FAIL | error)


def _argument(index: int, *, upper: bool = False) -> Step:
    """Load one word of an argument: the kernel itself ignores the upper word, except of addresses."""
    return load(ARGUMENTS_AT + 8 * index + 4 * upper)


def _fails_with_a_bit(argument: int, bits: int, error: int) -> Iterator[Line]:
    yield _argument(argument)
    yield Branch(JUMP_ANY_BIT, bits, otherwise="allowed")
    yield _fail(error)
    yield Label("allowed")
    yield return_value(ALLOW)


def _fails_if_one_of(argument: int, values: Iterable[int], error: int) -> Iterator[Line]:
    yield _argument(argument)
    for value in values:
        yield Branch(JUMP_EQUAL, value, then="refused")
    yield return_value(ALLOW)
    yield Label("refused")
    yield _fail(error)


def _continues_if_one_of(argument: int, values: Iterable[int], name: str, error: int) -> Iterator[Line]:
    yield _argument(argument)
    for value in values:
        yield Branch(JUMP_EQUAL, value, then=f"known {name}")
    yield _fail(error)
    yield Label(f"known {name}")
