"""Finds where this process may create control groups, in the mounted hierarchies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.cgroups import GroupParent, write_value

VARIABLE = "DUARENA_CGROUP"
"""The name of the folder that was delegated to this user, below the mount of every hierarchy."""
MAIN = "main"
"""The group of the worker's own processes, beside engines' groups: version 2 has processes only in leaves."""
NEEDED_V2 = ("memory", "pids")
NEEDED_V1 = ("memory", "pids", "freezer", "cpuacct")
OPTIONAL = "cpu"
"""The controller that limits an engine to one core; used where it exists."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted hierarchy: its group ``root`` is mounted at ``point``."""

    root: str
    point: str

    def folder_of(self, group: str) -> Path:
        """The folder of a group, given by its path in ``/proc/self/cgroup``."""
        inside = group.removeprefix(self.root) if self.root != "/" else group
        return Path(self.point, inside.lstrip("/"))


def find_parent(name: str = "") -> GroupParent | None:
    """The folder in which this process may create groups, or None; ``name`` is the delegated folder, if any.

    Without a name it is this process's own group, if the user may divide it, as under systemd with
    ``Delegate=yes``. This process then moves into a leaf of the group, which fails while other processes are
    in the group.
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
        move_to_leaf(mine)
    except OSError:
        return None
    return GroupParent({"": str(mine)}) if _offers(mine, "cgroup.subtree_control") else None


def move_to_leaf(folder: Path) -> None:
    """Create a leaf in this process's group, move to it and enable the controllers; raises ``OSError``."""
    (folder / MAIN).mkdir(exist_ok=True)
    write_value(folder / MAIN / "cgroup.procs", os.getpid())
    enable_controllers(folder)


def enable_controllers(folder: Path) -> None:
    """Enable the controllers for the groups in this folder; raises ``OSError``."""
    there = (folder / "cgroup.controllers").read_text().split()
    wanted = [name for name in (*NEEDED_V2, OPTIONAL) if name in there]
    write_value(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in wanted))


def _offers(folder: Path, file: str) -> bool:
    """Whether this process may create groups here with the controllers that ``file`` lists and we need."""
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
    """The mounted hierarchies by controller, from the text of ``/proc/self/mountinfo``."""
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
    """This process's groups by controller, from the text of ``/proc/self/cgroup``."""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path
