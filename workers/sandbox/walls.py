"""What one engine sees of the machine, as data, and the arguments of bwrap that make it so.

The engine's root holds the system's programs and libraries, its own folder and what is
named here, all read-only; ``/tmp`` and ``/dev/shm`` are its own and small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workers.sandbox.limits import Limits

ENGINE_FOLDER = "/engine"
SDK_FOLDER = "/sdk"
NO_TERMINALS = "/dev/pts"
"""Covered: terminals are few, and the whole machine's."""
NOBODY = 65534
"""Whom the engine takes itself for."""
OUTER_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""Of bwrap itself: an engine can read it in ``/proc/1/environ``."""
INNER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONPATH": SDK_FOLDER,
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True, slots=True)
class Walls:
    """``links`` and ``mounts`` go from a path inside to what it leads to, and to the path outside.

    All mounts are read-only. One of ``tried`` that is not there is left out.
    """

    folder: str
    """The engine's own, seen at ``/engine``."""
    links: Mapping[str, str] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)
    tried: tuple[str, ...] = ()
    """Files and folders seen where they lie."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside the usual ones."""


def bwrap_arguments(walls: Walls, limits: Limits, *, filter_at: int, status_at: int) -> bytes:
    """What bwrap reads from ``--args``: a NUL after each word. Descriptors are numbers in its own process."""
    words = (
        *_namespaces(),
        *_environment(walls),
        *_system(walls),
        *_own_folders(walls, limits),
        *("--seccomp", str(filter_at), "--json-status-fd", str(status_at)),
    )
    return b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def _namespaces() -> Iterator[str]:
    for name in ("user", "ipc", "pid", "net", "uts"):
        yield f"--unshare-{name}"
    yield from ("--unshare-cgroup-try", "--disable-userns")
    yield from ("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "engine")
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")


def _environment(walls: Walls) -> Iterator[str]:
    yield "--clearenv"
    for name, value in (INNER_ENVIRONMENT | dict(walls.environment)).items():
        yield from ("--setenv", name, value)


def _system(walls: Walls) -> Iterator[str]:
    for inside, target in walls.links.items():
        yield from ("--symlink", target, inside)
    for inside, outside in walls.mounts.items():
        yield from ("--ro-bind", outside, inside)
    for path in walls.tried:
        yield from ("--ro-bind-try", path, path)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", NO_TERMINALS)


def _own_folders(walls: Walls, limits: Limits) -> Iterator[str]:
    for inside in ("/dev/shm", "/tmp"):
        yield from ("--size", str(limits.tmp), "--perms", "1777", "--tmpfs", inside)
    yield from ("--ro-bind", walls.folder, ENGINE_FOLDER, "--chdir", ENGINE_FOLDER)
    # bwrap's own / and /dev would be writable without a bound; in /proc are its namespaces' limits.
    for inside in (NO_TERMINALS, "/dev", "/proc", "/"):
        yield from ("--remount-ro", inside)
