"""Finds the compiled form of the rules, and of other rooms, where there is one of exactly these sources.

``setup.py`` compiles the modules of ``engines/rules`` into a folder of ``engines/build``
that is named after a digest of their sources and after the interpreter. The import hook
here looks for the folder of the sources as they are now, so that a changed source never
runs as its old compiled form: its folder is not there yet, and the rules run as plain
Python. So they do where nothing was ever built, where a build is damaged, and where
``DUARENA_PURE`` is set. Nobody who imports ``engines.rules`` sees which it was, but for the speed.
Another room that is compiled (``workers.game.fastpath``) has a finder of its own.

Nothing is looked for before a room is first imported. This module imports next to nothing,
because every engine that uses the rules starts with it.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import source_hash, spec_from_file_location
from types import ModuleType
from typing import Final

PURE_VARIABLE: Final = "DUARENA_PURE"
"""Set to anything but ``0``, it makes the rules run as plain Python."""

RULES: Final = "engines.rules"
PLAIN_MODULES: Final = ("__init__", "conformance", "native", "registry")
"""Modules of a room that stay plain Python; all others of its folder are compiled."""

SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""The end of a compiled module's file name, which names interpreter and platform."""

DOCSTRING: Final = ".txt"
"""The end of the name of the file beside a module that holds its docstring."""

MANIFEST: Final = "manifest.txt"
"""In a build's folder: the checksum and the name of each of its other files, a line each."""


INTERPRETER: Final = SUFFIX.removesuffix(".so")
"""What the names of all builds for this interpreter end in."""


def pure_is_asked_for() -> bool:
    return os.environ.get(PURE_VARIABLE, "") not in ("", "0")


def group_name(package: str) -> str:
    """What mypyc calls a room's modules together: ``duarena_rules``."""
    return f"duarena_{package.rpartition('.')[2]}"


def library_name(package: str) -> str:
    """The one library that holds all compiled modules; mypyc's name for it, as a module that is imported."""
    return f"{group_name(package)}__mypyc"


def compiled_names(room: str) -> list[str]:
    """The modules to compile of this folder, sorted."""
    names = (name.removesuffix(".py") for name in os.listdir(room) if name.endswith(".py"))
    # what editors leave there for a while is named so that nobody can import it
    return sorted(name for name in names if name.isidentifier() and name not in PLAIN_MODULES)


def build_name(room: str) -> str:
    """The name of the folder that holds the compiled form of these sources for this interpreter."""
    sources = bytearray()
    names = compiled_names(room)
    if os.path.exists(os.path.join(room, "native.py")):
        names.append("native")  # it says what the others mean
    for name in names:
        with open(os.path.join(room, f"{name}.py"), "rb") as source:
            text = source.read()
        sources += b"%s %d\n" % (name.encode(), len(text)) + text
    return source_hash(bytes(sources)).hex() + INTERPRETER


def checksum(content: bytes) -> str:
    """What a manifest tells of a file."""
    return f"{crc32(content):08x}"


def read_build(build: str, library: str, names: Sequence[str]) -> dict[str, str]:
    """The docstrings of these modules, by name, from the folder of a build that is whole.

    Raises ``OSError`` or ``ValueError`` if a file is missing or not as it was made: loading it could be
    fatal.
    """
    with open(os.path.join(build, MANIFEST), encoding="utf-8") as manifest:
        made = {name: check for check, name in map(str.split, manifest)}
    docstrings = {}
    for name in (library + SUFFIX, *[name + end for name in names for end in (SUFFIX, DOCSTRING)]):
        with open(os.path.join(build, name), "rb") as file:
            content = file.read()
        if checksum(content) != made.get(name):
            raise ValueError(f"{name} is not as it was made")
        if name.endswith(DOCSTRING):
            docstrings[name.removesuffix(DOCSTRING)] = content.decode()
    return docstrings


NOT_COMPILED: Final = (
    "these sources are not compiled; 'python setup.py' does that where there is a C compiler"
)


class BuildFinder:
    """Finds the compiled modules of a room, whose sources are in ``folder``; a finder for ``sys.meta_path``.

    ``why_plain`` is empty while the compiled form is in use, else half a sentence for a user; it is
    None until the room is first imported, when all is decided once for the process.
    """

    def __init__(self, room: str, folder: str) -> None:
        self.why_plain: str | None = None
        self._room = room
        self._folder = folder
        self._library = library_name(room)
        self._build = ""
        self._docstrings: dict[str, str] = {}
        """Of the modules that are not loaded yet."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the compiled module of this name is, or None to have its source found."""
        package, _, module = name.rpartition(".")
        if (package != self._room and name != self._library) or module in PLAIN_MODULES:
            return None
        if self.why_plain is None:
            self._decide()
        file = os.path.join(self._build, module + SUFFIX)
        if self.why_plain or not os.path.exists(file):  # a process outlived its build: the rest runs plain
            return None
        return spec_from_file_location(name, file, loader=_Loader(name, file, self))

    def restore_docstrings(self) -> None:
        """Of all that is loaded: compiled modules import each other without asking a finder."""
        for name in tuple(self._docstrings):
            module = sys.modules.get(f"{self._room}.{name}")
            if module is not None:
                module.__doc__ = self._docstrings.pop(name)

    def _decide(self) -> None:
        self.why_plain = ""  # the library is found by this finder, too
        self.why_plain = self._objection()

    def _objection(self) -> str:
        """Why the room runs as plain Python; loads the library if nothing speaks against it."""
        if pure_is_asked_for():
            return f"{PURE_VARIABLE} is set"
        builds = os.path.join(os.path.dirname(self._folder), "build")
        if os.path.isdir(builds):
            self._build = os.path.join(builds, build_name(self._folder))
        if not os.path.isdir(self._build):
            return NOT_COMPILED
        try:
            self._docstrings = read_build(self._build, self._library, compiled_names(self._folder))
            __import__(self._library)
        except (OSError, ValueError, ImportError) as error:
            _warn(self._room, self._build, error)
            return f"the compiled form in {self._build} cannot be used"
        return ""


class _Loader(ExtensionFileLoader):
    """Loads a compiled module, and gives docstrings back, which the compiler drops."""

    def __init__(self, name: str, file: str, finder: BuildFinder) -> None:
        super().__init__(name, file)
        self._finder = finder

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._finder.restore_docstrings()


def _warn(room: str, build: str, error: Exception) -> None:
    """To standard error, which is an engine's log; a process without one is not told."""
    if sys.stderr is not None:
        print(f"{room} runs as plain Python: {build} is damaged ({error}); remove it", file=sys.stderr)


FINDER: Final = BuildFinder(RULES, os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules"))
"""The finder of the rules beside this module."""


def install(finder: BuildFinder = FINDER) -> None:
    """Have a room imported in its compiled form from now on; asked for by the package that holds it."""
    sys.meta_path.insert(0, finder)
