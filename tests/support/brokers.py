"""A real Redis on a socket of its own, and game workers as processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from celery import Celery

from tests.support.fake_door import TOKEN
from tests.support.jobs import wait_until
from tournament.embedded.processes.redis_server import broker_url, find_redis_server, find_trouble
from tournament.queues import CHANGES
from workers.sandbox.policy import TRUST
from workers.service.broker import PLAY, broker_settings

ROOT = Path(__file__).resolve().parent.parent.parent


@contextmanager
def running_redis(binary: Path | None = None, *more: str, at: Path | None = None) -> Iterator[Path]:
    """The socket of one of our own, with ``more`` options; ``at`` the socket of one that has ended.

    Not in a test's folder: a path has little room.
    """
    folder = Path(tempfile.mkdtemp(prefix="redis-"))
    socket = at or folder / "s"
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


def tell_slots(url: str, queue: str = "games") -> Celery:
    """Have a free slot of a worker ask for work, as the record keeper does; returns the app that sent it."""
    app = Celery("tests")
    app.conf.update(broker_settings(url, queue))
    app.send_task(PLAY)
    return app


def kill_redis(client: redis.Redis) -> None:
    """Kill the Redis of this client."""
    told: Any = client.info("server")
    os.kill(told["process_id"], signal.SIGKILL)


@contextmanager
def announced(client: redis.Redis) -> Iterator[set[str]]:
    """The topics that are announced within the block; complete after it."""
    topics: set[str] = set()
    with client.pubsub(  # type: ignore[no-untyped-call]
        ignore_subscribe_messages=True
    ) as messages:
        messages.subscribe(CHANGES)
        messages.get_message(timeout=1)
        yield topics
        client.publish(CHANGES, "end")
        while "end" not in topics:
            message = messages.get_message(timeout=1)
            topics.update(message["data"].decode().split() if message else ())
    topics.remove("end")


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
    "workers.service.worker.TEND_SECONDS": 0.5,
    "workers.service.worker.HEARTBEAT_SECONDS": 1.0,
    "workers.service.worker.WAITING_HEARTBEAT_SECONDS": 0.2,
    "workers.service.worker.TICK_SECONDS": 0.1,
    "workers.service.worker.STATUS_SECONDS": 0.5,
    "workers.service.self_test.FIRST_PAUSE_SECONDS": 0.2,
    "workers.service.slot.FIRST_PAUSE_SECONDS": 0.2,
    "workers.service.slot.LONGEST_PAUSE_SECONDS": 0.5,
    "workers.service.site.FIRST_PAUSE_SECONDS": 0.2,
    "workers.service.site.LONGEST_PAUSE_SECONDS": 0.5,
    "workers.service.site.GATHER_SECONDS": 0.1,
    "workers.service.site.RENEW_SECONDS": 0.3,
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
    site: str,
    folder: Path,
    queue: str = "games",
    *,
    redis: str = "",
    slots: int = 1,
    words: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    root: Path = ROOT,
    walls: bool = False,
    log: int | None = None,
    is_quick: bool = True,
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of the site at that address; its scratch folders are in ``folder / "tmp"``.

    ``words`` are more of its command line, ``environment`` more of that; ``root`` is the checkout it runs.
    ``walls``: around engines, where there are any to be had. Only bundles are to be seen behind them, not the
    engines that are files of this checkout. It writes to ``worker.log`` in the folder, or to ``log``.
    ``is_quick``: see ``QUICK``.
    """
    (folder / "tmp").mkdir(exist_ok=True)
    command = (
        sys.executable,
        "-c",
        START,
        json.dumps(QUICK if is_quick else {}),
        "start",
        f"--queue={queue}",
        f"--slots={slots}",
    )
    own = {
        "TMPDIR": str(folder / "tmp"),
        "DUARENA_BUNDLES": str(folder / "bundles"),
        "DUARENA_CACHE": str(folder / "cache"),
        "DUARENA_SITE": site,
        "DUARENA_TOKEN": TOKEN,
        "REDIS_URL": redis,
        TRUST: "0" if walls else "1",
    }
    outer = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    with (folder / "worker.log").open("ab") as file:
        output = file if log is None else log
        worker = subprocess.Popen(
            (*command, *words),
            cwd=root,
            env={**outer, **own, **(environment or {})},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield worker
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
