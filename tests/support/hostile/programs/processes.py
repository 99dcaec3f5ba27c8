"""Attacks with processes: too many, outliving the game, and on the processes of others."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from .limits import MAX_PROCESSES, MAX_SECONDS, child, libc, secrets_in

PTRACE_SEIZE = 0x4206
ODD_LIMIT = 4321
MAX_SIGNALS = 2000
NICER = 7
MEMORY_READ = 4 * 1024 * 1024
CHAIN_SECONDS = 3.0
FIRST_PROCESS_LIMITS = {
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_CPU: 3600,
    resource.RLIMIT_NPROC: 10,
    resource.RLIMIT_FSIZE: 1 << 30,
    resource.RLIMIT_NOFILE: 200,
}
BURST_SECONDS = 0.006
BREAK_SECONDS = 0.001


def fork_bomb(_: dict[str, Any]) -> int:
    made = 0
    with contextlib.suppress(OSError):
        while made < MAX_PROCESSES:
            child()
            made += 1
    return made


def thread_bomb(_: dict[str, Any]) -> int:
    made, rest = 0, threading.Event()
    with contextlib.suppress(RuntimeError):
        while made < MAX_PROCESSES:
            threading.Thread(target=rest.wait, args=(MAX_SECONDS,), daemon=True).start()
            made += 1
    return made


def program_bomb(_: dict[str, Any]) -> int:
    """Like ``fork_bomb`` with ``posix_spawn``, which copies no process and needs no memory for one."""
    made = 0
    with contextlib.suppress(OSError):
        while made < MAX_PROCESSES:
            os.posix_spawn("/usr/bin/sleep", ("sleep", str(MAX_SECONDS)), {})
            made += 1
    return made


def orphan(_: dict[str, Any]) -> int:
    """Leave a grandchild in a new session, with all pipes closed."""

    def leave() -> None:
        os.setsid()
        child(_close_and_stay)

    return os.waitpid(child(leave), 0)[1]


def disguise(_: dict[str, Any]) -> None:
    """Leave a grandchild that has the name of a kernel thread."""

    def leave() -> None:
        os.setsid()
        child(lambda: os.execv("/usr/bin/sleep", ["[kworker/0:1]", str(MAX_SECONDS)]))

    os.waitpid(child(leave), 0)


def kill_all(_: dict[str, Any]) -> None:
    for number in (-1, 1, os.getppid()):
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGKILL)


def limit_others(_: dict[str, Any]) -> list[int]:
    """Set a limit of every visible process."""
    done = []
    for number in _others():
        with contextlib.suppress(OSError):
            resource.prlimit(number, resource.RLIMIT_MSGQUEUE, (ODD_LIMIT, ODD_LIMIT))
            done.append(number)
    return done


def free_the_first(_: dict[str, Any]) -> list[int]:
    """The limits with which the first process, which is bwrap's, could do more than its work."""
    found = []
    for kind, most in FIRST_PROCESS_LIMITS.items():
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(1, kind, (most, most))
        if not 0 <= resource.prlimit(1, kind)[1] < most:
            found.append(kind)
    return found


def renice_all(_: dict[str, Any]) -> None:
    """Raise the nice value of all of the user's processes."""
    os.setpriority(os.PRIO_USER, 0, min(19, os.nice(0) + NICER))


def be_woken(_: dict[str, Any]) -> int:
    """Start a helper that continues its parent whenever it was stopped."""

    def wake() -> None:
        while True:
            os.kill(parent, signal.SIGCONT)
            time.sleep(0.01)

    parent = os.getpid()
    return child(wake)


def be_woken_by_a_chain(_: dict[str, Any]) -> int:
    """The same with helpers that each start the next and end, so that a search for them comes too late."""

    def wake() -> None:
        end = time.monotonic() + CHAIN_SECONDS
        while time.monotonic() < end:
            os.kill(parent, signal.SIGCONT)
            if os.fork() != 0:
                os._exit(0)

    parent = os.getpid()
    return child(wake)


def think_in_children(_: dict[str, Any]) -> None:
    """Start two children that compute until the time limit."""

    def compute() -> None:
        while True:
            pass

    for _number in range(2):
        child(compute)


def think_in_bursts(_: dict[str, Any]) -> None:
    """Start a thread that computes in bursts shorter than a check of the worker takes to come."""

    def compute() -> None:
        while True:
            until = time.thread_time() + BURST_SECONDS
            while time.thread_time() < until:
                pass
            time.sleep(BREAK_SECONDS)

    threading.Thread(target=compute, daemon=True).start()


def take_all_cores(_: dict[str, Any]) -> int:
    """Set its affinity to all cores; returns the number of cores it may use."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    return len(os.sched_getaffinity(0))


def queue_signals(_: dict[str, Any]) -> int:
    """Queue blocked signals to itself."""
    number = signal.SIGRTMIN
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    queued = 0
    while queued < MAX_SIGNALS and libc.sigqueue(os.getpid(), number, ctypes.c_void_p(0)) == 0:
        queued += 1
    return queued


def raise_limits(_: dict[str, Any]) -> int:
    """Raise its limit of open files; returns the limit reached."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for wanted in (hard * 2, 512):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def trace(_: dict[str, Any]) -> list[int]:
    """The processes that it could attach to as a tracer."""
    return [number for number in _others() if libc.ptrace(PTRACE_SEIZE, number, None, None) == 0]


def read_environments(_: dict[str, Any]) -> list[str]:
    return [word for number in _others() for word in secrets_in(_content(f"/proc/{number}/environ"))]


def read_command_lines(_: dict[str, Any]) -> list[str]:
    return [word for number in _others() for word in secrets_in(_content(f"/proc/{number}/cmdline"))]


def read_memories(_: dict[str, Any]) -> list[str]:
    """Secrets found on other processes' stacks and heaps."""
    return sorted({word for number in _others() for word in _secrets_in_memory(number)})


def walk_through_roots(facts: dict[str, Any]) -> list[str]:
    """Read a file of the machine through other processes' roots and folders."""
    ways = [f"/proc/{number}/{way}" for number in _others() for way in ("root", "cwd/../../../../../../..")]
    return [word for way in ways for word in secrets_in(_content(way + facts["secret"]))]


def open_other_descriptors(_: dict[str, Any]) -> list[str]:
    """Reopen the descriptors of other processes through ``/proc``."""
    found = []
    for number in _others():
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{number}/fd"):
                target = os.readlink(f"/proc/{number}/fd/{name}")
                if os.path.isabs(target) and not target.startswith(("/dev/", "/memfd")):
                    found += secrets_in(_content(f"/proc/{number}/fd/{name}"))
    return found


def _close_and_stay() -> None:
    os.closerange(0, 3)
    signal.pause()


def _others() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1024 * 1024)
    except OSError:
        return b""


def _secrets_in_memory(number: int) -> Iterator[str]:
    try:
        with open(f"/proc/{number}/maps") as maps, open(f"/proc/{number}/mem", "rb", 0) as memory:
            for line in maps:
                if line.rstrip().endswith(("[stack]", "[heap]")):
                    start, end = (int(word, 16) for word in line.split()[0].split("-"))
                    memory.seek(max(start, end - MEMORY_READ))
                    yield from secrets_in(memory.read(min(end - start, MEMORY_READ)))
    except OSError:
        return
