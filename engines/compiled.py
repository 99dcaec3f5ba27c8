"""Finds the compiled modules of the rules, and of other packages, that belong to the present sources.

``setup.py`` compiles the modules of ``engines/rules`` into a folder in ``engines/build``. The folder is
named by a digest of the sources and by the interpreter. The import hook of this module puts the folder of
the present sources into the package's path, before the sources. So a changed source never runs in its old
compiled form: there is no folder for it yet, and the rules run as plain Python. They also run as plain
Python if they were never compiled, if the build is damaged, or if ``DUARENA_PURE`` is set. Both forms
behave the same, except in speed. The other compiled package (``workers.game.fastpath``) has a finder of its
own.

A build is looked for at the first import of its package. This module imports almost nothing,
because every engine that uses the rules starts with it.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import source_hash, spec_from_file_location
from types import ModuleType
from typing import Final

PURE_VARIABLE: Final = "DUARENA_PURE"
"""If set to any value but ``0``, the compiled packages run as plain Python."""

RULES: Final = "engines.rules"
PLAIN_MODULES: Final = ("__init__", "native", "registry")
"""Modules that are not compiled; all other modules of a compiled package are."""

SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""The end of a compiled module's file name, with the interpreter and the platform."""

MANIFEST: Final = "manifest.txt"
"""The file of a build that lists the checksum and the name of each other file, one a line."""


INTERPRETER: Final = SUFFIX.removesuffix(".so")
"""The suffix of the folders of all builds for this interpreter."""

FORM: Final = b"3 "
"""Raised when a build of the same sources is made in another way, so that no earlier one is used."""


def pure_is_asked_for() -> bool:
    return os.environ.get(PURE_VARIABLE, "") not in ("", "0")


def group_name(package: str) -> str:
    """mypyc's name for all modules of a package together: ``duarena_rules``."""
    return f"duarena_{package.rpartition('.')[2]}"


def library_name(package: str) -> str:
    """The module name that mypyc gives to the library with all compiled modules of a package."""
    return f"{group_name(package)}__mypyc"


def compiled_names(folder: str) -> list[str]:
    """The names of the modules in a folder that are compiled, sorted."""
    names = (name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py"))
    # temporary files of editors have names that are not identifiers
    return sorted(name for name in names if name.isidentifier() and name not in PLAIN_MODULES)


def build_name(folder: str) -> str:
    """The name of the build of the sources in ``folder`` for this interpreter."""
    sources = bytearray(FORM)
    names = compiled_names(folder)
    if os.path.exists(os.path.join(folder, "native.py")):
        names.append("native")  # not compiled, but the other modules depend on it
    for name in names:
        with open(os.path.join(folder, f"{name}.py"), "rb") as source:
            text = source.read()
        sources += b"%s %d\n" % (name.encode(), len(text)) + text
    return source_hash(bytes(sources)).hex() + INTERPRETER


def checksum(content: bytes) -> str:
    """The checksum of a file as in the manifest."""
    return f"{crc32(content):08x}"


def check_build(build: str, library: str, names: Sequence[str]) -> None:
    """Verify a build: its library and the modules of these names.

    Raises ``OSError`` or ``ValueError`` if a file is missing or damaged: loading it could crash the process.
    """
    with open(os.path.join(build, MANIFEST), encoding="utf-8") as manifest:
        made = {name: check for check, name in map(str.split, manifest)}
    for name in (library, *names):
        file_name = name + SUFFIX
        with open(os.path.join(build, file_name), "rb") as file:
            if checksum(file.read()) != made.get(file_name):
                raise ValueError(f"{file_name} has another checksum than in the manifest")


SETUP: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "setup.py")
"""What compiles the packages; the authors' kit does not have it."""
NOT_COMPILED: Final = (
    "these sources are not compiled; 'python setup.py' does that where there is a C compiler"
)
KIT_NOT_COMPILED: Final = "the kit has no compiled form; a clone of the source code can be compiled"


class BuildFinder:
    """A finder for ``sys.meta_path`` of a package with its sources in ``folder``, which may be compiled.

    ``why_plain`` is empty if the compiled form is in use, else the reason, for users. It is None until the
    import of the package, which decides for the whole process.
    """

    def __init__(self, package: str, folder: str) -> None:
        self.why_plain: str | None = None
        self._package = package
        self._folder = folder
        self._library = library_name(package)
        self._build = ""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the package or its library; None for others, and if it runs as plain Python."""
        if name == self._library:
            return spec_from_file_location(name, os.path.join(self._build, name + SUFFIX))
        if name != self._package:
            return None
        self.why_plain = self._load_library()
        places = [self._build, self._folder]
        file = os.path.join(self._folder, "__init__.py")
        return (
            None if self.why_plain else spec_from_file_location(name, file, submodule_search_locations=places)
        )

    def _load_library(self) -> str:
        """Load the library of the compiled form; returns the reason if that is not possible, else ""."""
        if pure_is_asked_for():
            return f"{PURE_VARIABLE} is set"
        builds = os.path.join(os.path.dirname(self._folder), "build")
        if os.path.isdir(builds):
            self._build = os.path.join(builds, build_name(self._folder))
        if not os.path.isdir(self._build):
            return NOT_COMPILED if os.path.exists(SETUP) else KIT_NOT_COMPILED
        try:
            check_build(self._build, self._library, compiled_names(self._folder))
            __import__(self._library)
        except (OSError, ValueError, ImportError) as error:
            _warn(self._package, self._build, error)
            return f"the compiled form in {self._build} cannot be used"
        return ""


def _warn(package: str, build: str, error: Exception) -> None:
    """Print a warning to standard error, which is an engine's log, if the process has one."""
    if sys.stderr is not None:
        print(f"{package} runs as plain Python: {build} is damaged ({error}); remove it", file=sys.stderr)


FINDER: Final = BuildFinder(RULES, os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules"))
"""The finder of the rules beside this module."""


def install(finder: BuildFinder = FINDER) -> None:
    """Import a package in its compiled form from now on; called by its parent package."""
    sys.meta_path.insert(0, finder)
