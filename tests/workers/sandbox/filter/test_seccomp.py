"""Filters of system calls: their assembler, and what they permit on every supported processor."""

from __future__ import annotations

import ctypes
import errno
import functools
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bpf import judge
from workers.sandbox.filter.bpf import (
    JUMP_ANY_BIT,
    JUMP_AT_LEAST,
    JUMP_EQUAL,
    MAX_INSTRUCTIONS,
    Branch,
    Label,
    Line,
    ProgramError,
    assemble,
    load,
    return_value,
)
from workers.sandbox.filter.seccomp import (
    ALLOW,
    FAIL,
    FILE_COMMANDS,
    KILL_PROCESS,
    PRETEND,
    SOCKET_FAMILIES,
    TERMINAL_COMMANDS,
    filter_program,
)
from workers.sandbox.filter.syscalls import MACHINES, Machine

I386 = 0x40000003
ARM = 0x40000028
REFUSED = FAIL | errno.EPERM
NOT_THERE = FAIL | errno.ENOSYS
NO_FAMILY = FAIL | errno.EAFNOSUPPORT
NO_PROTOCOL = FAIL | errno.EPROTONOSUPPORT
NOT_SO = FAIL | errno.EOPNOTSUPP
NO_MEMORY = FAIL | errno.ENOMEM
LATEST = {"open_tree_attr", "statmount", "listmount", "cachestat"}
"""Newer than the library that has the numbers of the others."""
EVERYDAY = {
    "x86_64": {"read": 0, "write": 1, "futex": 202, "execve": 59, "exit_group": 231, "prlimit64": 302},
    "aarch64": {"read": 63, "write": 64, "futex": 98, "execve": 221, "exit_group": 94},
}

machines = pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))


program_of = functools.cache(filter_program)


def verdict(machine: Machine, number: int, *arguments: int) -> int:
    return judge(program_of(machine.name), number, machine.audit, arguments)


@machines
def test_everyday_calls_are_allowed(machine: Machine) -> None:
    for name, number in EVERYDAY[machine.name].items():
        assert verdict(machine, number) == ALLOW, name


@machines
def test_every_call_of_the_table_is_refused_with_any_arguments(machine: Machine) -> None:
    for name, number in machine.refused.items():
        assert verdict(machine, number) == verdict(machine, number, *[2**64 - 1] * 6) == REFUSED, name


@machines
def test_the_table_has_the_numbers_that_libseccomp_has(machine: Machine) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    resolve = library.seccomp_syscall_resolve_name_arch
    resolve.argtypes = (ctypes.c_uint32, ctypes.c_char_p)
    for name, number in (machine.refused | machine.watched).items():
        if name not in LATEST:
            assert resolve(machine.audit, name.encode()) == number, name


@machines
@pytest.mark.parametrize("architecture", [I386, ARM, 0, 0xFFFFFFFF])
def test_a_program_for_another_processor_is_killed(machine: Machine, architecture: int) -> None:
    assert judge(filter_program(machine.name), 0, architecture) == KILL_PROCESS


def test_calls_of_x32_do_not_bypass_the_table() -> None:
    machine = MACHINES["x86_64"]
    for number in (0, *machine.watched.values(), *machine.refused.values()):
        assert verdict(machine, 0x40000000 | number) == KILL_PROCESS
    assert verdict(machine, 0xFFFFFFFF) == KILL_PROCESS


def namespace_flags() -> Iterator[int]:
    """``CLONE_NEW…`` of ``<linux/sched.h>``."""
    return iter((0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000))


@machines
def test_threads_and_processes_start_but_without_namespaces(machine: Machine) -> None:
    thread, process = 0x003D0F00, 17
    for flags in (thread, process, process | 0x01200000):
        assert verdict(machine, machine.watched["clone"], flags) == ALLOW
        for namespace in namespace_flags():
            assert verdict(machine, machine.watched["clone"], flags | namespace) == REFUSED


# What the last argument may be: the call with those before it, values that are allowed, values refused.
BY_THE_LAST_ARGUMENT = [
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; no locks
    ("fcntl", (3,), (0, 1, 2, 3, 4, 1030), FILE_COMMANDS.values()),
    # TCGETS, TIOCGWINSZ, FIONREAD; nothing is typed into a terminal
    ("ioctl", (0,), (0x5401, 0x5413, 0x541B), TERMINAL_COMMANDS.values()),
    # SO_REUSEADDR, TYPE, KEEPALIVE, PASSCRED, RCVTIMEO; no filters
    ("setsockopt", (3, 1), (2, 3, 9, 16, 20), (26, 50, 51, 52)),
    # pages of files are not dropped
    ("fadvise64", (3, 0, 0), (0, 1, 2, 3, 5), (4,)),
    # MADV_WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, COLD; neither MERGEABLE nor PAGEOUT
    ("madvise", (0, 4096), (3, 4, 8, 14, 15, 20), (12, 21)),
]


@machines
@pytest.mark.parametrize(("call", "before", "allowed", "refused"), BY_THE_LAST_ARGUMENT)
def test_some_commands_of_a_call_are_refused(
    machine: Machine, call: str, before: tuple[int, ...], allowed: Iterable[int], refused: Iterable[int]
) -> None:
    for value in allowed:
        assert verdict(machine, machine.watched[call], *before, value) == ALLOW, value
    for value in refused:
        assert verdict(machine, machine.watched[call], *before, value) == REFUSED, value


@machines
def test_processes_can_set_their_names_but_not_share_pages_keep_a_core_or_filter_calls(
    machine: Machine,
) -> None:
    # PR_SET_PDEATHSIG, DUMPABLE, NAME, NO_NEW_PRIVS, and what is refused
    verdicts = [verdict(machine, machine.watched["prctl"], one, 1) for one in (1, 4, 15, 38, 22, 62, 67)]
    assert verdicts == [ALLOW] * 4 + [REFUSED] * 3


@machines
def test_calls_that_have_an_older_form_fail_as_unknown(machine: Machine) -> None:
    """Then libraries use ``clone``, and files that lie in a folder."""
    assert verdict(machine, machine.watched["clone3"], 0, 88) == NOT_THERE
    assert verdict(machine, machine.watched["memfd_create"], 0, 1) == NOT_THERE


@machines
@given(family=st.integers(0, 60), kind=st.integers(1, 5))
def test_only_local_socket_families_are_allowed(machine: Machine, family: int, kind: int) -> None:
    expected = ALLOW if family in SOCKET_FAMILIES.values() else NO_FAMILY
    for call in ("socket", "socketpair"):
        assert verdict(machine, machine.watched[call], family, kind, 0) == expected


@machines
def test_only_protocols_that_load_no_kernel_module_are_allowed(machine: Machine) -> None:
    for protocol in range(300):
        expected = ALLOW if protocol == 0 else NO_PROTOCOL
        assert verdict(machine, machine.watched["socket"], 1, 1, protocol) == expected


@machines
def test_sizes_of_buffers_of_sockets_are_pretended(machine: Machine) -> None:
    call, above = machine.watched["setsockopt"], 1 << 32
    for option in (7, 8):
        assert verdict(machine, call, 3, 1, option) == PRETEND
        assert verdict(machine, call, 3, above | 1, above | option) == PRETEND
        assert verdict(machine, call, 3, 270, option) == ALLOW  # SOL_NETLINK


@machines
@given(address=st.integers(1, 2**64 - 1))
def test_limits_can_be_set_and_read_but_that_of_core_dumps_only_read(machine: Machine, address: int) -> None:
    core, files = 4, 7
    assert verdict(machine, machine.watched["prlimit64"], 0, core, 0, address) == ALLOW
    assert verdict(machine, machine.watched["prlimit64"], 0, core, address, 0) == REFUSED
    assert verdict(machine, machine.watched["prlimit64"], 0, files, address, 0) == ALLOW
    assert verdict(machine, machine.watched["setrlimit"], core, address) == REFUSED
    assert verdict(machine, machine.watched["setrlimit"], files, address) == ALLOW


@machines
def test_reads_are_allowed_except_those_that_test_the_page_cache(machine: Machine) -> None:
    for call in ("preadv2", "pwritev2"):
        for flags in (0, 0x1, 0x2, 0x4, 0x10):  # RWF_HIPRI, DSYNC, SYNC, APPEND
            assert verdict(machine, machine.watched[call], 3, 0, 1, 8, 8, flags) == ALLOW
            assert verdict(machine, machine.watched[call], 3, 0, 1, 8, 8, flags | 0x8) == NOT_SO


@machines
def test_memory_can_be_mapped_but_not_in_huge_pages(machine: Machine) -> None:
    anonymous, huge = 0x22, 0x40000
    assert verdict(machine, machine.watched["mmap"], 0, 4096, 3, anonymous) == ALLOW
    assert verdict(machine, machine.watched["mmap"], 0, 4096, 3, anonymous | huge) == NO_MEMORY
    assert verdict(machine, machine.watched["mmap"], 0, 4096, huge, anonymous) == ALLOW


@machines
def test_setting_file_times_is_pretended(machine: Machine) -> None:
    calls = [machine.watched[name] for name in machine.watched if "utime" in name]
    assert calls
    for call in calls:
        assert verdict(machine, call, -100, 0, 0, 0) == FAIL | 0


@machines
def test_writing_files_to_the_disk_is_pretended(machine: Machine) -> None:
    for name in ("fsync", "fdatasync", "msync", "sync_file_range"):
        assert verdict(machine, machine.watched[name], 3) == FAIL | 0


@machines
@given(high=st.integers(1, 2**32 - 1))
def test_the_upper_half_of_an_argument_is_ignored(machine: Machine, high: int) -> None:
    """The kernel takes these arguments for 32 bits; a filter that looked at 64 would be fooled."""
    above = high << 32
    assert verdict(machine, machine.watched["fcntl"], 3, above | FILE_COMMANDS["F_SETLK"]) == REFUSED
    assert verdict(machine, machine.watched["ioctl"], 0, above | TERMINAL_COMMANDS["TIOCSTI"]) == REFUSED
    assert verdict(machine, machine.watched["socket"], above | 40) == NO_FAMILY
    assert verdict(machine, machine.watched["preadv2"], 3, 0, 1, 0, 0, above | 8) == NOT_SO
    assert verdict(machine, machine.watched["fadvise64"], 3, 0, 0, above | 4) == REFUSED
    assert verdict(machine, machine.watched["clone"], above | 0x10000000) == REFUSED


@machines
@given(number=st.integers(0, 1000), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_every_call_gets_an_answer(machine: Machine, number: int, arguments: list[int]) -> None:
    answers = {ALLOW, REFUSED, NOT_THERE, NO_FAMILY, NO_PROTOCOL, NOT_SO, NO_MEMORY, PRETEND}
    assert verdict(machine, number, *arguments) in answers


def test_an_unknown_processor_has_no_filter() -> None:
    with pytest.raises(KeyError):
        filter_program("riscv64")


def chosen(code: int, operand: int, number: int) -> int:
    """1 where the jump is taken, else 2."""
    lines: list[Line] = [
        load(0),
        Branch(code, operand, then="yes"),
        return_value(2),
        Label("yes"),
        return_value(1),
    ]
    return judge(assemble(lines), number, 0)


@pytest.mark.parametrize(
    ("code", "operand", "taken", "not_taken"),
    [
        (JUMP_EQUAL, 7, [7], [6, 8]),
        (JUMP_AT_LEAST, 7, [7, 8, 0xFFFFFFFF], [0, 6]),
        (JUMP_ANY_BIT, 6, [2, 4, 6, 7], [0, 1, 8]),
    ],
)
def test_each_jump_tests_its_own_condition(
    code: int, operand: int, taken: list[int], not_taken: list[int]
) -> None:
    assert {chosen(code, operand, number) for number in taken} == {1}
    assert {chosen(code, operand, number) for number in not_taken} == {2}


def test_instructions_are_laid_out_as_the_kernel_reads_them() -> None:
    lines: list[Line] = [
        Branch(JUMP_EQUAL, 0x01020304, otherwise="end"),
        return_value(1),
        Label("end"),
        return_value(2),
    ]
    program = assemble(lines)
    assert program[:8] == bytes.fromhex("1500 00 01 04030201")
    assert program[8:] == bytes.fromhex("0600 00 00 01000000 0600 00 00 02000000")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "does not end with a return"),
        ([load(0)], "does not end with a return"),
        ([Label("a"), Label("a"), return_value(0)], "'a' is defined twice"),
        ([Branch(JUMP_EQUAL, 0, then="b"), return_value(0)], "no label 'b'"),
        ([Label("a"), Branch(JUMP_EQUAL, 0, then="a"), return_value(0)], "is -1 instructions ahead"),
        (
            [Branch(JUMP_EQUAL, 0, then="far"), *[load(0)] * 256, Label("far"), return_value(0)],
            "is 256 instructions",
        ),
        ([*[load(0)] * MAX_INSTRUCTIONS, return_value(0)], "are more than"),
    ],
)
def test_a_program_that_the_kernel_would_refuse_is_refused(lines: list[Line], complaint: str) -> None:
    with pytest.raises(ProgramError, match=complaint):
        assemble(lines)


def test_a_label_as_far_away_as_a_byte_reaches_is_reached() -> None:
    far = Branch(JUMP_EQUAL, 0, then="far")
    lines: list[Line] = [load(0), far, *[return_value(1)] * 255, Label("far"), return_value(2)]
    assert judge(assemble(lines), 0, 0) == 2
