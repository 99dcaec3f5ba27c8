"""The probe notices each wall that is missing. Its engine only looks, so that walls may be open around it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.hostile.openings import take_away
from workers.engine.sandbox_probe import _try_walls
from workers.sandbox.enclosure import Sandbox

WALLS = (
    "folders not shown",
    "namespace of the network",
    "namespace of processes",
    "environment of bwrap",
    "closed root",
    "system call filter",
    "hard limits",
)


@pytest.fixture(autouse=True)
def _closed_again() -> Iterator[None]:
    yield
    patch.stopall()


def test_walls_that_hold_leave_nothing_to_wish_for(level_b: Sandbox) -> None:
    assert _try_walls(level_b) == []


@pytest.mark.parametrize("wall", WALLS)
def test_a_wall_that_is_missing_is_noticed(wall: str, level_b: Sandbox) -> None:
    assert _try_walls(take_away((wall,), level_b, Path(tempfile.gettempdir())))
