"""Finds where this process may create control groups, in the mounted hierarchies."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.cgroups import GroupParent, write_value
from workers.sandbox.levels import Want

VARIABLE = "DUARENA_CGROUP"
"""The name of the folder that was delegated to this user, below the mount of every hierarchy."""
MAIN = "main"
"""The group of the worker's own processes, beside engines' groups: version 2 has processes only in leaves."""
NEEDED_V2 = ("memory", "pids")
NEEDED_V1 = ("memory", "pids", "freezer", "cpuacct")
OPTIONAL = "cpu"
"""The controller that limits an engine to one core; used where it exists."""
DELEGATED_ATTRIBUTE = "user.delegate"
"""The extended attribute with which systemd marks a group that it leaves to its unit."""
NO_GROUP = Want(
    "a control group of this user's own, with limits on memory and processes",
    "start ./arena as root, which creates one and becomes another user, or under systemd with Delegate=yes",
)


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
    """The folder in which this process may create groups, or None; see ``look_for_parent``."""
    found = look_for_parent(name)
    return found if isinstance(found, GroupParent) else None


def look_for_parent(name: str = "") -> GroupParent | Want:
    """The folder in which this process may create groups, or what is missing; ``name`` is its name, if any.

    Without a name it is this process's own group, if the user may divide it, as under systemd with
    ``Delegate=yes``. This process then moves into a leaf of the group. If it is in a leaf already, as with
    ``DelegateSubgroup=main``, it is the group around the leaf.
    """
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    own = dict(read_memberships(Path("/proc/self/cgroup").read_text()))
    found = _unified_parent(mounts, own, name)
    return found if isinstance(found, GroupParent) else _legacy_parent(mounts, own, name) or found


def _unified_parent(mounts: Mapping[str, Mount], own: Mapping[str, str], name: str) -> GroupParent | Want:
    if "" not in mounts:
        return NO_GROUP
    if name:
        return divide(Path(mounts[""].point, name))
    mine = mounts[""].folder_of(own.get("", "/"))
    if _is_ours(mine.parent) and (mine.name == MAIN or is_delegated(mine.parent)):
        return divide(mine.parent)
    return divide(mine, leaf=MAIN)


def divide(folder: Path, leaf: str = "") -> GroupParent | Want:
    """Prepare a group of version 2 for engines' groups; ``leaf``: move this process there first.

    A group with a process of its own has no groups with limits, so all processes must be in leaves.
    """
    if not _is_ours(folder):
        return NO_GROUP
    try:
        if lacking := set(NEEDED_V2) - set((folder / "cgroup.controllers").read_text().split()):
            return _without_controllers(folder, lacking)
        if leaf:
            move_to_leaf(folder / leaf)
        enable_controllers(folder)
    except OSError as error:
        return _indivisible(folder, error)
    return GroupParent({"": str(folder)})


def is_delegated(folder: Path) -> bool:
    """Whether systemd has left this group to its unit, as with ``Delegate=yes``."""
    try:
        return os.getxattr(folder, DELEGATED_ATTRIBUTE) == b"1"
    except OSError:
        return False


def move_to_leaf(leaf: Path) -> None:
    """Create a group, if it is missing, and move this process there; raises ``OSError``."""
    leaf.mkdir(exist_ok=True)
    write_value(leaf / "cgroup.procs", os.getpid())


def enable_controllers(folder: Path) -> None:
    """Enable the controllers for the groups in this folder; raises ``OSError`` if a needed one stays off."""
    for name in NEEDED_V2:
        write_value(folder / "cgroup.subtree_control", f"+{name}")
    with contextlib.suppress(OSError):  # not delegated, or refused while a process has real-time priority
        write_value(folder / "cgroup.subtree_control", f"+{OPTIONAL}")


def _without_controllers(folder: Path, lacking: set[str]) -> Want:
    names = " and ".join(name for name in NEEDED_V2 if name in lacking)
    return Want(
        f"{names} among the controllers of the control group {folder}",
        "under systemd Delegate=yes gives all that the kernel has; on a kernel without memory,"
        " cgroup_enable=memory on its command line",
    )


def _indivisible(folder: Path, error: OSError) -> Want:
    if error.errno == errno.EBUSY:
        return Want(
            f"limits in the control group {folder}: it has processes of its own",
            "start the worker as the only process of its unit, or with DelegateSubgroup=main",
            may_pass=True,
        )
    return Want(
        f"limits in the control group {folder}: {error.strerror}",
        "this user needs its cgroup.procs and cgroup.subtree_control, and its cgroup.type must be domain",
    )


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
