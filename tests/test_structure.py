"""The structure of the packages: no cycles, layers, no public name twice."""

from __future__ import annotations

import re

import pytest

from engines.rules.registry import GAMES
from tests.support.structure import (
    ROOT,
    Module,
    cycles,
    read_modules,
    shared_names,
)

LAYERS = {
    "workers": [
        {"commands"},
        {"service", "match"},
        {"play", "check"},
        {"engine"},
        {"sandbox"},
        {"bundles", "game"},
        {
            "jobs",
            "logs",
            "reaper",
            "exit_status",
            "strays",
            "silence",
            "pairing",
            "sequential",
            "intervals",
            "statistics",
        },
    ],
    "tournament.services": [
        {"calendar"},
        {"annulments", "deactivation"},
        {"results", "uploads", "ladders", "version_tests"},
        {"work"},
        {"schedule"},
        {
            *(
                "bots",
                "accounts",
                "feeds",
                "bulk",
                "stopping",
                "fair_share",
                "locks",
                "event_counts",
                "keeper_lock",
            ),
            *("backups", "pruning", "disk"),
        },
    ],
}
"""From the top down. A module imports only from its own layer or from one below."""


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules()


def test_there_are_no_circular_imports_not_even_late_ones(modules: dict[str, Module]) -> None:
    assert cycles(modules) == []


def test_no_two_public_classes_share_a_name(modules: dict[str, Module]) -> None:
    assert shared_names(modules) == {}


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


def part_of(name: str, package: str) -> str:
    """The first part of a module's name below the package, empty for others'."""
    return name.removeprefix(f"{package}.").split(".")[0] if name.startswith(f"{package}.") else ""
