"""Continues as another user, with a control group of its own, when root started ``arena``.

    python -m workers.sandbox.entrance [--own FOLDER]... -- COMMAND...

Nothing of ``arena`` runs as root. The new user is the owner of the first existing ``--own`` folder that is
not root's; else the user ``duarena``, if it exists; else an unused number. Missing ``--own`` folders are
created for that user, and an empty one of root's is given to it; no other file changes its owner. If another
user than root started it, that user stays, and only a control group is set up, where the system permits that.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.delegation import delegate
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.reach import OutOfReach, open_way

NAME = "duarena"
UNUSED = 60550
"""One of the numbers that no system assigns to a user, 60514 to 60577: see systemd's "Users and Groups"."""
ROOT = Path(__file__).resolve().parent.parent.parent
STARTED_BY_ROOT = "DUARENA_STARTED_BY_ROOT"
"""``1``: root started this; set here."""


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

    Returns only if the process is not root. Raises ``CannotEnter``, and ``OSError`` for a folder that cannot
    be created.
    """
    if os.geteuid() != 0:
        find_parent()
        return
    user = choose_user(folders)
    try:
        for folder in folders:
            _hand_over(folder, user)
        open_way([ROOT, Path(sys.base_prefix), *folders], [Path(sys.executable)], user.uid, user.gid)
    except OutOfReach as error:
        raise CannotEnter(
            "started as root, which runs no part of a site, and cannot continue as"
            f" {user.login} ({user.uid}): {error}. Start it as an ordinary user"
        ) from None
    _become(user, folders)
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

    Raises ``OutOfReach`` for a folder of root's that has files. Those of other users do not change.
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
            raise OutOfReach(f"{folder} belongs to root and is not empty")
        os.fchown(descriptor, user.uid, user.gid)
    finally:
        os.close(descriptor)
    _say(f"started as root, continues as {user.login} ({user.uid}), who now owns {folder}")


def _become(user: SystemUser, folders: Sequence[Path]) -> None:
    """Become the user, for good, in a control group of his own."""
    if (group := delegate(user.uid, user.gid)) is not None:
        os.environ[VARIABLE] = group
    home = str(folders[0]) if folders else "/"
    os.environ.update({"HOME": home, "USER": user.login, "LOGNAME": user.login, STARTED_BY_ROOT: "1"})
    os.setgroups([])
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _say(sentence: str) -> None:
    print(f"arena: {sentence}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
