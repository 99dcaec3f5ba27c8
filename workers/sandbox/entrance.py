"""How ``arena`` goes on when root started it: as another user, to whom control groups were handed over.

    python -m workers.sandbox.entrance [--own FOLDER]... -- COMMAND...

Root is whom no wall holds, so nothing of ours runs as root where that can be helped. The user is the
owner of the first ``--own`` folder if that is not root; else ``duarena``, where there is such a user;
else a number that nobody has. What root owns of an ``--own`` folder is given to that user. For any
other user than root only the control group is looked after, where it may be divided.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.groups.handover import hand_over
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.reach import OutOfReach, open_way

NAME = "duarena"
UNUSED = 60550
"""Of the numbers that no system gives to anybody: 60514 to 60577, see systemd's "Users and Groups"."""
ROOT = Path(__file__).resolve().parent.parent.parent


MARKS = ("lock", "db.sqlite3", "secret_key", "demo/lock", "demo/db.sqlite3")
"""What a data folder of ours holds, any of them; the demonstration may have been first in it."""


@dataclass(frozen=True, slots=True)
class SystemUser:
    uid: int
    gid: int

    @property
    def login(self) -> str:
        """The name that programs are told."""
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
    """Go on as somebody else than root, with ``command``; returns where that is the case, or cannot be.

    Raises ``OSError`` for folders that cannot be made.
    """
    if os.geteuid() != 0:
        find_parent()
        return
    user = choose_user(folders)
    try:
        _prepare(folders, user)
        open_way([ROOT, Path(sys.base_prefix), *folders], [Path(sys.executable)], user.uid, user.gid)
    except OutOfReach as error:
        _say(f"started as root, and goes on as root, so without a sandbox: {error}")
        return
    _become(user, folders)
    sys.stdout.flush()
    os.execvp(command[0], list(command))


def choose_user(folders: Sequence[Path]) -> SystemUser:
    """Who is to go on."""
    for folder in folders:
        if folder.exists() and (status := folder.stat()).st_uid != 0:
            return SystemUser(status.st_uid, status.st_gid)
    try:
        known = pwd.getpwnam(NAME)
    except KeyError:
        return SystemUser(UNUSED, UNUSED)
    return SystemUser(known.pw_uid, known.pw_gid)


def _prepare(folders: Sequence[Path], user: SystemUser) -> None:
    """Make the folders, and give the user what of them is root's; raises ``OutOfReach``."""
    for folder in folders:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != 0:
            continue
        if any(folder.iterdir()) and not any((folder / mark).exists() for mark in MARKS):
            raise OutOfReach(f"{folder} is root's and holds what is not ours to give away")
        _say(f"started as root: {user.login} ({user.uid}) goes on, to whom {folder} belongs from now on")
        give_away(folder, user)


def give_away(folder: Path, user: SystemUser) -> None:
    """Make the user the owner of the folder and all in it that is root's; links are not followed."""
    for path, names, files in os.walk(folder):
        for place in (path, *(os.path.join(path, name) for name in (*names, *files))):
            if os.lstat(place).st_uid == 0:
                os.lchown(place, user.uid, user.gid)


def _become(user: SystemUser, folders: Sequence[Path]) -> None:
    """Go on as the user, in a control group of his; never to come back."""
    if (group := hand_over(user.uid, user.gid)) is not None:
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
