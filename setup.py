"""Compiles packages with mypyc; their sources also run as plain Python where this is not possible.

``python setup.py`` puts the compiled modules where ``engines/compiled.py`` finds them. For each package it
prints one line with the result, or the reason why it could not compile it (exit code 1). If an undamaged
build exists it does and prints nothing. Two runs at once do not disturb each other, and a killed run leaves
nothing that could be imported. Needs a C compiler, Python's headers, and mypy and setuptools of
requirements.txt.

With a command of setuptools it is an ordinary setup script for the compiled packages below the current
folder, for example to read the C code that mypyc generates. It never builds in place: Python would continue
to import that build after a change of the source beside it.
"""

from __future__ import annotations

import ast
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
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
    """A package cannot be compiled; the text is the reason, for users."""


@dataclass(frozen=True)
class CompiledPackage:
    """A package whose modules are compiled together; ``title`` names it to users."""

    name: str
    title: str

    @property
    def path(self) -> Path:
        """The folder of the sources, relative to the checkout."""
        return Path(*self.name.split("."))

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


PACKAGES = (CompiledPackage(compiled.RULES, "rules"), CompiledPackage("workers.game.fastpath", "moves"))


def main() -> int:
    """Compile the present sources where needed; returns the exit code."""
    with ThreadPoolExecutor() as pool:
        return max(pool.map(_make, [package for package in PACKAGES if package.sources.is_dir()]))


def _make(package: CompiledPackage) -> int:
    try:
        if not _is_made(package):
            _check_tools()
            _build_in_turn(package)
    except (CannotCompile, OSError) as error:
        print(f"{package.title}: they run as plain Python, which is slower: {error}", file=sys.stderr)
        return 1
    return 0


def _is_made(package: CompiledPackage) -> bool:
    """Whether an undamaged build of the present sources exists."""
    target = package.builds / compiled.build_name(str(package.sources))
    try:
        compiled.check_build(str(target), compiled.library_name(package.name), package.names)
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
    """The command of the compiler that built this Python, or of another if that is not installed."""
    usual = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    for command in (usual, *FALLBACK_COMPILERS):
        program, *_ = shlex.split(command) or [""]
        if shutil.which(program):
            return command
    return None


def _build_in_turn(package: CompiledPackage) -> None:
    """Build, unless another process did while this one waited for the lock."""
    package.builds.mkdir(exist_ok=True)
    with open(package.builds / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the system releases it when the process ends
        if _is_made(package):
            return
        print(f"{package.title}: compiling them (once, about half a minute) ...", flush=True)
        _remove_others(_build(package))
    print(f"{package.title}: compiled", flush=True)


def _build(package: CompiledPackage) -> Path:
    """Compile a copy of the sources, and move the complete result to the folder named by their digest."""
    with TemporaryDirectory(prefix=SCRATCH_PREFIX, dir=package.builds) as scratch:
        tree = Path(scratch)
        (tree / package.path).mkdir(parents=True)
        (tree / package.path).parent.joinpath("__init__.py").touch()
        for source in package.sources.glob("*.py"):
            if source.stem.isidentifier():  # else a temporary file of an editor
                shutil.copy(source, tree / package.path)
        target = package.builds / compiled.build_name(str(tree / package.path))
        _assign_docstrings(tree / package.path)
        _run_setuptools(package, tree)
        made = _collect(tree)
        shutil.rmtree(target, ignore_errors=True)  # a damaged build
        made.rename(target)
    return target


def _assign_docstrings(folder: Path) -> None:
    """Have the modules assign their docstrings, which the compiler drops."""
    for name in compiled.compiled_names(str(folder)):
        path = folder / f"{name}.py"
        source = path.read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(source), clean=False) or ""
        path.write_text(f"{source}\n__doc__ = {docstring!r}\n", encoding="utf-8")


def _run_setuptools(package: CompiledPackage, tree: Path) -> None:
    """Run this file as a setup script in ``tree``; its output is kept in a log if it fails."""
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
        package.failure_log.write_bytes(done.stdout)
        raise CannotCompile(f"compiling them failed, see {package.failure_log}")
    package.failure_log.unlink(missing_ok=True)


def _collect(tree: Path) -> Path:
    """Make a folder with the libraries and their manifest."""
    made = tree / "made"
    made.mkdir()
    for library in (tree / "lib").rglob(f"*{compiled.SUFFIX}"):
        library.rename(made / library.name)
    lines = [f"{compiled.checksum(file.read_bytes())} {file.name}\n" for file in sorted(made.iterdir())]
    (made / compiled.MANIFEST).write_text("".join(lines))
    return made


def _remove_others(built: Path) -> None:
    """Remove this interpreter's builds of other sources, and the remains of killed builds."""
    for folder in built.parent.iterdir():
        outdated = folder.name.endswith(compiled.INTERPRETER) and folder != built
        if outdated or folder.name.startswith(SCRATCH_PREFIX):
            shutil.rmtree(folder, ignore_errors=True)


def run_setuptools_command() -> None:
    """Act as an ordinary setup script for the packages below the current folder."""
    from mypyc.build import mypycify
    from setuptools import setup

    extensions = []
    for package in PACKAGES:
        if package.path.is_dir():
            modules = [
                str(package.path / f"{name}.py") for name in compiled.compiled_names(str(package.path))
            ]
            extensions += mypycify(
                ["--config-file=", "--strict", *modules],
                opt_level="3",
                debug_level="0",
                group_name=compiled.group_name(package.name),
            )
    for extension in extensions:
        # the compiler may inline functions of a module only if no other library can replace them
        extension.extra_compile_args.append("-fno-semantic-interposition")
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
