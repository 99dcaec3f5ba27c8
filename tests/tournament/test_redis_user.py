"""``manage.py redis_user``: a Redis user for one worker."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
import redis
from django.core.management import CommandError, call_command
from kombu import Connection
from redis.exceptions import NoPermissionError

from tests.support.brokers import running_redis
from tournament import celery
from tournament.embedded.processes.redis_server import broker_url

EAST = "players@east"


@pytest.fixture
def socket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with running_redis() as socket:
        monkeypatch.setattr(celery.app, "connection_for_write", lambda: Connection(broker_url(socket)))
        yield socket


def run(*words: str) -> list[str]:
    printed = StringIO()
    call_command("redis_user", *words, stdout=printed)
    return printed.getvalue().splitlines()


def test_the_user_that_is_made_reaches_the_worker_s_own_queue_alone(socket: Path) -> None:
    (line,) = run(EAST, "--make")
    password = line.rpartition(" ")[2]
    with redis.Redis(unix_socket_path=str(socket), username=EAST, password=password) as client:
        assert client.llen(f"games.{EAST}") == 0
        with pytest.raises(NoPermissionError):
            client.llen("games.players@west")


def test_a_redis_that_refuses_the_site_s_password_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_redis(None, "--requirepass", "right") as socket:
        monkeypatch.setattr(celery.app, "connection_for_write", lambda: Connection(broker_url(socket)))
        with pytest.raises(CommandError, match="it refuses the user or password of REDIS_URL"):
            run(EAST, "--make")


def test_without_make_the_command_is_printed_and_nothing_is_changed(socket: Path) -> None:
    command, line = run(EAST)
    assert command.startswith(f"ACL SETUSER {EAST} reset on >")
    assert line.startswith(f"user {EAST} password ")
    with redis.Redis(unix_socket_path=str(socket)) as client:
        assert client.execute_command("ACL", "GETUSER", EAST) is None


def test_users_are_written_into_redis_s_file_if_it_has_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "users.acl"
    file.touch()
    for given, kept in ((("--aclfile", str(file)), True), ((), False)):
        with running_redis(None, *given) as socket:
            monkeypatch.setattr(
                celery.app, "connection_for_write", lambda to=socket: Connection(broker_url(to))
            )
            run(EAST, "--make")
        assert ("forgets them" not in capsys.readouterr().err) == kept
    assert f"user {EAST} on" in file.read_text()


def test_a_user_that_is_deleted_loses_its_connection(socket: Path) -> None:
    password = run(EAST, "--make")[0].rpartition(" ")[2]
    with redis.Redis(unix_socket_path=str(socket), username=EAST, password=password) as client:
        assert client.llen(f"games.{EAST}") == 0
        assert run(EAST, "--delete") == [f"user {EAST} deleted"]
        with pytest.raises((redis.ConnectionError, redis.AuthenticationError)):
            client.llen(f"games.{EAST}")
    with pytest.raises(CommandError, match=f"Redis has no user {EAST}"):
        run(EAST, "--delete")


def test_what_is_no_worker_s_name_is_refused() -> None:
    for name in ("east", "players@*", "a b@c"):
        with pytest.raises(CommandError, match="is not the name of a worker"):
            run(name)
