"""Fixtures of the site's tests: each test has separate queues and a separate bundle folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support.schedule import FakeBroker, make_workers
from tournament.services.dispatch import dispatch
from workers.jobs import GameJob


@pytest.fixture(autouse=True)
def queues(monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    fake = FakeBroker()
    replaced = ("send_jobs", "send_check", "send_sweep", "clear_queue", "queue_length", "send_command")
    for name in (*replaced, "look_at_broker"):
        monkeypatch.setattr(f"tournament.queues.{name}", getattr(fake, name))
    return fake


@pytest.fixture(autouse=True)
def own_folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATA = tmp_path
    settings.BUNDLES = tmp_path / "bundles"
    settings.SLOTS = 2
    settings.TRUST_UPLOADS = False
    settings.CACHE = tmp_path / "cache"
    settings.SANDBOX = ""
    settings.IS_LOCAL = False
    settings.IS_STARTED_BY_ROOT = False
    settings.START_COMMAND = "./arena up --port 8123"
    cache.clear()


@pytest.fixture
def deal(
    settings: Settings, queues: FakeBroker, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[[], list[GameJob]]:
    """Fill the buffers of the workers, made if there are none, and return the jobs that were sent."""

    def fill() -> list[GameJob]:
        make_workers(settings.SLOTS)
        with django_capture_on_commit_callbacks(execute=True):
            dispatch.fill_buffer()
        return queues.take()

    return fill
