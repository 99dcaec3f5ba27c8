"""The system call filter of every engine, as the program that the kernel runs at each call.

Refused calls fail with EPERM, so that a program that merely asks goes on; with ENOSYS those
without which programs know another way: ``clone3``, whose flags lie in memory where a filter
cannot look, and ``memfd_create``, whose files nobody can count once they are sent into a socket.
Some calls do nothing and are said to be done. Setting a file's times: of the machine's devices,
``/dev/null`` and the like, everybody may set them and see them. Writing a file to the disk: an engine's
own are in memory, and for any other that it can read the disk would flush what all have written. And
widening a socket, which the kernel does as far as it likes anyway.

A program for another kind of processor is killed.
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
    give_back,
    load,
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
"""The call is not made and gives 0."""

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
"""Of ``fcntl``: locks, leases, watches and hints carry words between bots, wide pipes take others' share."""

TERMINAL_COMMANDS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
"""Of ``ioctl``: typing into a terminal."""

PROCESS_COMMANDS = {"PR_SET_SECCOMP": 22, "PR_SCHED_CORE": 62, "PR_SET_MEMORY_MERGE": 67}
"""Of ``prctl``: filters, see ``SOCKET_FILTERS``; to have what runs beside it on the same core wait; and see
``MADV_MERGEABLE``."""

ADVICE = {"MADV_MERGEABLE": 12, "MADV_PAGEOUT": 21}
"""Of ``madvise``: one page for equal ones of all engines tells who has which; the other is as ``DROP``."""

CORE_LIMIT = 4
"""``RLIMIT_CORE``, which is set from outside: see ``Cell.started``."""

SOCKET_LEVEL = 1
"""``SOL_SOCKET``: the options of all sockets."""
SOCKET_WIDTHS = {"SO_SNDBUF": 7, "SO_RCVBUF": 8}
"""Memory that only a control group would count."""
SOCKET_FILTERS = {
    "ATTACH_FILTER": 26,
    "ATTACH_BPF": 50,
    "ATTACH_REUSEPORT_CBPF": 51,
    "ATTACH_REUSEPORT_EBPF": 52,
}
"""Programs for the kernel, which compiles them into memory that nobody counts and all processes share."""

HUGE_PAGES = 0x40000
"""``MAP_HUGETLB`` of ``mmap``: memory that the operator set aside, and that no limit counts."""

NO_WAIT = 0x8
"""``RWF_NOWAIT`` of ``preadv2``: tells whether part of a file is in memory, and so who read it."""

DROP = 4
"""``POSIX_FADV_DONTNEED`` of ``fadvise64``: drops what others read from memory."""

USUAL_PROTOCOL = 0
"""For others the kernel loads modules."""

SOCKET_FAMILIES = {"AF_UNIX": 1, "AF_NETLINK": 16}
"""Of the engine's own network namespace. Others, as vsock, know no namespaces; and those of the internet lead
nowhere, but what lies unread in them is memory that control groups of version 1 do not count."""


def filter_program(machine: str) -> bytes:
    """The filter for a processor by its name in ``os.uname()``; raises ``KeyError`` for an unknown one."""
    return assemble(list(_lines(MACHINES[machine])))


def _lines(machine: Machine) -> Iterator[Line]:
    yield load(ARCHITECTURE_AT)
    yield Branch(JUMP_EQUAL, machine.audit, then="ours")
    yield give_back(KILL_PROCESS)
    yield Label("ours")
    yield load(NUMBER_AT)
    if machine.first_foreign is not None:
        yield Branch(JUMP_AT_LEAST, machine.first_foreign, otherwise="native")
        yield give_back(KILL_PROCESS)
        yield Label("native")
    for number in sorted(machine.refused.values()):
        yield from _when(number, [_fail(errno.EPERM)])
    for name, number in machine.watched.items():
        yield from _when(number, _judged(name))
    yield give_back(ALLOW)


def _judged(name: str) -> Iterable[Line]:
    """What to say of a watched call, by its arguments where they matter."""
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
            return _known_sockets()
        case "setsockopt":
            return _modest_sockets()
        case "setrlimit":
            return _fails_if_one_of(0, [CORE_LIMIT], errno.EPERM)
        case "prlimit64":
            return _core_limit_is_only_read()
        case "preadv2" | "pwritev2":
            return _fails_with_a_bit(5, NO_WAIT, errno.EOPNOTSUPP)
        case "fadvise64":
            return _fails_if_one_of(3, [DROP], errno.EPERM)
        case "utime" | "utimes" | "futimesat" | "utimensat":
            return [give_back(PRETEND)]
        case "fsync" | "fdatasync" | "msync" | "sync_file_range":
            return [give_back(PRETEND)]
    raise KeyError(name)


def _known_sockets() -> Iterator[Line]:
    yield from _goes_on_if_one_of(0, SOCKET_FAMILIES.values(), "family", errno.EAFNOSUPPORT)
    yield from _goes_on_if_one_of(2, [USUAL_PROTOCOL], "protocol", errno.EPROTONOSUPPORT)
    yield give_back(ALLOW)


def _modest_sockets() -> Iterator[Line]:
    yield _argument(1)
    yield Branch(JUMP_EQUAL, SOCKET_LEVEL, otherwise="allowed")
    yield _argument(2)
    for option in SOCKET_WIDTHS.values():
        yield Branch(JUMP_EQUAL, option, then="pretended")
    for option in SOCKET_FILTERS.values():
        yield Branch(JUMP_EQUAL, option, then="refused")
    yield Label("allowed")
    yield give_back(ALLOW)
    yield Label("pretended")
    yield give_back(PRETEND)
    yield Label("refused")
    yield _fail(errno.EPERM)


def _core_limit_is_only_read() -> Iterator[Line]:
    """Without a new limit: its address is the one argument of which both words count."""
    yield _argument(1)
    yield Branch(JUMP_EQUAL, CORE_LIMIT, otherwise="allowed")
    yield _argument(2)
    yield Branch(JUMP_EQUAL, 0, otherwise="refused")
    yield _argument(2, upper=True)
    yield Branch(JUMP_EQUAL, 0, otherwise="refused")
    yield Label("allowed")
    yield give_back(ALLOW)
    yield Label("refused")
    yield _fail(errno.EPERM)


def _when(number: int, lines: Iterable[Line]) -> Iterator[Line]:
    """Lines for one call alone, to whose number their labels belong; each ends the program."""
    yield Branch(JUMP_EQUAL, number, otherwise=f"not {number}")
    for line in lines:
        yield _named_apart(line, number)
    yield Label(f"not {number}")


def _named_apart(line: Line, number: int) -> Line:
    if isinstance(line, Label):
        return Label(f"{number} {line.name}")
    if isinstance(line, Branch):
        then, otherwise = (name and f"{number} {name}" for name in (line.then, line.otherwise))
        return Branch(line.code, line.operand, then, otherwise)
    return line


def _fail(error: int) -> Step:
    return give_back(FAIL | error)


def _argument(index: int, *, upper: bool = False) -> Step:
    """Load an argument's lower word: but for addresses, of those we judge the kernel looks at no more."""
    return load(ARGUMENTS_AT + 8 * index + 4 * upper)


def _fails_with_a_bit(argument: int, bits: int, error: int) -> Iterator[Line]:
    yield _argument(argument)
    yield Branch(JUMP_ANY_BIT, bits, otherwise="allowed")
    yield _fail(error)
    yield Label("allowed")
    yield give_back(ALLOW)


def _fails_if_one_of(argument: int, values: Iterable[int], error: int) -> Iterator[Line]:
    yield _argument(argument)
    for value in values:
        yield Branch(JUMP_EQUAL, value, then="refused")
    yield give_back(ALLOW)
    yield Label("refused")
    yield _fail(error)


def _goes_on_if_one_of(argument: int, values: Iterable[int], name: str, error: int) -> Iterator[Line]:
    yield _argument(argument)
    for value in values:
        yield Branch(JUMP_EQUAL, value, then=f"known {name}")
    yield _fail(error)
    yield Label(f"known {name}")
