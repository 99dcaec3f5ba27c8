"""Root's part of control groups: creates a folder for engines' groups and delegates it to a user.

The folder, ``duarena-UID``, exists until the machine is switched off; each start uses it again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from workers.sandbox.groups.cgroups import write_value
from workers.sandbox.groups.hierarchies import (
    MAIN,
    NEEDED_V1,
    NEEDED_V2,
    OPTIONAL,
    Mount,
    enable_controllers,
    read_mounts,
)

FOLDER = "duarena-{uid}"
DELEGATED = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
"""The files that the new owner must be able to write; see "Delegation" in the kernel's documentation."""
LEAF = "init"
"""The group for the processes of a container that are in its root group."""


def delegate(uid: int, gid: int) -> str | None:
    """Create the folder and give it to the user; returns its name, or None if the system does not permit it.

    With version 2 this process moves into the folder. Only root may call this.
    """
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    name = FOLDER.format(uid=uid)
    for delegate_version in (_delegate_unified, _delegate_legacy):
        try:
            if delegate_version(mounts, name, uid, gid):
                return name
        except OSError:
            continue  # not permitted in this container: try the other version, else level B
    return None


def _delegate_unified(mounts: Mapping[str, Mount], name: str, uid: int, gid: int) -> bool:
    if "" not in mounts:
        return False
    top = Path(mounts[""].point)
    if not set(NEEDED_V2) <= set((top / "cgroup.controllers").read_text().split()):
        return False
    try:
        enable_controllers(top)
    except OSError:
        _move_processes_to_leaf(top)
        enable_controllers(top)
    folder = top / name
    _make(folder, uid, gid)
    enable_controllers(folder)
    _make(folder / MAIN, uid, gid)
    write_value(folder / MAIN / "cgroup.procs", os.getpid())
    return True


def _move_processes_to_leaf(top: Path) -> None:
    """Move a container's processes out of its root group: controllers are enabled only in an empty group.

    Raises ``OSError`` for the root group of the machine itself, which need not be empty.
    """
    if not (top / "cgroup.type").exists():
        raise OSError(f"{top} is not the root group of a container")
    (top / LEAF).mkdir(exist_ok=True)
    for process in (top / "cgroup.procs").read_text().split():
        write_value(top / LEAF / "cgroup.procs", process)


def _delegate_legacy(mounts: Mapping[str, Mount], name: str, uid: int, gid: int) -> bool:
    if not set(NEEDED_V1) <= set(mounts):
        return False
    for controller in (*NEEDED_V1, OPTIONAL):
        if controller in mounts:
            _make(Path(mounts[controller].point, name), uid, gid)
    return True


def _make(folder: Path, uid: int, gid: int) -> None:
    folder.mkdir(exist_ok=True)
    os.chown(folder, uid, gid)
    for name in DELEGATED:
        if (folder / name).exists():
            os.chown(folder / name, uid, gid)
