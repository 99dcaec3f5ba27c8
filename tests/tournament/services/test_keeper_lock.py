"""The lock of the record keeper, between processes and on both databases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import OperationalError

from tests.support.sites import bare_environment
from tournament.embedded.plan import ROOT
from tournament.services import keeper_lock
from tournament.services.keeper_lock import KeeperLock

pytestmark = pytest.mark.slow
HOLD = """
import sys
from tournament.services.keeper_lock import KeeperLock
lock = KeeperLock()
print("tries", lock.try_to_take(), flush=True)
lock.take()
print("has it", lock.keep(), flush=True)
sys.stdin.read()
"""
LOSE = """
from django.db import connection
from tournament.services.keeper_lock import KeeperLock
first, second = KeeperLock(), KeeperLock()
first.take()
pid = first._session.connection.info.backend_pid
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
print(first.keep(), first.keep(), second.try_to_take())
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [first._session.connection.info.backend_pid])
print(second.try_to_take(), first.keep())
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    own = {"DUARENA_DATA": str(tmp_path)}
    if request.param == "postgresql":
        own["DATABASE_URL"] = request.getfixturevalue("postgres")
    return {**bare_environment(), **own}


def start(program: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        (sys.executable, "manage.py", "shell", "-v0", "-c", program),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def holder(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with start(HOLD, environment) as process:
        assert read_line(process) == "tries True"
        assert read_line(process) == "has it True"
        yield process
        process.kill()


def test_a_second_record_keeper_waits_until_the_first_is_killed(
    holder: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    with start(HOLD, environment) as second:
        assert read_line(second) == "tries False"
        os.kill(holder.pid, 9)
        assert read_line(second) == "has it True"
        second.kill()


def test_a_record_keeper_does_not_begin_without_the_lock_while_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Celery only logs what is raised before a worker is ready, and then has it work."""
    answers: Iterator[OperationalError | bool] = iter(
        [False, OperationalError("away"), OperationalError("away"), False, True]
    )

    def try_to_take(lock: KeeperLock) -> bool:
        answer = next(answers)
        if isinstance(answer, OperationalError):
            raise answer
        return answer

    monkeypatch.setattr(KeeperLock, "try_to_take", try_to_take)
    monkeypatch.setattr(keeper_lock, "PAUSE_SECONDS", 0.0)
    KeeperLock().take()
    assert next(answers, None) is None
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "another record keeper works on this database",
        "the database cannot be used, this record keeper waits for it",
        "another record keeper works on this database",
    ]


def test_a_lock_whose_connection_is_lost_is_taken_again_unless_another_has_it(
    postgres: str, tmp_path: Path
) -> None:
    environment = {**bare_environment(), "DUARENA_DATA": str(tmp_path), "DATABASE_URL": postgres}
    with start(LOSE, environment) as process:
        output, errors = process.communicate(timeout=60)
    assert output.split() == ["True", "True", "False", "True", "False"], errors
