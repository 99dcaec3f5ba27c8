"""What the sandbox needs of this machine: its system folders, mounted read-only, and its programs."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import engines
from engines import compiled
from workers.sandbox.bwrap import OUTER_ENVIRONMENT, SDK_FOLDER, Mounts

SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into ``/usr``; on older systems separate folders."""
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
NEEDED = {"bwrap": "bubblewrap", "prlimit": "util-linux", "sh": "dash"}
"""The programs, and the package of Debian and Ubuntu that contains each."""


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter for bots in Python: the worker's own, without the worker's installed packages."""

    program: str
    prefix: str


def find_program(name: str) -> str | None:
    """The path of a program that builds the sandbox, or None."""
    return shutil.which(name, path=OUTER_ENVIRONMENT["PATH"])


def missing_programs() -> list[str]:
    return [name for name in NEEDED if find_program(name) is None]


def worker_python() -> Python:
    """The interpreter of this process; in a virtual environment, the one that it is based on."""
    program = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return Python(program, os.path.realpath(sys.base_prefix))


@functools.cache
def sdk_folder() -> str:
    """The folder of the package ``engines``."""
    return str(Path(engines.__file__).resolve().parent)


def is_visible(path: str) -> bool:
    """Whether a program of this machine exists in the sandbox."""
    real = os.path.realpath(path)
    return any(real.startswith(f"{folder}/") for folder in ("/usr", worker_python().prefix))


def engine_mounts(folder: str) -> Mounts:
    """The mounts of an engine whose own folder is ``folder``."""
    links: dict[str, str] = {}
    binds = {"/usr": "/usr"}
    for name in SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            links[str(path)] = os.readlink(path)
        elif path.is_dir():
            binds[str(path)] = str(path)
    prefix = worker_python().prefix
    if not prefix.startswith("/usr"):
        binds[prefix] = prefix
    binds[f"{SDK_FOLDER}/engines"] = sdk_folder()
    optional = (*SYSTEM_FILES, *_java_settings())
    pure = {compiled.PURE_VARIABLE: "1"} if compiled.pure_is_asked_for() else {}
    return Mounts(folder, links, binds, optional, pure)


def _java_settings() -> list[str]:
    """Folders of Debian that ``/usr/lib/jvm`` links to."""
    return sorted(str(path) for path in Path("/etc").glob("java*") if path.is_dir())
