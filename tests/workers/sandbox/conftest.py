"""Walls of both levels. A test that asks for one is marked ``walls``: root cannot run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.walls import sandbox_of
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.levels import Level


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", ())
        if Path(__file__).parent in item.path.parents and {"level_a", "level_b", "sandbox"} & set(names):
            item.add_marker(pytest.mark.walls)


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
