"""What import contracts cannot state: no cycles, no name twice or dead, one order of locks, no game named."""

from __future__ import annotations

import ast
import re

import pytest

from engines.rules.registry import GAMES
from tests.support.structure import ROOT, Module, cycles, read_modules, shared_names


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules()


def test_there_are_no_circular_imports_not_even_late_ones(modules: dict[str, Module]) -> None:
    assert cycles(modules) == []


def test_no_two_public_classes_share_a_name(modules: dict[str, Module]) -> None:
    assert shared_names(modules) == {}


def test_services_lock_rows_by_the_shared_functions(modules: dict[str, Module]) -> None:
    """So the order of locks is one module's matter, see ``tournament.services.locks``."""
    locking = [name for name, module in modules.items() if "select_for_update(" in module.path.read_text()]
    assert locking == ["tournament.services.locks"]


@pytest.mark.parametrize("package", ["workers", "tournament"])
def test_neither_workers_nor_the_site_name_a_game(package: str) -> None:
    """A new game then needs no change there; old migrations stay as they are."""
    words = {word.lower() for game in GAMES.values() for word in (game.code, game.family)}
    pattern = re.compile("|".join(map(re.escape, sorted(words))), re.IGNORECASE)
    files = [
        path
        for path in sorted((ROOT / package).rglob("*"))
        if path.suffix in {".py", ".html", ".js", ".css"} and not {"migrations", "build"} & set(path.parts)
    ]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert files
    assert found == []


FOREIGN = {
    "duarena_rules",
    "acyclic",
    "ps",
    "killall",
    "trueskill",
    "breakpoint",
    "NAME",
    "_top",
    "log",
    "1",
    "AGREED",
}
"""Names in docstrings that are not of the three packages; those of the sandbox are the kernel's."""


def test_names_in_docstrings_are_names_of_the_code(modules: dict[str, Module]) -> None:
    known = {part for name in modules for part in name.split(".")} | FOREIGN
    named: dict[str, str] = {}
    docstrings: set[ast.AST] = set()
    for place, module in modules.items():
        for node in ast.walk(module.tree):
            match node:
                case ast.Expr(ast.Constant(str(text))):
                    if not place.startswith("workers.sandbox"):
                        named |= dict.fromkeys(re.findall(r"``([A-Za-z_][\w.]*)(?:\(\))?``", text), place)
                    docstrings.add(node.value)
                case ast.Constant(str(text)) if node not in docstrings:
                    known.update(re.findall(r"\w+", text))
                case (
                    ast.Attribute(attr=word)
                    | ast.Name(id=word)
                    | ast.arg(arg=word)
                    | ast.keyword(arg=str(word))
                ):
                    known.add(word)
                case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
                    known.add(word)
                case ast.alias(name=word, asname=other):
                    known.update(word.split("."), {other or word})
    assert named
    assert {name: place for name, place in named.items() if not known.issuperset(name.split("."))} == {}
