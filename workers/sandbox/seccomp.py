"""The system call filter of every engine, as the program that the kernel runs at each call.

Refused calls fail with EPERM, so that a program that merely asks goes on; ``clone3`` with
ENOSYS, since its flags lie in memory where a filter cannot look and C libraries then take
``clone``. A program for another kind of processor is killed.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator

from workers.sandbox.bpf import (
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
from workers.sandbox.syscalls import MACHINES, Machine

# struct seccomp_data of <linux/seccomp.h>
NUMBER_AT = 0
ARCHITECTURE_AT = 4
ARGUMENTS_AT = 16
"""Eight bytes each, the lower word first: both processors are little-endian."""

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
FAIL = 0x00050000
"""Plus the error number."""

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
}
"""Of ``fcntl``: locks, leases and watches carry words between bots, wide pipes take a worker's share."""

TERMINAL_COMMANDS = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
"""Of ``ioctl``: typing into a terminal."""

SOCKET_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""All of the engine's own network namespace; others, as vsock, know no namespaces."""


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
    yield from _when(machine.clone3, [_fail(errno.ENOSYS)])
    yield from _when(machine.clone, _fails_with_a_bit(0, NAMESPACE_FLAGS, errno.EPERM))
    yield from _when(machine.fcntl, _fails_if_one_of(1, FILE_COMMANDS.values(), errno.EPERM))
    yield from _when(machine.ioctl, _fails_if_one_of(1, TERMINAL_COMMANDS.values(), errno.EPERM))
    for call in (machine.socket, machine.socketpair):
        yield from _when(call, _fails_unless_one_of(0, SOCKET_FAMILIES.values(), errno.EAFNOSUPPORT))
    yield give_back(ALLOW)


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


def _argument(index: int) -> Step:
    """Load an argument's lower word; of those we judge the kernel itself looks at no more."""
    return load(ARGUMENTS_AT + 8 * index)


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


def _fails_unless_one_of(argument: int, values: Iterable[int], error: int) -> Iterator[Line]:
    yield _argument(argument)
    for value in values:
        yield Branch(JUMP_EQUAL, value, then="allowed")
    yield _fail(error)
    yield Label("allowed")
    yield give_back(ALLOW)
