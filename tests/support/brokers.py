"""A real Redis on a socket of its own, and game workers on it as the processes they are."""

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from celery import Celery

from tests.support.jobs import wait_until
from tournament.embedded.redis_server import answers, broker_url, find_redis_server
from workers.examination import ExamJob
from workers.jobs import GameJob, GameReport

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Message:
    task: str
    value: Any


class Broker:
    """The site's side of the queues, without a site."""

    def __init__(self, socket: Path) -> None:
        self.url = broker_url(socket)
        self._client = redis.Redis(unix_socket_path=str(socket))
        self._app = Celery("tests", broker=self.url, set_as_current=False)

    def send(self, job: GameJob, queue: str = "games") -> None:
        self._app.send_task("workers.play", args=[job.to_json()], queue=queue)

    def send_jobs(self, jobs: Sequence[GameJob], queue: str = "games") -> None:
        """As the dispatcher does."""
        self._app.send_task("workers.play", args=[[job.to_json() for job in jobs]], queue=queue)

    def send_exam(self, job: ExamJob) -> None:
        self._app.send_task("workers.examine", args=[job.to_json()], queue="validation")

    def receive(self, seconds: float) -> Message | None:
        """The next message on ``records``."""
        found: Any = self._client.brpop(["records"], timeout=seconds)
        if found is None:
            return None
        message = json.loads(found[1])
        (value,), _, _ = json.loads(base64.b64decode(message["body"]))
        return Message(message["headers"]["task"], value)

    def receive_until(self, task: str, count: int = 1, seconds: float = 20) -> list[Message]:
        """All messages up to the ``count``-th of this task; fails when they do not come."""
        end = time.monotonic() + seconds
        messages: list[Message] = []
        while sum(message.task == task for message in messages) < count:
            message = self.receive(max(0.1, end - time.monotonic()))
            assert message is not None, f"no {task} came, only {messages}"
            messages.append(message)
        return messages

    def receive_reports(self, count: int, seconds: float = 20) -> tuple[list[GameReport], list[Message]]:
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


@contextmanager
def running_broker() -> Iterator[Broker]:
    """Its socket is in ``/tmp``: a path has little room."""
    folder = Path(tempfile.mkdtemp(prefix="duarena-test-", dir="/tmp"))
    socket = folder / "s"
    options = ("--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder))
    server = subprocess.Popen([find_redis_server(), *options], stdout=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: socket.exists() and answers(broker_url(socket)), 10)
        broker = Broker(socket)
        yield broker
        broker.close()
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_worker(
    broker: Broker, folder: Path, queue: str = "games", slots: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker for that queue; its scratch folders are in ``folder / "tmp"``."""
    (folder / "tmp").mkdir(exist_ok=True)
    words = (
        f"--queue={queue}",
        f"--slots={slots}",
        f"--broker={broker.url}",
        f"--bundles={folder / 'bundles'}",
    )
    command = (sys.executable, "-m", "workers", "start", *words)
    environment = os.environ | {"TMPDIR": str(folder / "tmp"), "DUARENA_CACHE": str(folder / "cache")}
    with (folder / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield worker
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
