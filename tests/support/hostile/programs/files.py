"""Attacks with files: reading those of others, writing everywhere, and creating too many."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

from .limits import MAX_SECONDS, secrets_in

MEBIBYTE = 1024 * 1024
MAX_BYTES = 100 * MEBIBYTE
HOLE = 64 * MEBIBYTE
MAX_FILES = 600_000
LEVEL_B_SECONDS = 4.0
"""Much longer than the half second between two samples of the memory at level B."""
MAX_DESCRIPTORS = 1000
PIECE = 10 * MEBIBYTE
DEVICES = {
    *("console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"),
    *("tty", "urandom", "zero"),
}
MACHINE = (
    *("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/hostname", "/etc/machine-id", "/var", "/run", "/sys"),
    *("/boot", "/proc/1/root/var"),
)
SET_USER_PROGRAMS = ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount")


def read_secret(facts: dict[str, Any]) -> list[str]:
    with open(facts["secret"], "rb") as file:
        return secrets_in(file.read())


def read_opponent(facts: dict[str, Any]) -> list[str]:
    """The files of the engine it plays against."""
    return sorted(os.listdir(facts["opponent"]))


def know_the_machine(_: dict[str, Any]) -> list[str]:
    return [path for path in MACHINE if os.path.exists(path)]


def know_its_name(_: dict[str, Any]) -> str:
    return os.uname().nodename


def see_devices(_: dict[str, Any]) -> list[str]:
    return sorted(set(os.listdir("/dev")) - DEVICES)


def write_everywhere(_: dict[str, Any]) -> list[str]:
    """The folders, three deep, in which it could make a file, except its own ``/tmp`` and ``/dev/shm``."""
    return [folder for folder in _folders("/", 3) if _takes_a_file(folder)]


def rewrite_itself(_: dict[str, Any]) -> list[str]:
    """Change its own program for later games, in every way available."""
    done = []
    path = os.path.abspath(__file__)
    ways: dict[str, Callable[[], object]] = {
        "append": lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)),
        "rename": lambda: os.rename(path, path + "2"),
        "remove": lambda: os.remove(path),
        "mode": lambda: os.chmod(path, 0o777),
        "link": lambda: os.symlink("/etc", os.path.join(os.path.dirname(path), "link")),
        "times": lambda: os.utime(path, (0, 0)),
        "cache": lambda: os.mkdir(os.path.join(os.path.dirname(path), "__pycache__")),
    }
    for name, change in ways.items():
        with contextlib.suppress(OSError):
            change()
            done.append(name)
    return done


def fill_the_disk(_: dict[str, Any]) -> int:
    """The megabytes of files it could write."""
    written = 0
    with contextlib.suppress(OSError):
        for number in range(MAX_BYTES // PIECE):
            with open(f"/tmp/{number}", "wb", 0) as file:
                for _part in range(PIECE // MEBIBYTE):
                    written += file.write(b"x" * MEBIBYTE)
    return written // MEBIBYTE


def use_up_inodes(_: dict[str, Any]) -> int:
    """The number of empty files it could make in the time."""
    made, end = 0, time.monotonic() + LEVEL_B_SECONDS
    with contextlib.suppress(OSError):
        while made < MAX_FILES and time.monotonic() < end:
            os.close(os.open(f"/tmp/{made:x}", os.O_CREAT | os.O_WRONLY))
            made += 1
    return made


def dig_deep(_: dict[str, Any]) -> int:
    """The number of nested folders it could make in the time."""
    os.chdir("/tmp")
    made, end = 0, time.monotonic() + LEVEL_B_SECONDS
    with contextlib.suppress(OSError):
        while made < MAX_FILES and time.monotonic() < end:
            os.mkdir("d")
            os.chdir("d")
            made += 1
    os.chdir("/")
    return made


def make_a_huge_file(_: dict[str, Any]) -> int:
    """The size of the sparse file it could make."""
    with open("/tmp/huge", "wb") as file:
        os.truncate(file.fileno(), HOLE)
    return os.stat("/tmp/huge").st_size


def use_up_descriptors(_: dict[str, Any]) -> int:
    opened: list[int] = []
    with contextlib.suppress(OSError):
        while len(opened) < MAX_DESCRIPTORS:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    for descriptor in opened:
        os.close(descriptor)
    return len(opened)


def find_descriptors(_: dict[str, Any]) -> list[str]:
    """The open descriptors beside its three standard streams, with the secrets found in them."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if int(name) > 2:
                found.append(os.readlink(f"/proc/self/fd/{name}"))
                found += secrets_in(os.pread(int(name), 4096, 0))
    return [what for what in found if not what.startswith("/proc/")]


def become_root(_: dict[str, Any]) -> list[int]:
    """The user IDs that set-user-ID programs ran as, and its own after it tried to become root."""
    users = set()
    for program in filter(os.path.exists, SET_USER_PROGRAMS):
        with subprocess.Popen((program,), stdin=subprocess.PIPE, stdout=-3, stderr=-3) as process:
            with contextlib.suppress(OSError):
                users.add(os.stat(f"/proc/{process.pid}").st_uid)
            process.kill()
    with contextlib.suppress(OSError):
        os.setuid(0)
    return sorted(users | {os.getuid()})


def dump_core(_: dict[str, Any]) -> list[str]:
    """The core dumps it could leave."""
    os.chdir("/tmp")
    with subprocess.Popen(("sh", "-c", "kill -SEGV $$")) as process:
        process.wait(MAX_SECONDS)
    return [name for name in os.listdir("/tmp") if name.startswith("core")]


def _folders(top: str, depth: int) -> Iterator[str]:
    if top in ("/proc", "/tmp", "/dev/shm"):
        return
    yield top
    if depth:
        with contextlib.suppress(OSError), os.scandir(top) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _folders(entry.path, depth - 1)


def _takes_a_file(folder: str) -> bool:
    path = os.path.join(folder, "hostile-file")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.remove(path)
    except OSError:
        return False
    return stat.S_ISDIR(os.stat(folder).st_mode)
