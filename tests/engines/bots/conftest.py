"""Bots play here as they do when they are run: without a garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _without_garbage_collector() -> Iterator[None]:
    """With as many objects as a process full of tests has, one look at all of them outlasts a short move."""
    gc.disable()
    yield
    gc.enable()
