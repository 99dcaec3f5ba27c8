"""How an engine is started: from its spec and folder to a command line, an environment and a place.

The seam for walls around an engine: whoever confines it changes the plan made
here, and nobody else in the house knows.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engines import compiled
from workers.jobs import EngineSpec
from workers.manifest import find_interpreter
from workers.sandbox.cell import Cell
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.host import sdk_folder

ENGINE_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of one engine. ``scratch`` is its own temporary folder, removed when the engine has ended.

    ``argv[0]`` is the engine's own program unless there are walls. ``cell`` are the walls it runs behind,
    for the process to end with it; None is none.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    scratch: str
    cell: Cell | None = None


def plan_launch(spec: EngineSpec, folder: Path | None, sandbox: Sandbox | None = None) -> Launch:
    """Plan a start of ``spec`` in ``folder`` (None: an empty one), making a fresh scratch folder for it.

    The engine sees nothing of the worker's environment but a wish for plain Python rules
    (``engines.compiled``); ``import engines`` works in Python, and no other package of ours is on its path.
    Raises ``OSError``.
    """
    scratch = tempfile.mkdtemp(prefix="duarena-engine-")
    place = Path(scratch) if folder is None else folder.resolve()
    if sandbox is not None:
        return _confined(spec, place, scratch, sandbox)
    # A link in the engine's home, and no folder beside it: on ext4 each costs a fifth of the engine's start.
    os.symlink(sdk_folder(), f"{scratch}/engines")
    return Launch(_resolved(spec.command, place), _environment(scratch), str(place), scratch)


def _confined(spec: EngineSpec, place: Path, scratch: str, sandbox: Sandbox) -> Launch:
    try:
        cell = sandbox.make_cell(spec.command, place)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Launch(cell.argv, cell.environment, "/", scratch, cell)


def find_program(word: str, folder: Path) -> str | None:
    """The path of the program a command begins with, for an engine that its own author runs in ``folder``.

    A file of the folder, else an interpreter as on a site, else whatever the caller's own
    ``PATH`` finds; None when there is no such program that may be run.
    """
    own = folder / word
    if own.is_file():
        return str(own) if os.access(own, os.X_OK) else None
    return find_interpreter(word) or shutil.which(word)


def _environment(scratch: str) -> dict[str, str]:
    pure = {compiled.PURE_VARIABLE: "1"} if compiled.pure_is_asked_for() else {}
    return pure | {
        "PATH": ENGINE_PATH,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": scratch,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _resolved(command: tuple[str, ...], place: Path) -> tuple[str, ...]:
    """The command with its first word as a path: a file of the folder before an interpreter."""
    word = command[0]
    program = place / posixpath.normpath(word)
    if program.is_file():
        return (str(program), *command[1:])
    return (find_interpreter(word) or word, *command[1:])
