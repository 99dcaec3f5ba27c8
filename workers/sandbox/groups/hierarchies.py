"""Where this process may make control groups: what of the mounted hierarchies was handed over to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.cgroups import GroupParent, write_value

VARIABLE = "DUARENA_CGROUP"
"""Names the folder handed over to this user, below the mount of every hierarchy."""
MAIN = "main"
"""The group of the worker's own processes, beside those of engines: version 2 wants processes in leaves."""
NEEDED_V2 = ("memory", "pids")
NEEDED_V1 = ("memory", "pids", "freezer", "cpuacct")
OPTIONAL = "cpu"
"""Limits an engine to one core, where there is such a controller."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A hierarchy as it is mounted: ``root`` of it at ``point``."""

    root: str
    point: str

    def folder_of(self, group: str) -> Path:
        """Where a group, by its path in ``/proc/self/cgroup``, is to be seen."""
        inside = group.removeprefix(self.root) if self.root != "/" else group
        return Path(self.point, inside.lstrip("/"))


def find_parent(name: str = "") -> GroupParent | None:
    """The folder in which this process may make groups; ``name`` is the one handed over, if any.

    Without a name its own group, where that is its own to divide, as under systemd with ``Delegate=yes``;
    this process then moves into a leaf of it, which fails while others are in it as well.
    """
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    own = dict(read_memberships(Path("/proc/self/cgroup").read_text()))
    return _unified_parent(mounts, own, name) or _legacy_parent(mounts, own, name)


def _unified_parent(mounts: Mapping[str, Mount], own: Mapping[str, str], name: str) -> GroupParent | None:
    if "" not in mounts:
        return None
    if name:
        folder = Path(mounts[""].point, name)
        return GroupParent({"": str(folder)}) if _offers(folder, "cgroup.subtree_control") else None
    mine = mounts[""].folder_of(own.get("", "/"))
    if _offers(mine.parent, "cgroup.subtree_control") and mine.name == MAIN:
        return GroupParent({"": str(mine.parent)})
    if not _offers(mine, "cgroup.controllers"):
        return None
    try:
        divide(mine)
    except OSError:
        return None
    return GroupParent({"": str(mine)}) if _offers(mine, "cgroup.subtree_control") else None


def divide(folder: Path) -> None:
    """Make a leaf for this process in its own group and hand the controllers on; raises ``OSError``."""
    (folder / MAIN).mkdir(exist_ok=True)
    write_value(folder / MAIN / "cgroup.procs", os.getpid())
    hand_on_controllers(folder)


def hand_on_controllers(folder: Path) -> None:
    """Let the groups in this folder have limits of their own; raises ``OSError``."""
    there = (folder / "cgroup.controllers").read_text().split()
    wanted = [name for name in (*NEEDED_V2, OPTIONAL) if name in there]
    write_value(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in wanted))


def _offers(folder: Path, file: str) -> bool:
    """Whether groups may be made here that have the controllers we need."""
    try:
        offered = (folder / file).read_text().split()
    except OSError:
        return False
    return set(NEEDED_V2) <= set(offered) and _is_ours(folder)


def _is_ours(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _legacy_parent(mounts: Mapping[str, Mount], own: Mapping[str, str], name: str) -> GroupParent | None:
    folders = {
        controller: Path(mounts[controller].point, name)
        if name
        else mounts[controller].folder_of(own[controller])
        for controller in (*NEEDED_V1, OPTIONAL)
        if controller in mounts and controller in own
    }
    folders = {controller: folder for controller, folder in folders.items() if _is_ours(folder)}
    if not set(NEEDED_V1) <= set(folders):
        return None
    return GroupParent({controller: str(folder) for controller, folder in folders.items()})


def read_mounts(mountinfo: str) -> Iterator[tuple[str, Mount]]:
    """The mounted hierarchies by controller, of the kernel's ``mountinfo``."""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = after.split(None, 2)
        if kind == "cgroup2":
            yield "", Mount(root, point)
        elif kind == "cgroup":
            for option in options.split(","):
                yield option, Mount(root, point)


def read_memberships(text: str) -> Iterator[tuple[str, str]]:
    """This process's groups by controller, of ``/proc/self/cgroup``."""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path
