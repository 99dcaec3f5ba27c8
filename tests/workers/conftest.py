"""What tests of workers have in common: a mark to find engines by, a broker, and patience."""

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
    """A word among the arguments of this test's engines and of no others."""
    return f"mark-{uuid.uuid4()}"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with running_broker() as broker:
        yield broker
