"""A record keeper for which more messages of workers wait than it can handle for some time."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.brokers import PATIENCE_SECONDS, running_redis
from tests.support.jobs import wait_until
from tests.support.sites import SiteData
from tournament.embedded.plan import ROOT, Address, services
from tournament.embedded.processes.redis_server import broker_url

pytestmark = pytest.mark.slow
MESSAGES = 2000
SEND = f"""
from tournament.celery import app
from tournament.keyring import BEAT
from workers.jobs import Progress

told = Progress("no/1/1/1", "no attempt", "site/1", (), None, None).to_json()
for _ in range({MESSAGES}):
    app.send_task("tournament.progress", args=[told], queue="records")
for name in ("dispatch", "sweep"):
    app.send_task("tournament." + name, queue=BEAT)
"""


def test_a_sweep_does_not_wait_behind_thousands_of_messages_of_workers(tmp_path: Path) -> None:
    site = SiteData(tmp_path)
    planned = services(Address("127.0.0.1", 1), workers=1, data=tmp_path)
    command = next(service.command for service in planned if service.name == "keeper")
    with running_redis() as socket, (tmp_path / "keeper.log").open("wb") as log:
        site.environment["REDIS_URL"] = broker_url(socket)
        client = redis.Redis(unix_socket_path=str(socket))
        keeper = subprocess.Popen(command, cwd=ROOT, env=site.environment, stdout=log, stderr=log)
        try:
            assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
            os.kill(keeper.pid, signal.SIGSTOP)
            site.run(SEND)
            before = site.ask("SELECT seen_at FROM tournament_keeper")
            assert waiting(client) == MESSAGES
            os.kill(keeper.pid, signal.SIGCONT)
            assert wait_until(
                lambda: site.ask("SELECT seen_at FROM tournament_keeper") != before, PATIENCE_SECONDS
            )
            assert waiting(client) > MESSAGES / 2
        finally:
            keeper.kill()
            keeper.wait()


def waiting(client: redis.Redis) -> int:
    length: Any = client.llen("records")  # its stubs serve asyncio as well
    return int(length)
