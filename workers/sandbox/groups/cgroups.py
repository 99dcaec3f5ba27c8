"""An engine's control group: it limits, freezes, measures and kills all processes of the engine together.

Version 2 is used where it has the memory and pids controllers, else version 1. A worker creates groups below
a folder that was delegated to its user, a ``GroupParent``; without one, level A is not available.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from workers.reaper import end_group
from workers.sandbox.limits import Limits
from workers.sandbox.withheld import (
    PER_CORE,
    PRESSURE_FILE,
    DelayCounter,
    PressureCounter,
    StealCounter,
    WithheldCounter,
    accounted_core_ns,
    core_ns,
    has_pressure,
    has_run_delays,
    outermost_account,
    parse_full_ns,
    steal_ns,
)

PREFIX = "engine-"
PERIOD_US = 100_000
START_FIELD = 19
"""The index of ``starttime`` in ``/proc/PID/stat``, counted after the name; see ``proc_pid_stat(5)``."""

_numbers = itertools.count(1)


class Group(ABC):
    """The control group of one engine, named but not created yet; the caller must ``end`` it."""

    folders: tuple[str, ...]
    """One folder per hierarchy; a process enters the group through ``cgroup.procs`` in each."""
    frozen: ClassVar[bytes]
    thawed: ClassVar[bytes]
    """What is written to freeze and thaw it."""
    out_of_memory: ClassVar[str]
    """The file that counts the processes that the kernel killed for lack of memory."""

    def __init__(self, memory: Path, pids: Path, limits: Limits) -> None:
        """``memory`` and ``pids`` are its folders for these controllers."""
        self._memory, self._pids, self._limits = memory, pids, limits
        self._freezer = self._cpu = self._pressure = -1

    def create(self) -> None:
        """Create the empty group with its limits; raises ``OSError`` if the system does not permit it.

        Register ``folders`` with the reaper before, so that a worker killed at any moment leaves no group.
        """
        try:
            for folder in self.folders:
                os.mkdir(folder)
            self.set_up()
        except BaseException:
            self.end()
            raise

    @abstractmethod
    def set_up(self) -> None:
        """Set the limits of the folders, which exist; raises ``OSError``."""

    def freeze(self) -> None:
        """Suspend all its processes until ``thaw``; no process can evade this."""
        os.pwrite(self._freezer, self.frozen, 0)

    def thaw(self) -> None:
        os.pwrite(self._freezer, self.thawed, 0)

    @abstractmethod
    def cpu_ns(self) -> int:
        """The processor time of all its processes so far, including those that have ended."""

    @abstractmethod
    def withheld_counter(self, core: int) -> WithheldCounter | None:
        """Counts how long its processes, which run on ``core`` only, are kept from it.

        None if the kernel does not count that.
        """

    def oom_kills(self) -> int:
        """How many processes the kernel killed because the group was out of memory."""
        return _entry((self._memory / self.out_of_memory).read_text(), "oom_kill")

    def refused_processes(self) -> int:
        """How many times a process was not started because of the limit of processes."""
        return _entry((self._pids / "pids.events").read_text(), "max")

    def end(self) -> None:
        """Kill all its processes and remove it. May be repeated."""
        self._close()
        end_group(self.folders)

    def _close(self) -> None:
        for descriptor in (self._freezer, self._cpu, self._pressure):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._freezer = self._cpu = self._pressure = -1


@dataclass(frozen=True, slots=True)
class GroupParent:
    """Where this process may create groups: a folder for each controller; the key ``""`` is version 2."""

    folders: Mapping[str, str]

    @property
    def version(self) -> int:
        return 2 if "" in self.folders else 1

    @property
    def has_pressure(self) -> bool:
        """Whether the kernel counts the pressure on its groups."""
        return "" in self.folders and has_pressure(self.folders[""])

    def plan(self, limits: Limits) -> Group:
        """A group with a new name."""
        name = f"{PREFIX}{os.getpid()}-{_start_of(os.getpid())}-{next(_numbers)}"
        places = {controller: Path(folder, name) for controller, folder in self.folders.items()}
        return UnifiedGroup(places[""], limits) if "" in places else LegacyGroup(places, limits)

    def clear(self) -> None:
        """Remove the groups of workers that no longer run."""
        for folder in set(self.folders.values()):
            for place in Path(folder).glob(f"{PREFIX}*"):
                if not _is_owned(place.name.removeprefix(PREFIX)):
                    end_group((str(place),))


def _is_owned(name: str) -> bool:
    """Whether the worker that made a group runs; the name has its number, its start and a running number.

    The names of earlier versions have no start.
    """
    owner, start, *rest = (*name.split("-"), "")
    if not owner.isdigit():
        return True  # not a group of ours
    return _start_of(int(owner)) == start if rest and rest[0] else Path("/proc", owner).exists()


def _start_of(process: int) -> str:
    """When a process started, as in ``/proc``; with it a number that is used again names another process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return "ended"
    return text.rpartition(")")[2].split()[START_FIELD]


class UnifiedGroup(Group):
    """Version 2."""

    frozen, thawed = b"1", b"0"
    out_of_memory = "memory.events"

    def __init__(self, place: Path, limits: Limits) -> None:
        super().__init__(place, place, limits)
        self.folders = (str(place),)
        self._place = place

    def set_up(self) -> None:
        self._set(self._limits)
        self._freezer = os.open(self._place / "cgroup.freeze", os.O_WRONLY | os.O_CLOEXEC)
        self._cpu = os.open(self._place / "cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
        if has_pressure(self._place):
            self._pressure = os.open(self._place / PRESSURE_FILE, os.O_RDONLY | os.O_CLOEXEC)

    def _set(self, limits: Limits) -> None:
        write_value(self._place / "memory.max", limits.memory)
        write_value(self._place / "pids.max", limits.processes)
        _write_if_there(self._place / "memory.swap.max", 0)
        _write_if_there(self._place / "memory.oom.group", 1)
        _write_if_there(self._place / "cpu.max", f"{PERIOD_US} {PERIOD_US}")

    def cpu_ns(self) -> int:
        return _entry(os.pread(self._cpu, 4096, 0).decode(), "usage_usec") * 1000

    def withheld_counter(self, core: int) -> WithheldCounter | None:
        steal = StealCounter(lambda: steal_ns(core), self.cpu_ns)
        if self._pressure >= 0:
            return PressureCounter(self._withheld_ns, steal)
        if not has_run_delays():
            return None
        return DelayCounter(
            lambda: _numbers_in(self._place / "cgroup.threads"),
            lambda: core_ns(core) - self.cpu_ns(),
            steal=steal,
        )

    def _withheld_ns(self) -> int:
        """The time in which it wanted to run and did not, except when it had used up its own share."""
        full_ns = parse_full_ns(os.pread(self._pressure, 4096, 0).decode())
        return full_ns - _entry(os.pread(self._cpu, 4096, 0).decode(), "throttled_usec") * 1000


class LegacyGroup(Group):
    """Version 1: a folder in each controller's hierarchy."""

    frozen, thawed = b"FROZEN", b"THAWED"
    out_of_memory = "memory.oom_control"

    def __init__(self, places: Mapping[str, Path], limits: Limits) -> None:
        super().__init__(places["memory"], places["pids"], limits)
        self.folders = tuple(str(place) for place in dict.fromkeys(places.values()))
        self._places = places

    def set_up(self) -> None:
        limits, places = self._limits, self._places
        write_value(self._memory / "memory.limit_in_bytes", limits.memory)
        _write_if_there(self._memory / "memory.memsw.limit_in_bytes", limits.memory)
        _write_if_there(self._memory / "memory.swappiness", 0)
        write_value(self._pids / "pids.max", limits.processes)
        if "cpu" in places:
            _write_if_there(places["cpu"] / "cpu.cfs_period_us", PERIOD_US)
            _write_if_there(places["cpu"] / "cpu.cfs_quota_us", PERIOD_US)
        self._freezer = os.open(places["freezer"] / "freezer.state", os.O_WRONLY | os.O_CLOEXEC)
        self._cpu = os.open(places["cpuacct"] / "cpuacct.usage", os.O_RDONLY | os.O_CLOEXEC)

    def cpu_ns(self) -> int:
        return int(os.pread(self._cpu, 64, 0))

    def withheld_counter(self, core: int) -> WithheldCounter | None:
        account = outermost_account(str(self._places["cpuacct"]))
        if not has_run_delays() or not Path(account, PER_CORE).exists():
            return None
        return DelayCounter(
            lambda: _numbers_in(self._pids / "tasks"),
            lambda: accounted_core_ns(account, core) - self.cpu_ns(),
            steal=StealCounter(lambda: steal_ns(core), self.cpu_ns),
        )


def write_value(path: Path, value: object) -> None:
    """Write a file of the control group filesystem; raises ``OSError``."""
    # Opened without O_TRUNC, which some of these files refuse.
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _write_if_there(path: Path, value: object) -> None:
    """Write a limit that not every kernel has."""
    with contextlib.suppress(OSError):
        write_value(path, value)


def _numbers_in(path: Path) -> list[int]:
    """The process or thread numbers in a file; none if its group has gone."""
    try:
        return list(map(int, path.read_text().split()))
    except OSError:
        return []


def _entry(text: str, name: str) -> int:
    """The number behind ``name`` in a file of ``name number`` lines; 0 if the name is missing."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return 0
