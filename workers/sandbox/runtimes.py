"""The interpreters that this machine offers to bots, and their versions.

The first word of a bundle's command is one of its own files, a native Linux program, or one of these.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from engines.bundles.manifest import INTERPRETERS
from workers.sandbox.bwrap import INNER_ENVIRONMENT
from workers.sandbox.host import is_visible, worker_python

TITLES = {
    "python3": "Python",
    "node": "Node.js",
    "java": "Java",
    "sh": "POSIX shell",
    "perl": "Perl",
    "ruby": "Ruby",
    "lua": "Lua",
}
VERSION_OPTIONS = {"java": "-version", "lua": "-v"}
"""The option that prints the version, where it is not ``--version``. A POSIX shell has none."""
VERSION_SECONDS = 10
"""The time limit for a program to print its version."""
_NUMBER = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Runtime:
    """``word`` is the first word of a command; ``version`` is empty if the program does not print one."""

    word: str
    title: str
    version: str


def find_runtime(word: str) -> str | None:
    """The path of an interpreter that exists in the sandbox, or None.

    ``python3`` is the interpreter of the worker, because the SDK certainly runs on it.
    """
    if word == "python3":
        return worker_python().program
    if word not in INTERPRETERS:
        return None
    found = shutil.which(word, path=INNER_ENVIRONMENT["PATH"])
    return found if found is not None and is_visible(found) else None


@functools.cache
def offered_runtimes() -> Sequence[Runtime]:
    """The available interpreters in the order of ``INTERPRETERS``. The first call starts them all."""
    return tuple(
        Runtime(word, TITLES.get(word, word), _version(word, program))
        for word in INTERPRETERS
        if (program := find_runtime(word)) is not None
    )


def _version(word: str, program: str) -> str:
    if word == "sh":
        return os.path.basename(os.path.realpath(program))
    try:
        completed = subprocess.run(
            (program, VERSION_OPTIONS.get(word, "--version")),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _NUMBER.search(completed.stdout + completed.stderr)
    return match.group() if match else ""
