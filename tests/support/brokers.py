"""A real Redis on a socket of its own, and game workers as processes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from tests.support.jobs import wait_until
from tournament.embedded.processes.redis_server import (
    broker_url,
    find_redis_server,
    find_trouble,
    redis_servers,
    server_version,
)
from workers.commands.start import KEY, worker_name
from workers.jobs import ComplianceJob, GameJob, GameReport
from workers.sandbox.policy import TRUST
from workers.service.messaging.commands import Admission, Command
from workers.service.messaging.heartbeat import Heartbeat
from workers.service.messaging.signing import COMMANDS, KEY_BYTES, SITE, Keyring, Signer, own_queue
from workers.service.messaging.transport import use_hardened_transport

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 60.0
"""The longest wait; only a failing test or a busy machine reaches it."""


TEST_KEY = bytes(KEY_BYTES)
"""The key of every worker of ``running_worker``."""


class TestKeyring:
    """The site's keys, where every worker has the same; ``name`` is the sender."""

    __test__ = False

    def __init__(self, name: str = SITE) -> None:
        self.name = name

    def key_for(self, queue: str) -> bytes:
        return TEST_KEY

    def key_of(self, sender: str, queue: str) -> bytes:
        return TEST_KEY


def celery_app(broker: str, keyring: Keyring | None) -> Celery:
    """An app that signs with these keys, or not at all."""
    use_hardened_transport()
    app = Celery("tests", broker=broker, set_as_current=False)
    signer = {"signer": Signer(keyring)} if keyring else {}
    app.conf.broker_transport_options = {"priority_steps": [0], **signer}
    return app


def signed_message(item: bytes) -> Any:
    """The message in an envelope, whose signature is not looked at."""
    return json.loads(json.loads(item)["signed"])


@dataclass(frozen=True)
class Message:
    task: str
    value: Any


class Broker:
    """The site's side of the queues, without a site.

    Workers that register are admitted while ``admits`` is true; ``heartbeats`` has their messages.
    """

    def __init__(self, socket: Path) -> None:
        self.admits = True
        self.heartbeats: list[Heartbeat] = []
        self.socket = socket
        self.url = broker_url(socket)
        self._client = redis.Redis(unix_socket_path=str(socket))
        self._app = celery_app(self.url, TestKeyring())

    def send(self, job: GameJob, queue: str = "games", worker: str = "") -> None:
        """To the worker of this name, else to one with the default name."""
        self._app.send_task("workers.play", args=[job.to_json()], queue=queue_of(queue, worker))

    def send_jobs(self, jobs: Sequence[GameJob], queue: str = "games", worker: str = "") -> None:
        """As the dispatcher does."""
        told = [job.to_json() for job in jobs]
        self._app.send_task("workers.play", args=[told], queue=queue_of(queue, worker))

    def send_check(self, job: ComplianceJob) -> None:
        self._app.send_task("workers.examine", args=[job.to_json()], queue=queue_of("validation"))

    def tell_worker(self, heartbeat: Heartbeat, admitted: bool, why: str = "") -> None:
        """The site's word to a worker."""
        self.command(Command(heartbeat.worker, admission=Admission(heartbeat.run, admitted, why)))

    def command(self, command: Command) -> None:
        with self._app.producer_or_acquire() as producer:
            producer.publish(command.to_json(), routing_key=own_queue(COMMANDS, command.worker), exchange="")

    def push(self, queue: str, item: bytes) -> None:
        """Put any bytes into a queue, as everybody can who may write to the broker."""
        self._client.lpush(queue, item)

    def push_all(self, queue: str, items: Sequence[bytes]) -> None:
        self._client.lpush(queue, *items)

    def replace_key(self, queue: str) -> None:
        """Put text in the place of a queue."""
        self._client.set(queue, "text")

    def keys(self) -> set[str]:
        return {key.decode() for key in self._client.scan_iter()}

    def pop(self, queue: str) -> bytes:
        """The oldest item of a queue."""
        return bytes(self._client.rpop(queue))  # type: ignore[arg-type]

    def items(self, queue: str) -> list[bytes]:
        """All items of a queue, the newest first."""
        return list(self._client.lrange(queue, 0, -1))  # type: ignore[arg-type]

    def receive(self, seconds: float) -> Message | None:
        """The next message on ``records`` that is no heartbeat."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            found: Any = self._client.brpop(["records"], timeout=left)
            if found is None:
                return None
            message = signed_message(found[1])
            (value,), _, _ = json.loads(base64.b64decode(message["body"]))
            if message["headers"]["task"] != "tournament.heartbeat":
                return Message(message["headers"]["task"], value)
            self.heartbeats.append(Heartbeat.from_json(value))
            if self.admits != self.heartbeats[-1].admitted and not self.heartbeats[-1].stopping:
                self.tell_worker(self.heartbeats[-1], self.admits, "by the test")
        return None

    def hear(self, seconds: float = PATIENCE_SECONDS) -> Heartbeat:
        """The next heartbeat; fails when there is none, or another message comes first."""
        known, end = len(self.heartbeats), time.monotonic() + seconds
        while len(self.heartbeats) == known and time.monotonic() < end:
            assert (message := self.receive(0.2)) is None, message
        assert len(self.heartbeats) > known, "no heartbeat came"
        return self.heartbeats[known]

    def hear_until(self, is_so: Callable[[Heartbeat], bool], seconds: float = PATIENCE_SECONDS) -> Heartbeat:
        """The next heartbeat for which that is so; fails when none comes, or another message before it."""
        end = time.monotonic() + seconds
        while not is_so(heartbeat := self.hear()):
            assert time.monotonic() < end, heartbeat
        return heartbeat

    def receive_until(self, task: str, count: int = 1, seconds: float = PATIENCE_SECONDS) -> list[Message]:
        """All messages up to the ``count``-th of this task; fails when they do not come."""
        end = time.monotonic() + seconds
        messages: list[Message] = []
        while sum(message.task == task for message in messages) < count:
            message = self.receive(max(0.1, end - time.monotonic()))
            assert message is not None, f"no {task} came, only {messages}"
            messages.append(message)
        return messages

    def receive_reports(
        self, count: int, seconds: float = PATIENCE_SECONDS
    ) -> tuple[list[GameReport], list[Message]]:
        """So many games' reports, and the messages among which they came."""
        reports: list[GameReport] = []
        messages: list[Message] = []
        while len(reports) < count:
            messages += self.receive_until("tournament.record", seconds=seconds)
            reports += [GameReport.from_json(value) for value in messages[-1].value]
        return reports, messages

    def close(self) -> None:
        self._client.close()
        self._app.close()


def queue_of(kind: str, worker: str = "") -> str:
    """The queue of jobs of the worker of this name, or of one with the default name."""
    return own_queue(kind, worker_name(worker or None, kind))


def need_redis(major: int) -> Path:
    """A redis-server of this version; skips the test if there is none."""
    for server in redis_servers():
        if server_version(server)[0] == major:
            return server
    return pytest.skip(f"no redis-server of version {major} here: apt-get install redis-server")


@contextmanager
def running_redis(binary: Path | None = None, *more: str) -> Iterator[Path]:
    """The socket of one of our own, with ``more`` options. Not in a test's folder: a path has little room."""
    folder = Path(tempfile.mkdtemp(prefix="redis-"))
    socket = folder / "s"
    options = ("--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder), *more)
    server = subprocess.Popen([binary or find_redis_server(), *options], stdout=subprocess.DEVNULL)
    try:
        ready = ("", "refuses the user or password of REDIS_URL (Authentication required)")
        assert wait_until(lambda: socket.exists() and find_trouble(broker_url(socket)) in ready, 10)
        yield socket
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_broker(binary: Path | None = None) -> Iterator[Broker]:
    with running_redis(binary) as socket:
        broker = Broker(socket)
        yield broker
        broker.close()


NO_DJANGO = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "tournament"}:
            raise ImportError(f"{name} is not installed")
sys.meta_path.insert(0, Forbid())
"""


def without_django(folder: Path) -> dict[str, str]:
    """What a process needs in its environment to be where no Django and no site are installed."""
    (folder / "sitecustomize.py").write_text(NO_DJANGO)
    return {"PYTHONPATH": str(folder)}


QUICK = {
    "workers.service.messaging.heartbeat.HEARTBEAT_SECONDS": 1.0,
    "workers.service.messaging.heartbeat.WAITING_HEARTBEAT_SECONDS": 0.2,
    "workers.service.self_test.FIRST_PAUSE_SECONDS": 0.2,
    "workers.service.messaging.reports.PAUSE_SECONDS": 0.1,
    "workers.play.runner.PROGRESS_SECONDS": 0.2,
}
"""What a worker does every few seconds it does more often, so that no test has to wait for it."""
START = """
import importlib, json, runpy, sys
for name, value in json.loads(sys.argv.pop(1)).items():
    module, _, constant = name.rpartition(".")
    setattr(importlib.import_module(module), constant, value)
runpy.run_module("workers", run_name="__main__", alter_sys=True)
"""


@contextmanager
def running_worker(
    broker: str,
    folder: Path,
    queue: str = "games",
    *,
    slots: int = 1,
    words: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    root: Path = ROOT,
    walls: bool = False,
    key: bytes = TEST_KEY,
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker for that queue of the broker at that address; its scratch folders are in ``folder / "tmp"``.

    ``words`` are more of its command line, ``environment`` more of that; ``root`` is the checkout it runs.
    ``walls``: around engines, where there are any to be had. Only bundles are to be seen behind them, not the
    engines that are files of this checkout. Without ``key`` the worker registers at its site.
    """
    (folder / "tmp").mkdir(exist_ok=True)
    usual = (f"--queue={queue}", f"--slots={slots}", f"--broker={broker}")
    bundles = f"--bundles={folder / 'bundles'}"
    command = (sys.executable, "-c", START, json.dumps(QUICK), "start", *usual, bundles, *words)
    own = {
        "TMPDIR": str(folder / "tmp"),
        "DUARENA_CACHE": str(folder / "cache"),
        TRUST: "0" if walls else "1",
        KEY: key.hex(),
    }
    with (folder / "worker.log").open("ab") as log:
        worker = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, **own, **(environment or {})},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield worker
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
