"""Walls of both levels. A test that asks for one is marked ``walls``: root cannot run it.

Level A has all walls of level B. Where level A can be had, tests at level B are marked ``thorough``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.needs import need_root
from tests.support.walls import sandbox_of
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.levels import Level


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    group = os.environ.get(VARIABLE, "")
    has_level_a = bool(group) and find_parent(group) is not None
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if {"level_a", "level_b", "sandbox"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.walls)
        parameters = (
            item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        )
        if has_level_a and Level.B in (parameters.get("level"), parameters.get("sandbox")):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def as_root() -> None:
    """Of a test marked ``root``."""
    need_root()


@pytest.fixture
def level_a() -> Sandbox:
    """With a control group."""
    return sandbox_of(Level.A)


@pytest.fixture
def level_b() -> Sandbox:
    """Without one, also where there could be."""
    return sandbox_of(Level.B)


@pytest.fixture(params=["A", "B"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Either level in turn."""
    return sandbox_of(Level(request.param))
