"""Sandboxes of both levels. A test that uses one is marked ``sandbox``: root cannot run it.

Level A has all protections of level B. Where level A can be had, tests at level B are marked ``thorough``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.needs import need_root
from tests.support.sandboxes import sandbox_of
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.levels import Level
from workers.sandbox.sandbox import Sandbox


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    group = os.environ.get(VARIABLE, "")
    has_level_a = bool(group) and find_parent(group) is not None
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if {"level_a", "level_b", "sandbox"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.sandbox)
        parameters = (
            item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        )
        if has_level_a and Level.B in (parameters.get("level"), parameters.get("sandbox")):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def as_root() -> None:
    """For tests marked ``root``."""
    need_root()


@pytest.fixture
def level_a() -> Sandbox:
    """A sandbox with a control group."""
    return sandbox_of(Level.A)


@pytest.fixture
def level_b() -> Sandbox:
    """A sandbox without a control group, even where one is possible."""
    return sandbox_of(Level.B)


@pytest.fixture(params=["A", "B"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """A sandbox of each level in turn."""
    return sandbox_of(Level(request.param))
