"""Fixtures of the workers' tests: a mark to find engines by, and a broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.brokers import Broker, running_broker

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def mark() -> str:
    """A unique argument of this test's engines."""
    return f"mark-{uuid.uuid4()}"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with running_broker() as broker:
        yield broker
