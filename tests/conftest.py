"""A time limit for every test, so that a test that hangs fails with a message."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import settings
from pytest_django.plugin import DjangoDbBlocker

from tests.support import databases, effort
from tests.support.postgres import running_postgres

# Without a deadline: slowness of a busy machine is not a failure.
settings.register_profile(effort.MODE, max_examples=effort.EXAMPLES, deadline=None)
settings.load_profile(effort.MODE)

MAX_SECONDS = 300
MAX_SECONDS_SLOW = 1500
"""The limit of a slow or thorough test. Both limits are far above the time on a busy machine."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    with _bounded(item, "before it began"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with _bounded(item, "in the middle"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    with _bounded(item, "while it cleaned up"):
        return (yield)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that all tests of this process share; each has a database of its own."""
    with running_postgres() as address:
        yield address


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Whether the database is one that is migrated already."""
    return databases.take_migrated()


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_keepdb: bool, django_db_blocker: DjangoDbBlocker
) -> None:
    if not django_db_keepdb:
        with django_db_blocker.unblock():
            databases.keep_migrated()


@contextmanager
def _bounded(item: pytest.Item, where: str) -> Iterator[None]:
    """A limit by an alarm, which interrupts any wait of the main thread, where tests run."""
    is_slow = item.get_closest_marker("slow") or item.get_closest_marker("thorough")
    seconds = MAX_SECONDS_SLOW if is_slow else MAX_SECONDS

    def give_up(*_: object) -> None:
        pytest.fail(f"{item.nodeid} hangs {where}: it is not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
