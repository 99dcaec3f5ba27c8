"""What the system call filter lets through, on every processor we know, without running on it."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bpf import judge
from workers.sandbox.seccomp import (
    ALLOW,
    FAIL,
    FILE_COMMANDS,
    KILL_PROCESS,
    SOCKET_FAMILIES,
    TERMINAL_COMMANDS,
    filter_program,
)
from workers.sandbox.syscalls import MACHINES, Machine

I386 = 0x40000003
ARM = 0x40000028
REFUSED = FAIL | errno.EPERM
NOT_THERE = FAIL | errno.ENOSYS
LATEST = {"open_tree_attr", "statmount", "listmount"}
"""Younger than the library that knows the others."""
EVERYDAY = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "mmap": 9,
        "futex": 202,
        "execve": 59,
        "exit_group": 231,
        "prlimit64": 302,
    },
    "aarch64": {"read": 63, "write": 64, "mmap": 222, "futex": 98, "execve": 221, "exit_group": 94},
}

machines = pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))


def verdict(machine: Machine, number: int, *arguments: int) -> int:
    return judge(filter_program(machine.name), number, machine.audit, arguments)


@machines
def test_everyday_calls_are_allowed(machine: Machine) -> None:
    for name, number in EVERYDAY[machine.name].items():
        assert verdict(machine, number) == ALLOW, name


@machines
def test_every_call_of_the_table_is_refused_whatever_its_arguments(machine: Machine) -> None:
    for name, number in machine.refused.items():
        assert verdict(machine, number) == verdict(machine, number, *[2**64 - 1] * 6) == REFUSED, name


@machines
def test_the_table_has_the_numbers_that_libseccomp_has(machine: Machine) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    resolve = library.seccomp_syscall_resolve_name_arch
    resolve.argtypes = (ctypes.c_uint32, ctypes.c_char_p)
    watched = {name: getattr(machine, name) for name in ("clone", "fcntl", "ioctl", "socket", "socketpair")}
    for name, number in (machine.refused | watched | {"clone3": machine.clone3}).items():
        if name not in LATEST:
            assert resolve(machine.audit, name.encode()) == number, name


@machines
@pytest.mark.parametrize("architecture", [I386, ARM, 0, 0xFFFFFFFF])
def test_a_program_for_another_processor_is_killed(machine: Machine, architecture: int) -> None:
    assert judge(filter_program(machine.name), 0, architecture) == KILL_PROCESS


def test_calls_of_x32_are_no_way_around_the_table() -> None:
    machine = MACHINES["x86_64"]
    for number in (0, machine.clone, *machine.refused.values()):
        assert verdict(machine, 0x40000000 | number) == KILL_PROCESS
    assert verdict(machine, 0xFFFFFFFF) == KILL_PROCESS


def namespace_flags() -> Iterator[int]:
    """``CLONE_NEW…`` of ``<linux/sched.h>``."""
    return iter((0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000))


@machines
def test_threads_and_processes_start_but_without_namespaces(machine: Machine) -> None:
    thread, process = 0x003D0F00, 17
    for flags in (thread, process, process | 0x01200000):
        assert verdict(machine, machine.clone, flags) == ALLOW
        for namespace in namespace_flags():
            assert verdict(machine, machine.clone, flags | namespace) == REFUSED


@machines
def test_clone3_is_said_not_to_be_there_so_that_libraries_take_clone(machine: Machine) -> None:
    assert verdict(machine, machine.clone3, 0, 88) == NOT_THERE


@machines
def test_files_are_opened_and_copied_but_not_locked(machine: Machine) -> None:
    for command in (0, 1, 2, 3, 4, 1030):  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
        assert verdict(machine, machine.fcntl, 3, command) == ALLOW
    for command in FILE_COMMANDS.values():
        assert verdict(machine, machine.fcntl, 3, command) == REFUSED


@machines
def test_terminals_are_asked_but_not_typed_into(machine: Machine) -> None:
    for command in (0x5401, 0x5413, 0x541B):  # TCGETS, TIOCGWINSZ, FIONREAD
        assert verdict(machine, machine.ioctl, 0, command) == ALLOW
    for command in TERMINAL_COMMANDS.values():
        assert verdict(machine, machine.ioctl, 0, command) == REFUSED


@machines
@given(family=st.integers(0, 60))
def test_sockets_are_those_of_the_own_network(machine: Machine, family: int) -> None:
    expected = ALLOW if family in SOCKET_FAMILIES.values() else FAIL | errno.EAFNOSUPPORT
    for call in (machine.socket, machine.socketpair):
        assert verdict(machine, call, family, 1, 0) == expected


@machines
@given(high=st.integers(1, 2**32 - 1))
def test_the_upper_half_of_an_argument_hides_nothing(machine: Machine, high: int) -> None:
    """The kernel takes these arguments for 32 bits; a filter that looked at 64 would be fooled."""
    above = high << 32
    assert verdict(machine, machine.fcntl, 3, above | FILE_COMMANDS["F_SETLK"]) == REFUSED
    assert verdict(machine, machine.ioctl, 0, above | TERMINAL_COMMANDS["TIOCSTI"]) == REFUSED
    assert verdict(machine, machine.socket, above | 40) == FAIL | errno.EAFNOSUPPORT
    assert verdict(machine, machine.clone, above | 0x10000000) == REFUSED


@machines
@given(number=st.integers(0, 1000), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_every_call_gets_an_answer(machine: Machine, number: int, arguments: list[int]) -> None:
    answers = {ALLOW, REFUSED, NOT_THERE, FAIL | errno.EAFNOSUPPORT}
    assert verdict(machine, number, *arguments) in answers


def test_an_unknown_processor_has_no_filter() -> None:
    with pytest.raises(KeyError):
        filter_program("riscv64")
