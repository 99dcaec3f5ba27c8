"""Root's part of control groups: making a folder for engines' groups and handing it over to a user.

The folder, ``duarena-UID``, stays until the machine is switched off; each start takes it up again.
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
    hand_on_controllers,
    read_mounts,
)

FOLDER = "duarena-{uid}"
HANDED_OVER = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
"""Files of a folder whose new owner may move processes in it; see the kernel's "Delegation"."""
LEAF = "init"
"""Where the processes of a container go that stand in its topmost group."""


def hand_over(uid: int, gid: int) -> str | None:
    """Make the folder and give it to the user; returns the name it goes by, None where that cannot be.

    This process moves into it where version 2 asks for that. To be called as root.
    """
    mounts = dict(read_mounts(Path("/proc/self/mountinfo").read_text()))
    name = FOLDER.format(uid=uid)
    for way in (_unified, _legacy):
        try:
            if way(mounts, name, uid, gid):
                return name
        except OSError:
            continue  # not permitted in this container: the next way, or level B
    return None


def _unified(mounts: Mapping[str, Mount], name: str, uid: int, gid: int) -> bool:
    if "" not in mounts:
        return False
    top = Path(mounts[""].point)
    if not set(NEEDED_V2) <= set((top / "cgroup.controllers").read_text().split()):
        return False
    try:
        hand_on_controllers(top)
    except OSError:
        _empty(top)
        hand_on_controllers(top)
    folder = top / name
    _make(folder, uid, gid)
    hand_on_controllers(folder)
    _make(folder / MAIN, uid, gid)
    write_value(folder / MAIN / "cgroup.procs", os.getpid())
    return True


def _empty(top: Path) -> None:
    """Move a container's processes out of its topmost group: groups with limits below want it empty.

    Raises ``OSError`` on a machine's own topmost group, which has no such rule.
    """
    if not (top / "cgroup.type").exists():
        raise OSError(f"{top} cannot be divided")
    (top / LEAF).mkdir(exist_ok=True)
    for process in (top / "cgroup.procs").read_text().split():
        write_value(top / LEAF / "cgroup.procs", process)


def _legacy(mounts: Mapping[str, Mount], name: str, uid: int, gid: int) -> bool:
    if not set(NEEDED_V1) <= set(mounts):
        return False
    for controller in (*NEEDED_V1, OPTIONAL):
        if controller in mounts:
            _make(Path(mounts[controller].point, name), uid, gid)
    return True


def _make(folder: Path, uid: int, gid: int) -> None:
    folder.mkdir(exist_ok=True)
    os.chown(folder, uid, gid)
    for name in HANDED_OVER:
        if (folder / name).exists():
            os.chown(folder / name, uid, gid)
