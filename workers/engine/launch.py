"""Plans the start of an engine: its command line, environment and folder, with or without a sandbox.

With a sandbox, ``sandbox.process`` makes the command line.
"""

from __future__ import annotations

import errno
import os
import posixpath
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engines import compiled
from engines.bundles.manifest import BEGINNING_BYTES, ELF, explain_unstartable, find_interpreter
from engines.rules.base import quote
from workers.jobs import EngineSpec
from workers.sandbox.host import sdk_folder
from workers.sandbox.process import SandboxedProcess
from workers.sandbox.sandbox import Sandbox

ENGINE_PATH = "/usr/local/bin:/usr/bin:/bin"
SDK = "engines"
"""The package for engines in Python, in the scratch folder."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of one engine. ``scratch`` is its own temporary folder, removed when the engine has ended.

    ``argv[0]`` is the engine's own program unless there is a sandbox. ``sandboxed`` is the sandboxed process,
    which must be ended together with the engine; None without a sandbox.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    scratch: str
    sandboxed: SandboxedProcess | None = None


def plan_launch(
    spec: EngineSpec, folder: Path | None, sandbox: Sandbox | None = None, scratch: str | None = None
) -> Launch:
    """Plan a start of ``spec`` in ``folder`` (None: an empty folder).

    ``scratch`` is the scratch folder of an earlier start (``is_untouched``); None makes a new one.
    The engine gets nothing of the worker's environment except the request for plain Python rules
    (``engines.compiled``). ``import engines`` works in Python; no other package of Duarena is on its path.
    Raises ``OSError``.
    """
    is_new = scratch is None
    if scratch is None:
        scratch = tempfile.mkdtemp(prefix="duarena-engine-")
    directory = Path(scratch) if folder is None else folder.resolve()
    if sandbox is not None:
        return _sandboxed(spec, directory, scratch, sandbox)
    # A link, not another folder: on ext4 creating a folder takes a fifth of the time of the engine's start.
    if is_new:
        os.symlink(sdk_folder(), f"{scratch}/{SDK}")
    return Launch(_resolved(spec.command, directory), _environment(scratch), str(directory), scratch)


def is_untouched(launch: Launch) -> bool:
    """Whether the scratch folder is as it was made, and may serve the next start of the same engine.

    Making and removing a folder on ext4 takes as long as the start of a small engine.
    """
    content = [] if launch.sandboxed is not None else [SDK]
    try:
        return (
            os.listdir(launch.scratch) == content
            and os.lstat(launch.scratch).st_mode == stat.S_IFDIR | stat.S_IRWXU
            and all(os.readlink(f"{launch.scratch}/{name}") == sdk_folder() for name in content)
        )
    except OSError:
        return False


def _sandboxed(spec: EngineSpec, directory: Path, scratch: str, sandbox: Sandbox) -> Launch:
    try:
        sandboxed = sandbox.prepare(spec.command, directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Launch(sandboxed.argv, sandboxed.environment, "/", scratch, sandboxed)


def check_program(program: str, path: str) -> None:
    """Raises the ``OSError`` with which the start of a program fails; ``path`` as in the environment.

    For a program that a shell starts: the shell only prints the error.
    """
    found = shutil.which(program, path=path)
    if found is None:
        raise _os_error(errno.EACCES if os.path.exists(program) else errno.ENOENT, program)
    with open(found, "rb") as file:
        first = file.readline(BEGINNING_BYTES)
    if first.startswith(b"#!") and first[2:].strip():
        check_program(os.fsdecode(first[2:].split()[0]), path)
    elif not first.startswith(ELF):
        raise _os_error(errno.ENOEXEC, program)


def _os_error(number: int, program: str) -> OSError:
    return OSError(number, os.strerror(number), program)


def find_engine_program(word: str, folder: Path) -> str | None:
    """The path of a command's program, for an engine that its author runs in ``folder``.

    ``word`` names a file of the folder, else an interpreter as on a site, else a program in the caller's
    ``PATH``. None if there is no such program or it cannot be started.
    """
    own = folder / word
    if os.path.isfile(own):  # Path.is_file raises for names that are too long, and in folders of others
        return None if _explain_own(own, word) else str(own)
    return find_interpreter(word) or shutil.which(word)


def explain_no_program(word: str, folder: Path) -> str:
    """Why ``find_engine_program`` found nothing, for the engine's author."""
    path = folder / word
    if os.path.isdir(path):
        return f"{quote(word)} is a folder, not a program or a bundle (bot.zip)"
    if os.path.isfile(path):
        return _explain_own(path, word) or f"{quote(word)} cannot be started"
    return f"there is no executable program {quote(word)} in {folder} or on the path"


def _explain_own(path: Path, word: str) -> str | None:
    """Why a file of the folder cannot be started; None if it may."""
    if not os.access(path, os.X_OK):
        run = f'make it executable (chmod +x), or name its interpreter, as in "python3 {word}"'
        return f"{quote(word)} is not executable: {run}"
    try:
        with path.open("rb") as file:
            return explain_unstartable(word, file.read(BEGINNING_BYTES))
    except PermissionError:
        return None  # it may be started without being read


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


def _resolved(command: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """The command with its first word as a path: a file of the folder, else an interpreter."""
    word = command[0]
    program = directory / posixpath.normpath(word)
    if program.is_file():
        return (str(program), *command[1:])
    return (find_interpreter(word) or word, *command[1:])
