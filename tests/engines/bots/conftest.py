"""Runs bots without a garbage collector, as when they are started as programs."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from engines.bots import pace
from engines.sdk import turn


@pytest.fixture(autouse=True)
def _without_garbage_collector() -> Iterator[None]:
    """With as many objects as a process full of tests has, one look at all of them outlasts a short move."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def processor_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bots' clock shows this process's processor time: what other processes take does not count."""
    clock = SimpleNamespace(monotonic=time.process_time)
    monkeypatch.setattr(pace, "time", clock)
    monkeypatch.setattr(turn, "time", clock)
