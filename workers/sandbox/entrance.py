"""Continues as another user, with a control group of its own, when root started ``arena``.

    python -m workers.sandbox.entrance [--own FOLDER]... -- COMMAND...

The sandbox cannot confine root, so we avoid to run anything as root. The new user is the owner of the first
existing ``--own`` folder that is not root's; else the user ``duarena``, if it exists; else an unused number.
The new user becomes the owner of root's files in the ``--own`` folders. If another user than root started it,
that user stays, and only a control group is set up, where the system permits that.
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
DATA_FILES = ("lock", "db.sqlite3", "secret_key", "demo/lock", "demo/db.sqlite3")
"""A folder with one of these is a data folder of Duarena; only ``demo`` may have run in it so far."""


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
    enter(folders, command)
    os.execvp(command[0], command)


def enter(folders: Sequence[Path], command: Sequence[str]) -> None:
    """If this process is root, become another user and execute ``command``; this does not return.

    Returns if the process is not root, or must stay root. Raises ``OSError`` for a folder that cannot be
    created.
    """
    if os.geteuid() != 0:
        find_parent()
        return
    user = choose_user(folders)
    try:
        _prepare(folders, user)
        open_way([ROOT, Path(sys.base_prefix), *folders], [Path(sys.executable)], user.uid, user.gid)
    except OutOfReach as error:
        _say(f"started as root and stays root, so there is no sandbox: {error}")
        return
    _become(user, folders)
    sys.stdout.flush()
    os.execvp(command[0], list(command))


def choose_user(folders: Sequence[Path]) -> SystemUser:
    """The user to become."""
    for folder in folders:
        if folder.exists() and (status := folder.stat()).st_uid != 0:
            return SystemUser(status.st_uid, status.st_gid)
    try:
        known = pwd.getpwnam(NAME)
    except KeyError:
        return SystemUser(UNUSED, UNUSED)
    return SystemUser(known.pw_uid, known.pw_gid)


def _prepare(folders: Sequence[Path], user: SystemUser) -> None:
    """Create the folders, and give root's files in them to the user; raises ``OutOfReach``."""
    for folder in folders:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != 0:
            continue
        if any(folder.iterdir()) and not any((folder / name).exists() for name in DATA_FILES):
            raise OutOfReach(f"{folder} belongs to root and is not a data folder of Duarena")
        _say(f"started as root, continues as {user.login} ({user.uid}), who now owns {folder}")
        give_away(folder, user)


def give_away(folder: Path, user: SystemUser) -> None:
    """Make the user the owner of the folder and of root's files in it; links are not followed."""
    for path, names, files in os.walk(folder):
        for place in (path, *(os.path.join(path, name) for name in (*names, *files))):
            if os.lstat(place).st_uid == 0:
                os.lchown(place, user.uid, user.gid)


def _become(user: SystemUser, folders: Sequence[Path]) -> None:
    """Become the user, for good, in a control group of his own."""
    if (group := delegate(user.uid, user.gid)) is not None:
        os.environ[VARIABLE] = group
    home = str(folders[0]) if folders else "/"
    os.environ.update(HOME=home, USER=user.login, LOGNAME=user.login)
    os.setgroups([])
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _say(sentence: str) -> None:
    print(f"arena: {sentence}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
