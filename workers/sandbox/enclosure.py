"""This machine's sandbox: from an engine's command and folder to the cell it runs in."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from pathlib import Path

from workers.sandbox.cell import Confinement, SandboxedProcess
from workers.sandbox.filter.seccomp import filter_program
from workers.sandbox.groups.cgroups import GroupParent
from workers.sandbox.host import find_program, is_visible, walls_around
from workers.sandbox.limits import Limits
from workers.sandbox.runtimes import find_runtime
from workers.sandbox.sampler import Sampler
from workers.sandbox.walls import ENGINE_FOLDER

SAMPLER = Sampler()


class NoSandbox(Exception):
    """This machine has no walls to offer; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How engines are confined here. Without ``parent`` there is no control group: level B."""

    tools: Confinement
    parent: GroupParent | None
    limits: Limits = field(default_factory=Limits)

    @property
    def description(self) -> str:
        """The level, and what holds the side that waits."""
        return "level B, SIGSTOP" if self.parent is None else "level A, freezer"

    def make_cell(self, command: tuple[str, ...], folder: Path) -> SandboxedProcess:
        """Walls around a command that is to run in ``folder``; the caller must ``end`` them.

        Raises ``OSError`` where the machine fails us.
        """
        group = None if self.parent is None else self.parent.make(self.limits)
        try:
            return SandboxedProcess(
                self.tools, walls_around(str(folder)), self.limits, inner_command(command, folder), group
            )
        except BaseException:
            if group is not None:
                group.end()
            raise


def find_tools() -> Confinement:
    """The programs and the filter of this machine; raises ``NoSandbox``."""
    shell, bwrap = find_program("sh"), find_program("bwrap")
    if shell is None or bwrap is None or find_program("prlimit") is None:
        raise NoSandbox("a program is missing")
    machine = os.uname().machine
    try:
        return Confinement(shell, bwrap, filter_program(machine))
    except KeyError:
        raise NoSandbox(f"there is no system call filter for {machine}") from None


def inner_command(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command as it is run inside: a file of the folder, else an interpreter, else as it stands."""
    word = command[0]
    inside = os.path.relpath(word, folder) if os.path.isabs(word) else posixpath.normpath(word)
    if not inside.startswith("..") and (folder / inside).is_file():
        return (posixpath.join(ENGINE_FOLDER, inside), *command[1:])
    real = os.path.realpath(word)
    program = find_runtime(word) or (real if os.path.isabs(word) and is_visible(real) else word)
    return (program, *command[1:])


def is_seen(command: tuple[str, ...], folder: Path) -> bool:
    """Whether the program of a command is to be seen from inside, as far as its path tells."""
    program = inner_command(command, folder)[0]
    return program.startswith(f"{ENGINE_FOLDER}/") or not os.path.isabs(program) or is_visible(program)
