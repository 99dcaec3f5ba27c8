"""Compiles rooms with mypyc, from the same files that run as plain Python where this cannot be done.

``python setup.py`` is all: it puts the compiled modules where ``engines/compiled.py`` finds them and
says in one line a room what it did, or why it could not (exit code 1). Where they are there already, and
whole, it does nothing and says nothing. Two at once do not disturb each other, and a killed one
leaves nothing that anybody would import. Needs a C compiler, Python's headers, and mypy and setuptools
of requirements.txt.

With a command of setuptools it is an ordinary setup script for the modules of the rooms below the current
folder, as for reading the C that mypyc makes of them. It builds nothing in place: Python would go on finding
that, whatever became of the source beside it.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from engines import compiled

ROOT = Path(__file__).resolve().parent
SCRATCH_PREFIX = "unfinished-"
IN_PLACE = {"--inplace", "-i", "develop"}
FALLBACK_COMPILERS = ("cc", "gcc", "clang")


class CannotCompile(Exception):
    """There will be no compiled form; the text is the reason, half a sentence for a user."""


@dataclass(frozen=True)
class Room:
    """A folder of sources that are compiled together, for ``ROOT``'s; ``title`` is for users."""

    package: str
    title: str

    @property
    def path(self) -> Path:
        """Where the sources are in a checkout."""
        return Path(*self.package.split("."))

    @property
    def sources(self) -> Path:
        return ROOT / self.path

    @property
    def builds(self) -> Path:
        return self.sources.parent / "build"

    @property
    def failure_log(self) -> Path:
        return self.builds / "failure.log"

    @property
    def names(self) -> list[str]:
        return compiled.compiled_names(str(self.sources))


ROOMS = (Room(compiled.RULES, "rules"), Room("workers.game.fastpath", "moves"))


def main() -> int:
    """Make the compiled form of the sources as they are; returns the exit code."""
    return max([_make(room) for room in ROOMS if room.sources.is_dir()])


def _make(room: Room) -> int:
    try:
        if not _is_made(room):
            _check_tools()
            _build_in_turn(room)
    except (CannotCompile, OSError) as error:
        print(f"{room.title}: they run as plain Python, which is slower: {error}", file=sys.stderr)
        return 1
    return 0


def _is_made(room: Room) -> bool:
    """Whether the compiled form of the sources as they are is there, and none of it is damaged."""
    target = room.builds / compiled.build_name(str(room.sources))
    try:
        compiled.read_build(str(target), compiled.library_name(room.package), room.names)
    except (OSError, ValueError):
        return False
    return True


def _check_tools() -> None:
    if compiled.pure_is_asked_for():
        raise CannotCompile(f"{compiled.PURE_VARIABLE} is set")
    if _find_compiler() is None:
        raise CannotCompile("there is no C compiler (on Debian and Ubuntu: apt-get install gcc libc6-dev)")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-dev"
        raise CannotCompile(
            f"there are no headers of this Python (on Debian and Ubuntu: apt-get install {package})"
        )
    for package in ("mypyc", "setuptools"):
        if find_spec(package) is None:
            raise CannotCompile(f"{package} is not installed (pip install -r requirements.txt)")


def _find_compiler() -> str | None:
    """The command of the compiler this Python was made with, or of another where that is not there."""
    usual = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    for command in (usual, *FALLBACK_COMPILERS):
        program, *_ = shlex.split(command) or [""]
        if shutil.which(program):
            return command
    return None


def _build_in_turn(room: Room) -> None:
    """Build unless somebody else did while we waited for him."""
    room.builds.mkdir(exist_ok=True)
    with _lock(room.builds):
        if _is_made(room):
            return
        print(
            f"{room.title}: compiling them (once for these sources, about half a minute) ...",
            end="",
            flush=True,
        )
        try:
            built = _build(room)
        finally:
            print(flush=True)
        _remove_others(built)
    print(f"{room.title}: compiled", flush=True)


@contextmanager
def _lock(builds: Path) -> Iterator[None]:
    """Held by one build at a time, and given up by the system when its process ends."""
    with open(builds / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(room: Room) -> Path:
    """Compile a copy of the sources, whose digest names the result, and move the whole into place."""
    with TemporaryDirectory(prefix=SCRATCH_PREFIX, dir=room.builds) as scratch:
        tree = Path(scratch)
        (tree / room.path).mkdir(parents=True)
        (tree / room.path).parent.joinpath("__init__.py").touch()
        for source in room.sources.glob("*.py"):
            if source.stem.isidentifier():  # else it is what an editor leaves there for a while
                shutil.copy(source, tree / room.path)
        _run_setuptools(room, tree)
        made = _collect(room, tree)
        target = room.builds / compiled.build_name(str(tree / room.path))
        shutil.rmtree(target, ignore_errors=True)  # a damaged one
        made.rename(target)
    return target


def _run_setuptools(room: Room, tree: Path) -> None:
    """Have this file called as a setup script in ``tree``; what was said is kept where it fails."""
    done = subprocess.run(
        (sys.executable, __file__, "build_ext", "--build-lib", "lib", "--build-temp", "temp"),
        cwd=tree,
        env={**os.environ, "CC": _find_compiler() or "cc", "MYPYPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        room.failure_log.write_bytes(done.stdout)
        raise CannotCompile(f"compiling them failed, {room.failure_log} tells why")
    room.failure_log.unlink(missing_ok=True)


def _collect(room: Room, tree: Path) -> Path:
    """A folder of the libraries and the modules' docstrings, with the manifest of both."""
    made = tree / "made"
    made.mkdir()
    for library in (tree / "lib").rglob(f"*{compiled.SUFFIX}"):
        library.rename(made / library.name)
    for name in compiled.compiled_names(str(tree / room.path)):
        docstring = _docstring((tree / room.path / f"{name}.py").read_text(encoding="utf-8"))
        (made / f"{name}{compiled.DOCSTRING}").write_text(docstring, encoding="utf-8")
    lines = [f"{compiled.checksum(file.read_bytes())} {file.name}\n" for file in sorted(made.iterdir())]
    (made / compiled.MANIFEST).write_text("".join(lines))
    return made


def _docstring(source: str) -> str:
    """A module's docstring as it is without the compiler: as written, not cleaned."""
    import ast

    return ast.get_docstring(ast.parse(source), clean=False) or ""


def _remove_others(built: Path) -> None:
    """Remove this interpreter's builds of other sources, and what killed builds left behind."""
    for folder in built.parent.iterdir():
        outdated = folder.name.endswith(compiled.INTERPRETER) and folder != built
        if outdated or folder.name.startswith(SCRATCH_PREFIX):
            shutil.rmtree(folder, ignore_errors=True)


def run_setuptools_command() -> None:
    """What every setup script does, for the rooms below the current folder."""
    from mypyc.build import mypycify
    from setuptools import setup

    extensions = []
    for room in ROOMS:
        if room.path.is_dir():
            modules = [str(room.path / f"{name}.py") for name in compiled.compiled_names(str(room.path))]
            extensions += mypycify(
                ["--config-file=", "--strict", *modules],
                opt_level="3",
                debug_level="0",
                group_name=compiled.group_name(room.package),
            )
    setup(name="duarena", packages=[], ext_modules=extensions)


if __name__ == "__main__":
    if IN_PLACE.intersection(sys.argv):
        sys.exit(
            "setup.py: nothing is built in place; without arguments it builds where engines/compiled.py looks"
        )
    elif sys.argv[1:]:
        run_setuptools_command()
    else:
        sys.exit(main())
