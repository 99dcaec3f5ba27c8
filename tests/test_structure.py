"""The structure of the packages: no cycles, small folders, no public name twice."""

from __future__ import annotations

import re

import pytest

from engines import __version__
from tests.support.structure import (
    ROOT,
    SHORT_LINES,
    Module,
    cycles,
    folder_sizes,
    read_modules,
    shared_names,
    with_one_importer,
)

MOST_MODULES = 15
ENTRY_POINTS = (
    "tournament.api.",
    "tournament.embedded.administrator",
    "tournament.models.",
    "tournament.views.",
    "workers.commands.",
)
"""Pages, models and commands have one module each, of any length."""

LAYERS = {
    "workers": [
        {"commands"},
        {"service", "match"},
        {"play", "check"},
        {"engine"},
        {"sandbox"},
        {"bundles", "game"},
        {"jobs", "reaper", "exit_status", "pairing", "statistics"},
    ],
    "tournament.services": [
        {"calendar"},
        {"results", "uploads", "ladders"},
        {"dispatch"},
        {"schedule"},
        {"bots", "accounts", "bulk"},
    ],
}
"""From the top down. A module imports only from its own layer or from one below."""


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules()


REASON = re.compile("of its own|separate module", re.IGNORECASE)
"""A docstring with these words gives the reason why a short module is not part of its importer."""


def test_there_are_no_circular_imports_not_even_late_ones(modules: dict[str, Module]) -> None:
    assert cycles(modules) == []


def test_no_two_public_classes_share_a_name(modules: dict[str, Module]) -> None:
    assert shared_names(modules) == {}


def test_no_folder_has_too_many_modules(modules: dict[str, Module]) -> None:
    assert {name: size for name, size in folder_sizes(modules).items() if size > MOST_MODULES} == {}


def test_a_short_module_with_one_importer_gives_the_reason_why_it_is_separate(
    modules: dict[str, Module],
) -> None:
    short = [module for module in with_one_importer(modules) if module.lines < SHORT_LINES]
    unexplained = [
        module.name
        for module in short
        if not module.name.startswith(ENTRY_POINTS) and not REASON.search(module.docstring)
    ]
    assert unexplained == []


@pytest.mark.parametrize("package", sorted(LAYERS))
def test_modules_import_only_from_their_own_layer_or_below(package: str, modules: dict[str, Module]) -> None:
    level = {part: number for number, layer in enumerate(LAYERS[package]) for part in layer}
    upward = [
        f"{module.name} imports {imported}"
        for module in modules.values()
        for imported in module.imports
        if (mine := part_of(module.name, package)) in level
        and (theirs := part_of(imported, package)) in level
        and level[theirs] < level[mine]
    ]
    assert upward == []


@pytest.mark.parametrize("package", sorted(LAYERS))
def test_every_part_of_a_package_has_a_layer(package: str, modules: dict[str, Module]) -> None:
    parts = {part_of(name, package) for name in modules} - {"", "__main__"}
    assert parts == set.union(*LAYERS[package])


def test_every_package_has_a_docstring(modules: dict[str, Module]) -> None:
    silent = [name for name, module in modules.items() if module.is_package and not module.docstring]
    assert silent == ["tournament.management", "tournament.management.commands"]  # names that Django asks for


def test_the_version_is_in_one_module(modules: dict[str, Module]) -> None:
    files = [(ROOT / "pyproject.toml"), (ROOT / "setup.py"), *(module.path for module in modules.values())]
    found = [path for path in files if re.search(rf"\b{re.escape(__version__)}\b", path.read_text("utf-8"))]
    assert found == [ROOT / "engines" / "__init__.py"]


def part_of(name: str, package: str) -> str:
    """The first part of a module's name below the package, empty for others'."""
    return name.removeprefix(f"{package}.").split(".")[0] if name.startswith(f"{package}.") else ""
