"""What this machine lends to engines: its system folders, read-only, and the programs that confine them."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import engines
from engines import compiled
from workers.sandbox.walls import OUTER_ENVIRONMENT, SDK_FOLDER, Walls

SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Beside ``/usr``: links into it, or folders of their own on older systems."""
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
NEEDED = {"bwrap": "bubblewrap", "prlimit": "util-linux", "sh": "dash"}
"""Programs, and the package of Debian and Ubuntu that brings each."""


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter that bots in Python run on: that of the worker, without the worker's packages."""

    program: str
    prefix: str


def find_program(name: str) -> str | None:
    """The path of one of the programs that make the walls."""
    return shutil.which(name, path=OUTER_ENVIRONMENT["PATH"])


def missing_programs() -> list[str]:
    return [name for name in NEEDED if find_program(name) is None]


def worker_python() -> Python:
    """The interpreter under this process's virtual environment, if it has one."""
    program = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return Python(program, os.path.realpath(sys.base_prefix))


@functools.cache
def sdk_folder() -> str:
    """The folder of the package ``engines``."""
    return str(Path(engines.__file__).resolve().parent)


def is_visible(path: str) -> bool:
    """Whether a program of this machine is to be seen inside."""
    real = os.path.realpath(path)
    return any(real.startswith(f"{folder}/") for folder in ("/usr", worker_python().prefix))


def walls_around(folder: str) -> Walls:
    """The walls of an engine in this folder, as this machine has to be seen through them."""
    links: dict[str, str] = {}
    mounts = {"/usr": "/usr"}
    for name in SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            links[str(path)] = os.readlink(path)
        elif path.is_dir():
            mounts[str(path)] = str(path)
    prefix = worker_python().prefix
    if not prefix.startswith("/usr"):
        mounts[prefix] = prefix
    mounts[f"{SDK_FOLDER}/engines"] = sdk_folder()
    tried = (*SYSTEM_FILES, *_java_settings())
    pure = {compiled.PURE_VARIABLE: "1"} if compiled.pure_is_asked_for() else {}
    return Walls(folder, links, mounts, tried, pure)


def _java_settings() -> list[str]:
    """Where Debian keeps what ``/usr/lib/jvm`` only links to."""
    return sorted(str(path) for path in Path("/etc").glob("java*") if path.is_dir())
