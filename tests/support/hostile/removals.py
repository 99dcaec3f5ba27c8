"""Removes protections of the sandbox one by one, to show that an attack then succeeds.

Each changes this process permanently: call it only in a worker inside an outer sandbox.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.hostile.programs.files import MACHINE
from workers.sandbox import process
from workers.sandbox.filter.bpf import assemble, return_value
from workers.sandbox.filter.seccomp import ALLOW
from workers.sandbox.limits import MEBIBYTE, prlimit_words
from workers.sandbox.process import SandboxedProcess
from workers.sandbox.sandbox import SAMPLER, Sandbox

Removal = Callable[[Sandbox, Path], Sandbox]
"""Removes a protection from the sandbox; the second argument is the trial's folder."""
Words = list[str]


def remove_protections(names: tuple[str, ...], sandbox: Sandbox, folder: Path) -> Sandbox:
    for name in names:
        sandbox = REMOVALS[name](sandbox, folder)
    return sandbox


def _without(*names: str, values: int = 0) -> Removal:
    """Omit these options of bwrap, each with this number of values."""

    def edit(words: Words, _: Path) -> Words:
        for name in names:
            at = words.index(name)
            del words[at : at + 1 + values]
        return words

    return _edited(edit)


def _instead(old: tuple[str, ...], new: tuple[str, ...]) -> Removal:
    """Replace ``old`` by ``new``; ``*`` stands for any one word, ``{folder}`` for the trial's folder."""

    def edit(words: Words, folder: Path) -> Words:
        for at in range(len(words)):
            there = words[at : at + len(old)]
            if len(there) == len(old) and all(
                word in ("*", is_there) for word, is_there in zip(old, there, strict=True)
            ):
                words[at : at + len(old)] = [
                    there[old.index("*")] if word == "*" else word.replace("{folder}", str(folder))
                    for word in new
                ]
                return words
        raise AssertionError(f"no {old} in {words}")

    return _edited(edit)


def _beside(*paths: str) -> Removal:
    """Also mount these folders of the machine."""

    def edit(words: Words, folder: Path) -> Words:
        places = [path.replace("{folder}", str(folder)) for path in paths]
        shown = [word for place in places for word in ("--ro-bind-try", place, place)]
        at = words.index("--remount-ro")
        return words[:at] + shown + words[at:]

    return _edited(edit)


def _edited(edit: Callable[[Words, Path], Words]) -> Removal:
    def remove(sandbox: Sandbox, folder: Path) -> Sandbox:
        usual = vars(process)["bwrap_arguments"]

        def arguments(*values: Any, **named: Any) -> bytes:
            words = usual(*values, **named).decode().split("\0")[:-1]
            return "".join(f"{word}\0" for word in edit(words, folder)).encode()

        patch.object(process, "bwrap_arguments", arguments).start()
        return sandbox

    return remove


def _limit(**fields: int) -> Removal:
    return lambda sandbox, _: replace(sandbox, limits=replace(sandbox.limits, **fields))


def _prlimit(old: str, new: str) -> Removal:
    def remove(sandbox: Sandbox, _: Path) -> Sandbox:
        usual = vars(process)["inner_words"]
        patch.object(
            process,
            "inner_words",
            lambda limits: tuple(new if word == old else word for word in usual(limits)),
        ).start()
        return sandbox

    return remove


def _first_process(sandbox: Sandbox, _: Path) -> Sandbox:
    patch.object(process, "inner_words", prlimit_words).start()
    return sandbox


def _filter(sandbox: Sandbox, _: Path) -> Sandbox:
    return replace(sandbox, tools=replace(sandbox.tools, filter=assemble([return_value(ALLOW)])))


def _memory(sandbox: Sandbox, _: Path) -> Sandbox:
    patch.object(SAMPLER, "watch").start()
    return replace(sandbox, parent=None)


def _environment(sandbox: Sandbox, _: Path) -> Sandbox:
    patch.object(SandboxedProcess, "environment", os.environ).start()
    return sandbox


def _rest(sandbox: Sandbox, _: Path) -> Sandbox:
    patch.object(SandboxedProcess, "freeze").start()
    return sandbox


def _started_with(**changes: Any) -> Removal:
    """Start engines with these arguments of ``Popen``."""

    def remove(sandbox: Sandbox, _: Path) -> Sandbox:
        usual = subprocess.Popen

        def start(*values: Any, pass_fds: tuple[int, ...] = (), **named: Any) -> Any:
            if not pass_fds:
                return usual(*values, **named)  # no engine
            for descriptor in pass_fds:
                os.set_inheritable(descriptor, True)
            kept = {} if "close_fds" in changes else {"pass_fds": pass_fds}
            return usual(*values, **{**named, **kept, **changes})

        patch.object(subprocess, "Popen", start).start()
        return sandbox

    return remove


REMOVALS: dict[str, Removal] = {
    "namespace of processes": _without("--unshare-pid"),
    "namespace of the network": _without("--unshare-net"),
    "namespace of messages": _without("--unshare-ipc"),
    "namespace of names": lambda sandbox, folder: _without("--hostname", values=1)(
        _without("--unshare-uts")(sandbox, folder), folder
    ),
    "no namespaces within": _without("--disable-userns"),
    "folders not shown": _beside("{folder}"),
    "machine not shown": _beside(*(path for path in MACHINE if not path.startswith(("/sys", "/proc")))),
    "own /tmp": _instead(
        ("--size", "*", "--perms", "1777", "--tmpfs", "/tmp"), ("--bind", "{folder}/shared", "/tmp")
    ),
    "read-only folder": _instead(("--ro-bind", "*", "/engine"), ("--bind", "*", "/engine")),
    "closed root": _instead(("--remount-ro", "/"), ()),
    "read-only /proc": _instead(("--remount-ro", "/proc"), ()),
    "own devices": lambda sandbox, folder: _instead(("--dev", "/dev"), ("--dev-bind", "/dev", "/dev"))(
        _instead(("--remount-ro", "/dev"), ())(sandbox, folder), folder
    ),
    "system call filter": _filter,
    "memory": _memory,
    "environment of bwrap": _environment,
    "empty environment": _without("--clearenv"),
    "closed descriptors": _started_with(close_fds=False),
    "no terminals": lambda sandbox, folder: _without("--tmpfs", values=1)(
        _instead(("--remount-ro", "/dev/pts"), ())(sandbox, folder), folder
    ),
    "session of bwrap": _without("--new-session"),
    "session of the worker": _started_with(start_new_session=False, process_group=0),
    "rest": _rest,
    "limit of processes": _limit(processes=300),
    "limit of descriptors": _limit(open_files=1500),
    "limit of file sizes": _limit(file_size=128 * MEBIBYTE),
    "limit of /tmp": _limit(tmp=128 * MEBIBYTE),
    "limit of signals": _limit(pending_signals=5000),
    "limit of locked memory": _limit(locked_memory=4 * MEBIBYTE),
    "limit of message queues": _prlimit("--msgqueue=0:0", "--msgqueue=819200:819200"),
    "limits of the first process": _first_process,
    "hard limits": _prlimit("--nofile=256:256", "--nofile=256:1024"),
}
