"""Continues as another user, with a control group of its own, when root started ``arena``.

    python -m workers.sandbox.entrance [--own FOLDER]... -- COMMAND...

Nothing of ``arena`` runs as root. The new user is the owner of the first existing ``--own`` folder that is
not root's; else the user ``duarena``, if it exists; else an unused number. Missing ``--own`` folders are
created for that user, and an empty one of root's is given to it; no other file changes its owner. If another
user than root started it, that user stays, and only a control group is set up, where the system permits that.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.delegation import delegate
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent

NAME = "duarena"
UNUSED = 60550
"""One of the numbers that no system assigns to a user, 60514 to 60577: see systemd's "Users and Groups"."""
ROOT = Path(__file__).resolve().parent.parent.parent
STARTED_BY_ROOT = "DUARENA_STARTED_BY_ROOT"
"""``1``: root started this; set here."""
CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_SLAVE = 0x1000, 0x4000, 0x80000


class CannotEnter(Exception):
    """Root cannot become another user here; the text is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class SystemUser:
    uid: int
    gid: int

    @property
    def login(self) -> str:
        """The value of ``USER`` and ``LOGNAME``."""
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return NAME


def main(arguments: Sequence[str]) -> int:
    cut = list(arguments).index("--")
    folders = [Path(word).resolve() for word in arguments[:cut] if word != "--own"]
    command = list(arguments[cut + 1 :])
    try:
        enter(folders, command)
        os.execvp(command[0], command)
    except CannotEnter as error:
        print(f"arena: {error}", file=sys.stderr)
    return 1


def enter(folders: Sequence[Path], command: Sequence[str]) -> None:
    """If this process is root, become another user and execute ``command``; this does not return.

    Returns only if the process is not root. Raises ``CannotEnter``, after which this process may be the other
    user already, and ``OSError`` for a folder that cannot be created.
    """
    if os.geteuid() != 0:
        find_parent()
        return
    user = choose_user(folders)
    for folder in folders:
        _hand_over(folder, user)
    places = [ROOT, Path(sys.base_prefix), Path(sys.executable).parent, *folders]
    _open_way(sorted(places), user)
    _become(user, folders)
    for place in (*places, Path(sys.executable)):
        if (closed := _closed_folder(place)) is not None:
            raise CannotEnter(
                f"started as root, which runs no part of a site, and cannot continue as {user.login}"
                f" ({user.uid}), who cannot enter {closed}: let all users pass with `chmod a+x {closed}`, or"
                " start it as an ordinary user"
            )
    sys.stdout.flush()
    os.execvp(command[0], list(command))


def choose_user(folders: Sequence[Path]) -> SystemUser:
    """The user to become; neither its number nor its group is root's."""
    for folder in folders:
        if folder.exists() and (status := folder.stat()).st_uid != 0:
            return SystemUser(status.st_uid, status.st_gid or UNUSED)
    try:
        known = pwd.getpwnam(NAME)
    except KeyError:
        return SystemUser(UNUSED, UNUSED)
    return SystemUser(known.pw_uid or UNUSED, known.pw_gid or UNUSED)


def _hand_over(folder: Path, user: SystemUser) -> None:
    """Create a missing folder for the user, or make the user the owner of an empty one of root's.

    Raises ``CannotEnter`` for a folder of root's that has files. Those of other users do not change.
    """
    for path in (*reversed(folder.parents), folder):
        try:
            path.mkdir(mode=0o700 if path == folder else 0o755)
        except FileExistsError:
            if path != folder:
                continue
        _make_owner(path, user)


def _make_owner(folder: Path, user: SystemUser) -> None:
    # Through a descriptor: the folder that is found empty is the one that is given away.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != 0:
            return
        if os.listdir(descriptor):
            raise CannotEnter(
                f"{folder} belongs to root and is not empty, but no part of a site runs as root: give it to"
                " an ordinary user with chown -R, or choose another folder with --data"
            )
        os.fchown(descriptor, user.uid, user.gid)
    finally:
        os.close(descriptor)
    _say(f"started as root, continues as {user.login} ({user.uid}), who now owns {folder}")


def _open_way(places: Sequence[Path], user: SystemUser) -> None:
    """Let the user reach the places below folders that only root may enter, such as ``/root``.

    In a mount namespace of this process and its children an empty folder covers each closed one, and has only
    the places; other processes do not see it. Does nothing where that is not needed or not permitted.
    """
    os.setgroups([])
    os.setegid(user.gid)
    os.seteuid(user.uid)
    found = {_closed_folder(place) for place in places}
    os.seteuid(0)
    os.setegid(0)
    closed = [folder for folder in found if folder is not None and folder not in places]
    library = ctypes.CDLL(None)
    library.mount.argtypes = (*[ctypes.c_char_p] * 3, ctypes.c_ulong, ctypes.c_char_p)
    if not closed or library.unshare(CLONE_NEWNS) != 0:
        return
    library.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None)
    hidden = [place for place in places if any(place.is_relative_to(folder) for folder in closed)]
    held = [os.open(place, os.O_PATH) for place in hidden]
    for folder in closed:
        library.mount(b"duarena", bytes(folder), b"tmpfs", 0, b"mode=755")
    for place, descriptor in zip(hidden, held, strict=True):
        place.mkdir(parents=True, exist_ok=True)
        library.mount(b"/proc/self/fd/%d" % descriptor, bytes(place), None, MS_BIND | MS_REC, None)


def _closed_folder(path: Path) -> Path | None:
    """The first folder on the way to a path, or the path itself, that this process cannot enter."""
    ways = ((*reversed(way.parents), way) for way in (path, path.resolve()))
    return next((one for way in ways for one in way if not os.access(one, os.X_OK, effective_ids=True)), None)


def _become(user: SystemUser, folders: Sequence[Path]) -> None:
    """Become the user, for good, in a control group of his own."""
    if (group := delegate(user.uid, user.gid)) is not None:
        os.environ[VARIABLE] = group
    home = str(folders[0]) if folders else "/"
    os.environ.update({"HOME": home, "USER": user.login, "LOGNAME": user.login, STARTED_BY_ROOT: "1"})
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _say(sentence: str) -> None:
    print(f"arena: {sentence}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
