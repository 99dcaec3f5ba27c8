"""What one engine may use of a machine."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024
INIT_LIMITS = {
    "as": 32 * MEBIBYTE,
    "cpu": 60,
    "nproc": 0,
    "nofile": 16,
    "fsize": 0,
    "memlock": 0,
    "msgqueue": 0,
}
"""The limits of the namespace's first process: bytes, seconds of processor time over its life, and numbers.
It starts no process and needs little of the rest."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are in bytes. ``memory`` and ``processes`` count all processes of the engine together.

    ``cpu_seconds`` limits the processor time of one process over all its games; None is no limit. ``tmp`` is
    the size of each of ``/tmp`` and ``/dev/shm``, whose files are in memory and count as memory.
    """

    memory: int = 256 * MEBIBYTE
    processes: int = 64
    """Threads count as processes."""
    tmp: int = 64 * MEBIBYTE
    file_size: int = 16 * MEBIBYTE
    open_files: int = 256
    cpu_seconds: int | None = None
    locked_memory: int = 64 * 1024
    pending_signals: int = 256

    @property
    def memory_sentence(self) -> str:
        return f"memory limit {self.memory // MEBIBYTE} MB"

    @property
    def processes_sentence(self) -> str:
        return f"{self.processes} processes"

    @property
    def file_sentence(self) -> str:
        return f"a file over {self.file_size // MEBIBYTE} MB"

    @property
    def cpu_sentence(self) -> str:
        return f"{self.cpu_seconds} seconds of processor time"


def processor_time_sentence(cpu_ns: int, clock_ns: int) -> str:
    cpu_s, clock_s = cpu_ns / 1e9, clock_ns / 1e9
    return f"{cpu_s:.1f} seconds of processor time, while its own turns took {clock_s:.1f} seconds"


def inner_words(limits: Limits) -> tuple[str, ...]:
    """The command that sets the limits and becomes the engine; it runs inside the namespaces.

    Before that it limits the first process there, which is bwrap's and only waits for others to end. Outside
    the namespaces the limit of processes would count all processes of the worker's user.
    """
    return (
        "sh",
        "-c",
        f'prlimit --pid=1 {" ".join(_init_words())} && exec "$@"',
        "sh",
        *prlimit_words(limits),
    )


def prlimit_words(limits: Limits) -> tuple[str, ...]:
    """The command that sets the limits of the engine and becomes it."""
    pairs = [
        ("nproc", limits.processes),
        ("nofile", limits.open_files),
        ("fsize", limits.file_size),
        ("memlock", limits.locked_memory),
        ("msgqueue", 0),
        ("sigpending", limits.pending_signals),
    ]
    words = [f"--{name}={value}:{value}" for name, value in pairs]
    if limits.cpu_seconds is not None:
        # The signal of the soft limit shows which limit was reached; the hard limit kills a second later.
        words.append(f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 1}")
    return ("prlimit", *words, "--")


def _init_words() -> Iterator[str]:
    """The limits are hard, so that nothing in the sandbox can raise them; lower ones of the worker's stay."""
    for name, value in INIT_LIMITS.items():
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        yield f"--{name}={value}:{value}"
