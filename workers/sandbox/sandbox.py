"""This machine's sandbox: prepares the sandboxed process of an engine from its command and folder."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from pathlib import Path

from workers.sandbox.bwrap import ENGINE_FOLDER
from workers.sandbox.filter.seccomp import filter_program
from workers.sandbox.groups.cgroups import GroupParent
from workers.sandbox.host import engine_mounts, find_program, is_visible
from workers.sandbox.limits import Limits
from workers.sandbox.process import SandboxedProcess, SandboxTools
from workers.sandbox.runtimes import find_runtime
from workers.sandbox.sampler import Sampler
from workers.sandbox.withheld import PRESSURE, RUN_DELAY, has_run_delays

SAMPLER = Sampler()


class NoSandbox(Exception):
    """This machine has no sandbox; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How engines are confined here. Without ``parent`` there is no control group: level B."""

    tools: SandboxTools
    parent: GroupParent | None
    limits: Limits = field(default_factory=Limits)

    @property
    def description(self) -> str:
        """The level, and how an engine is suspended while its opponent thinks."""
        return "level B, SIGSTOP" if self.parent is None else "level A, freezer"

    @property
    def withheld_source(self) -> str:
        """What counts how long engines wait for their core; empty if the kernel has nothing."""
        if self.parent is not None and self.parent.has_pressure:
            return PRESSURE
        return RUN_DELAY if has_run_delays() else ""

    def prepare(self, command: tuple[str, ...], folder: Path) -> SandboxedProcess:
        """The process for a command that runs in ``folder``, not started yet; the caller must ``end`` it.

        Raises ``OSError`` if the machine fails, as for a full disk.
        """
        group = None if self.parent is None else self.parent.plan(self.limits)
        return SandboxedProcess(
            self.tools, engine_mounts(str(folder)), self.limits, inner_command(command, folder), group
        )


def find_tools() -> SandboxTools:
    """The programs and the filter of this machine; raises ``NoSandbox``."""
    shell, bwrap = find_program("sh"), find_program("bwrap")
    if shell is None or bwrap is None or find_program("prlimit") is None:
        raise NoSandbox("a program is missing")
    machine = os.uname().machine
    try:
        return SandboxTools(shell, bwrap, filter_program(machine))
    except KeyError:
        raise NoSandbox(f"there is no system call filter for {machine}") from None


def inner_command(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command with its first word as a path in the sandbox.

    The word names a file of the folder, else an interpreter; any other word stays as it is.
    """
    word = command[0]
    inside = os.path.relpath(word, folder) if os.path.isabs(word) else posixpath.normpath(word)
    if not inside.startswith("..") and (folder / inside).is_file():
        return (posixpath.join(ENGINE_FOLDER, inside), *command[1:])
    real = os.path.realpath(word)
    program = find_runtime(word) or (real if os.path.isabs(word) and is_visible(real) else word)
    return (program, *command[1:])


def is_visible_inside(command: tuple[str, ...], folder: Path) -> bool:
    """Whether the path of the command's program exists in the sandbox; True for a name without a path."""
    program = inner_command(command, folder)[0]
    return program.startswith(f"{ENGINE_FOLDER}/") or not os.path.isabs(program) or is_visible(program)
