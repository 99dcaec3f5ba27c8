"""Fixtures of the workers' tests: a mark to find engines by, and the door of a site."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.fake_door import FakeDoor, fake_door
from tests.support.jobs import BadBundles

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def mark() -> str:
    """A unique argument of this test's engines."""
    return f"mark-{uuid.uuid4()}"


@pytest.fixture
def bundled(tmp_path: Path, mark: str) -> BadBundles:
    """Bad engines in the store of the workers that ``running_worker`` starts in this test's folder."""
    return BadBundles(tmp_path / "bundles", mark)


@pytest.fixture
def door() -> Iterator[FakeDoor]:
    with fake_door() as door:
        yield door
