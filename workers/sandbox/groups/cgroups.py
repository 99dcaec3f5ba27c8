"""An engine's control group: all its processes under one limit, frozen, counted and ended as one.

Version 2 where it has the memory and pids controllers, else version 1. A worker may make
groups below a folder that was handed over to it, its ``GroupParent``; where there is none,
None is the answer and the machine does not give level A.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.reaper import end_group
from workers.sandbox.limits import Limits

PREFIX = "engine-"
PERIOD_US = 100_000

_numbers = itertools.count(1)


class Group(ABC):
    """The control group of one engine. Whoever makes one must ``end`` it."""

    folders: tuple[str, ...]
    """Of the hierarchies a process must enter, through ``cgroup.procs`` in each."""

    @abstractmethod
    def freeze(self) -> None:
        """Let none of its processes run until ``thaw``; nothing in it can evade this."""

    @abstractmethod
    def thaw(self) -> None: ...

    @abstractmethod
    def cpu_ns(self) -> int:
        """The processor time of all its processes so far, those that have ended included."""

    @abstractmethod
    def memory_kills(self) -> int:
        """How many processes were killed for want of memory."""

    @abstractmethod
    def refused_processes(self) -> int:
        """How often a process could not be started, there being too many."""

    def end(self) -> None:
        """Kill all that is in it and remove it. May be repeated."""
        self._close()
        end_group(self.folders)

    @abstractmethod
    def _close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class GroupParent:
    """Where this process may make groups: a folder a hierarchy, by controller; ``""`` is version 2."""

    folders: Mapping[str, str]

    @property
    def version(self) -> int:
        return 2 if "" in self.folders else 1

    def make(self, limits: Limits) -> Group:
        """An empty group; raises ``OSError`` where this machine does not permit it after all."""
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        places = {controller: Path(folder, name) for controller, folder in self.folders.items()}
        made = tuple(str(place) for place in dict.fromkeys(places.values()))
        try:
            for place in made:
                os.mkdir(place)
            return UnifiedGroup(places[""], limits) if "" in places else LegacyGroup(places, limits)
        except BaseException:
            end_group(made)
            raise

    def clear(self) -> None:
        """Remove groups whose worker is gone."""
        for folder in set(self.folders.values()):
            for place in Path(folder).glob(f"{PREFIX}*"):
                owner = place.name.removeprefix(PREFIX).partition("-")[0]
                if owner.isdigit() and not Path("/proc", owner).exists():
                    end_group((str(place),))


class UnifiedGroup(Group):
    """Version 2."""

    def __init__(self, place: Path, limits: Limits) -> None:
        self.folders = (str(place),)
        self._place = place
        self._set(limits)
        self._freezer = os.open(place / "cgroup.freeze", os.O_WRONLY | os.O_CLOEXEC)
        self._cpu = os.open(place / "cpu.stat", os.O_RDONLY | os.O_CLOEXEC)

    def _set(self, limits: Limits) -> None:
        write_value(self._place / "memory.max", limits.memory)
        write_value(self._place / "pids.max", limits.processes)
        _write_if_there(self._place / "memory.swap.max", 0)
        _write_if_there(self._place / "memory.oom.group", 1)
        _write_if_there(self._place / "cpu.max", f"{PERIOD_US} {PERIOD_US}")

    def freeze(self) -> None:
        os.pwrite(self._freezer, b"1", 0)

    def thaw(self) -> None:
        os.pwrite(self._freezer, b"0", 0)

    def cpu_ns(self) -> int:
        return _entry(os.pread(self._cpu, 4096, 0).decode(), "usage_usec") * 1000

    def memory_kills(self) -> int:
        return _entry((self._place / "memory.events").read_text(), "oom_kill")

    def refused_processes(self) -> int:
        return _entry((self._place / "pids.events").read_text(), "max")

    def _close(self) -> None:
        for descriptor in (self._freezer, self._cpu):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._freezer = self._cpu = -1


class LegacyGroup(Group):
    """Version 1: a folder in each controller's hierarchy."""

    def __init__(self, places: Mapping[str, Path], limits: Limits) -> None:
        self.folders = tuple(str(place) for place in dict.fromkeys(places.values()))
        self._memory, self._pids = places["memory"], places["pids"]
        write_value(self._memory / "memory.limit_in_bytes", limits.memory)
        _write_if_there(self._memory / "memory.memsw.limit_in_bytes", limits.memory)
        _write_if_there(self._memory / "memory.swappiness", 0)
        write_value(self._pids / "pids.max", limits.processes)
        if "cpu" in places:
            _write_if_there(places["cpu"] / "cpu.cfs_period_us", PERIOD_US)
            _write_if_there(places["cpu"] / "cpu.cfs_quota_us", PERIOD_US)
        self._freezer = os.open(places["freezer"] / "freezer.state", os.O_WRONLY | os.O_CLOEXEC)
        self._cpu = os.open(places["cpuacct"] / "cpuacct.usage", os.O_RDONLY | os.O_CLOEXEC)

    def freeze(self) -> None:
        os.pwrite(self._freezer, b"FROZEN", 0)

    def thaw(self) -> None:
        os.pwrite(self._freezer, b"THAWED", 0)

    def cpu_ns(self) -> int:
        return int(os.pread(self._cpu, 64, 0))

    def memory_kills(self) -> int:
        return _entry((self._memory / "memory.oom_control").read_text(), "oom_kill")

    def refused_processes(self) -> int:
        return _entry((self._pids / "pids.events").read_text(), "max")

    def _close(self) -> None:
        for descriptor in (self._freezer, self._cpu):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._freezer = self._cpu = -1


def write_value(path: Path, value: object) -> None:
    """Write one of the kernel's files; raises ``OSError``."""
    # Not truncated: the kernel's files cannot be, and some say so.
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _write_if_there(path: Path, value: object) -> None:
    """Of limits that not every kernel has."""
    with contextlib.suppress(OSError):
        write_value(path, value)


def _entry(text: str, name: str) -> int:
    """A number of a file of ``name number`` lines; 0 where there is none of this name."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return 0
