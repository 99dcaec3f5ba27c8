"""Makes folders reachable for an unprivileged user that lie below folders which only root may enter.

Such a folder may be the checkout or the interpreter. In a mount namespace of this process and its children,
every closed folder on the path is covered by an empty one that contains only the wanted folders. Other
processes do not see this, and no file or permission changes.
"""

from __future__ import annotations

import ctypes
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNS = 0x00020000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x80000
MNT_DETACH = 2


class OutOfReach(Exception):
    """A folder that cannot be made reachable; the text names it and says why."""


def closed_folders(path: Path, uid: int, gid: int) -> list[Path]:
    """The folders on the path to ``path``, including it, that the user cannot enter; outermost first."""
    return [folder for folder in (*reversed(path.parents), path) if not _may_enter(folder, uid, gid)]


def _may_enter(folder: Path, uid: int, gid: int) -> bool:
    status = folder.stat()
    if status.st_uid == uid:
        return bool(status.st_mode & stat.S_IXUSR)
    return bool(status.st_mode & (stat.S_IXGRP if status.st_gid == gid else stat.S_IXOTH))


def open_way(folders: Sequence[Path], links: Sequence[Path], uid: int, gid: int) -> None:
    """Make folders reachable for the user, in a mount namespace of this process; only root may call it.

    Does nothing if the user can reach all of them. ``links`` are symbolic links that are recreated where they
    are covered. Raises ``OutOfReach``.
    """
    places = sorted({path.resolve() for path in folders})
    closed = sorted({folder for path in places for folder in closed_folders(path, uid, gid)})
    for path in places:
        if path in closed:
            raise OutOfReach(f"other users cannot enter {path} (chmod o+rx lets them)")
    if not closed:
        return
    targets = list(_link_chain(links))
    library = ctypes.CDLL(None, use_errno=True)
    _call("unshare", library.unshare(CLONE_NEWNS))
    _mount(library, "none", "/", "", MS_REC | MS_SLAVE)
    with _staging_folder(library) as staging:
        _cover(library, staging, places, _outermost(closed))
    for link, target in targets:
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)


@contextmanager
def _staging_folder(library: ctypes.CDLL) -> Iterator[Path]:
    """An empty folder in memory; its path stays valid when the folders around it are covered."""
    parent = os.open(tempfile.gettempdir(), os.O_PATH | os.O_CLOEXEC)
    place = tempfile.mkdtemp(prefix="duarena-reach-")
    try:
        _mount(library, "duarena", place, "tmpfs", 0, "mode=700")
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        staging = f"/proc/self/fd/{handle}"
        try:
            yield Path(staging)
        finally:
            library.umount2(staging.encode(), MNT_DETACH)
            os.close(handle)
    finally:
        os.rmdir(os.path.basename(place), dir_fd=parent)
        os.close(parent)


def _cover(library: ctypes.CDLL, staging: Path, places: Sequence[Path], closed: Sequence[Path]) -> None:
    """Mount an empty folder over each closed one, then the wanted folders at their old paths in it."""
    hidden = [path for path in places if any(path.is_relative_to(folder) for folder in closed)]
    for number, path in enumerate(hidden):
        (staging / str(number)).mkdir()
        _mount(library, str(path), str(staging / str(number)), "", MS_BIND | MS_REC)
    for folder in closed:
        _mount(library, "duarena", str(folder), "tmpfs", 0, "mode=755")
    for number, path in enumerate(hidden):
        path.mkdir(parents=True, exist_ok=True)
        _mount(library, str(staging / str(number)), str(path), "", MS_BIND | MS_REC)


def _outermost(folders: Iterable[Path]) -> list[Path]:
    """The folders that lie in no other one."""
    found: list[Path] = []
    for folder in sorted(folders):
        if not any(folder.is_relative_to(other) for other in found):
            found.append(folder)
    return found


def _link_chain(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Every symbolic link, with its target, on the way from each path to its final file."""
    for path in paths:
        while path.is_symlink():
            target = os.readlink(path)
            yield path, target
            path = path.parent / target


def _mount(library: ctypes.CDLL, source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    words = (
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _call(f"mount on {target}", library.mount(*words))


def _call(what: str, result: int) -> None:
    if result != 0:
        raise OutOfReach(f"{what}: {os.strerror(ctypes.get_errno())}")
