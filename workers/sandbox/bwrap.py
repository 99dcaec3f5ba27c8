"""What one engine sees of the machine, as data, and the arguments of bubblewrap that produce it.

The engine's root holds the system's programs and libraries, the engine's folder and the mounts named here,
all read-only; ``/tmp`` and ``/dev/shm`` are private, writable and limited in size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workers.sandbox.limits import Limits

ENGINE_FOLDER = "/engine"
SDK_FOLDER = "/sdk"
TERMINALS = "/dev/pts"
"""Covered by an empty folder: the whole machine shares a limited number of terminals."""
NOBODY = 65534
"""The user and group number that the engine sees as its own."""
OUTER_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""The environment of bwrap itself; an engine can read it in ``/proc/1/environ``."""
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
class Mounts:
    """The files and the environment that an engine sees. All mounts are read-only."""

    folder: str
    """The engine's own folder on this machine; mounted at ``/engine``."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links: path in the sandbox to link target."""
    binds: Mapping[str, str] = field(default_factory=dict)
    """Path in the sandbox to path on this machine."""
    optional: tuple[str, ...] = ()
    """Files and folders that have the same path in the sandbox; left out where they do not exist."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables in addition to ``INNER_ENVIRONMENT``."""


def bwrap_arguments(mounts: Mounts, limits: Limits, *, filter_at: int, status_at: int) -> bytes:
    """The arguments for ``bwrap --args``, each ended by a NUL.

    ``filter_at`` and ``status_at`` are descriptors of the bwrap process.
    """
    words = (
        *_namespaces(),
        *_environment(mounts),
        *_system(mounts),
        *_own_folders(mounts, limits),
        *("--seccomp", str(filter_at), "--json-status-fd", str(status_at)),
    )
    return b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def _namespaces() -> Iterator[str]:
    for name in ("user", "ipc", "pid", "net", "uts"):
        yield f"--unshare-{name}"
    yield from ("--unshare-cgroup-try", "--disable-userns")
    yield from ("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "engine")
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")


def _environment(mounts: Mounts) -> Iterator[str]:
    yield "--clearenv"
    for name, value in (INNER_ENVIRONMENT | dict(mounts.environment)).items():
        yield from ("--setenv", name, value)


def _system(mounts: Mounts) -> Iterator[str]:
    for inside, target in mounts.links.items():
        yield from ("--symlink", target, inside)
    for inside, outside in mounts.binds.items():
        yield from ("--ro-bind", outside, inside)
    for path in mounts.optional:
        yield from ("--ro-bind-try", path, path)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", TERMINALS)


def _own_folders(mounts: Mounts, limits: Limits) -> Iterator[str]:
    for inside in ("/dev/shm", "/tmp"):
        yield from ("--size", str(limits.tmp), "--perms", "1777", "--tmpfs", inside)
    yield from ("--ro-bind", mounts.folder, ENGINE_FOLDER, "--chdir", ENGINE_FOLDER)
    # bwrap makes / and /dev writable without a size limit; /proc holds the limits of the namespaces.
    for inside in (TERMINALS, "/dev", "/proc", "/"):
        yield from ("--remount-ro", inside)
