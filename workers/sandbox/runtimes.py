"""What this machine offers bots to run on, and in which versions.

A bundle's command begins with one of its own files, a native Linux program, or with one of these.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from workers.bundles.manifest import INTERPRETERS
from workers.sandbox.host import is_visible, worker_python
from workers.sandbox.walls import INNER_ENVIRONMENT

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
"""Beside ``--version``. A shell tells none."""
ASK_SECONDS = 10
_NUMBER = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Runtime:
    """``word`` is the command's first; ``version`` is empty where the program tells none."""

    word: str
    title: str
    version: str


def find_runtime(word: str) -> str | None:
    """The path of an interpreter that can be seen inside the sandbox, or None.

    ``python3`` is the interpreter of the worker, where the SDK runs for certain.
    """
    if word == "python3":
        return worker_python().program
    if word not in INTERPRETERS:
        return None
    found = shutil.which(word, path=INNER_ENVIRONMENT["PATH"])
    return found if found is not None and is_visible(found) else None


@functools.cache
def offered_runtimes() -> Sequence[Runtime]:
    """What is there, in the order of the table; asks each program once, some tenths of a second in all."""
    return tuple(
        Runtime(word, TITLES.get(word, word), _version(word, program))
        for word in INTERPRETERS
        if (program := find_runtime(word)) is not None
    )


def _version(word: str, program: str) -> str:
    if word == "sh":
        return os.path.basename(os.path.realpath(program))
    try:
        asked = subprocess.run(
            (program, VERSION_OPTIONS.get(word, "--version")),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _NUMBER.search(asked.stdout + asked.stderr)
    return match.group() if match else ""
