"""Fixtures of the site's tests: each test has a separate bundle folder, and a Redis that is never there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import redis
from celery import Celery
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support.brokers import running_redis
from tests.support.schedule import Deal, OnCommit, make_workers, take_jobs
from tournament import queues
from tournament.api import workers as worker_views
from tournament.caches import cache
from tournament.embedded.processes.redis_server import broker_url
from tournament.queues import BrokerState
from tournament.services.results import estimates
from tournament.services.work import messages
from workers.jobs import GameJob
from workers.service.broker import open_redis


class FakeRedis:
    """The number of messages in each queue, in the place of Redis."""

    def __init__(self) -> None:
        self.lengths: dict[str, int] = {}
        self.is_away = False

    def send(self, app: Celery, task: str, queue: str, *, most: int | None = None) -> None:
        if not self.is_away:
            waiting = self.lengths.get(queue, 0)
            self.lengths[queue] = waiting + 1 if most is None else max(waiting, most)

    def look_at_broker(self, names: list[str]) -> BrokerState:
        if self.is_away:
            return BrokerState({}, None, "does not answer")
        return BrokerState({name: self.lengths.get(name, 0) for name in names}, None)

    def try_to(self, act: Callable[[redis.Redis], object]) -> None:
        """Nothing is watched, and nobody hears of changes; for tests of that see ``real_redis``."""


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> FakeRedis:
    fake = FakeRedis()
    monkeypatch.setattr(messages, "_sent_at", float("-inf"))
    monkeypatch.setattr(worker_views, "_BUCKETS", worker_views.TokenBuckets())
    for name in ("send", "look_at_broker"):
        monkeypatch.setattr(f"tournament.queues.{name}", getattr(fake, name))
    monkeypatch.setattr(queues, "_PAGES", fake)
    return fake


@pytest.fixture
def real_redis(broker: FakeRedis, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """A client of a Redis that has what is watched, and the messages that pages have changed."""
    queues._client.cache_clear()
    monkeypatch.setattr(queues, "_PAGES", queues._Patience())
    with running_redis() as socket:
        monkeypatch.setenv("REDIS_URL", broker_url(socket))
        with open_redis(broker_url(socket)) as client:
            yield client
    queues._client.cache_clear()


@pytest.fixture(autouse=True)
def own_folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATA = tmp_path
    settings.BUNDLES = tmp_path / "bundles"
    settings.EVIDENCE = tmp_path / "evidence"
    settings.DUMPS = tmp_path / "dumps"
    settings.SLOTS = 2
    settings.TRUST_UPLOADS = False
    settings.CACHE = tmp_path / "cache"
    settings.SANDBOX = ""
    settings.IS_LOCAL = False
    settings.IS_STARTED_BY_ROOT = False
    settings.START_COMMAND = "./arena up --port 8123"
    cache.clear()
    estimates._stored.cache_clear()


@pytest.fixture
def deal(settings: Settings) -> Deal:
    """Let the slots of the workers, made if there are none, ask for work; returns the jobs that they took."""

    def take() -> list[GameJob]:
        make_workers(settings.SLOTS)
        return take_jobs()

    return take


@pytest.fixture
def on_commit(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> OnCommit:
    """``with on_commit():`` runs what follows a commit at the end of its block."""
    return partial(django_capture_on_commit_callbacks, execute=True)
