"""A site whose broker anybody can write to, and what a worker's host can do to it with its own credentials.

What reaches a worker is in ``tests/workers/service/messaging/test_transport.py``, what a job may name in
``test_vetting.py``, and who gets which key in ``tests/tournament/test_keyring.py``.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import redis
from celery import Celery

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from tests.support.brokers import PATIENCE_SECONDS, celery_app
from tests.support.jobs import job_of, wait_until
from tests.support.malformed import MALFORMED, raw_message
from tests.support.sites import LonelySite, running_lonely_site
from workers.bundles.bundle_site import PROTOCOL_HEADER
from workers.jobs import PROTOCOL, EngineSpec, GameReport, JsonValue, Progress, Release, SideLog
from workers.service.messaging.heartbeat import Heartbeat
from workers.service.messaging.signing import WorkerKeyring, parse_key

pytestmark = pytest.mark.thorough
EAST, WEST = "players@east", "players@west"
SCHEDULE = """
from tournament.embedded.samples import register_samples
from tournament.models import User
from tournament.services.accounts.tokens import create_token
from tournament.services.schedule.tournaments import create_round_robin, start

bots = [version for version in register_samples() if version.bot.name in {"Random", "Greedy"}]
start(create_round_robin(
    None, name="Target", versions=bots, ladders=["dualma"], pairs=1, opening_plies=2,
    time_control="1+0.1", seed=1,
))
staff = User.objects.create_superuser("stan", password="correct horse")
print("tokens", *(create_token(staff, name, ["worker"])[1] for name in ("east", "west")))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path_factory.mktemp("site"), 18_850) as site:
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
        yield site


def queue_client(site: LonelySite) -> redis.Redis:
    return redis.Redis.from_url(site.broker.replace("redis+socket", "unix").partition("?")[0])


def ignored(site: LonelySite) -> dict[str, int]:
    return dict(site.ask("SELECT reason, count FROM tournament_ignored"))  # type: ignore[arg-type]


def test_the_record_keeper_survives_whatever_is_in_its_queue(site: LonelySite, tmp_path: Path) -> None:
    """Nobody without a key is heard: unsigned messages are set aside, whatever they hold."""
    stolen, before = tmp_path / "stolen", ignored(site).get("malformed", 0)
    spec = EngineSpec("Thief", "1", ("sh", "-c", f"touch {stolen}"), directory=str(tmp_path), trusted=True)
    job = job_of(spec, spec).to_json()
    intruder, client = celery_app(site.broker, None), queue_client(site)
    intruder.control.shutdown()
    for item in MALFORMED.values():
        client.lpush("records", item)
    client.lpush("records", json.dumps(raw_message("workers.play", ([job], {}, {}))).encode())
    intruder.send_task("workers.play", args=[job], queue="records")
    intruder.send_task("tournament.sweep", args=["2100-01-01T00:00:00+00:00"], queue="records")
    intruder.close()
    expected = before + len(MALFORMED) + 3
    assert wait_until(lambda: ignored(site).get("malformed", 0) == expected, 60), ignored(site)
    assert not stolen.exists()


class Host:
    """A worker's host with its token, which registers and signs as it likes."""

    def __init__(self, site: LonelySite, name: str, token: str, broker: str = "") -> None:
        self.name, self.client = name, queue_client(site)
        form = urlencode({"name": name, "queue": "games"}).encode()
        address, headers = f"{site.url}/api/workers/", {"Authorization": f"Bearer {token}"}
        headers[PROTOCOL_HEADER] = str(PROTOCOL)
        with urllib.request.urlopen(urllib.request.Request(address, form, headers)) as answer:
            key = parse_key(json.load(answer)["key"])
        self.app: Celery = celery_app(broker or site.broker, WorkerKeyring(name, key))

    def send(self, task: str, *arguments: Any) -> None:
        told = [value.to_json() if isinstance(value, JsonValue) else value for value in arguments]
        self.app.send_task(f"tournament.{task}", args=told, queue="records")

    def heartbeat(self, worker: str = "") -> Heartbeat:
        return Heartbeat(
            worker or self.name, "run", "host", "games", "1", 1, 0, 0, 0, 0, 0, "1", "A", "", True, False
        )


def counted(site: LonelySite, kind: str, count: int) -> bool:
    """Whether so many messages of a kind are counted in time, and no more."""
    return wait_until(lambda: ignored(site).get(kind, 0) >= count, 60) and ignored(site)[kind] == count


def test_a_worker_s_host_can_do_nothing_to_another_worker_s_games(site: LonelySite) -> None:
    east_token, west_token = site.run(SCHEDULE).rpartition("tokens ")[2].split()
    west = Host(site, WEST, west_token)
    west.send("heartbeat", west.heartbeat())
    query = (
        "SELECT g.key, a.id FROM tournament_attempt a JOIN tournament_game g ON g.id = a.game_id"
        " WHERE a.ended_at IS NULL AND a.assigned = ?"
    ).replace("?", f"'{WEST}'")
    assert wait_until(lambda: len(site.ask(query)) == 2, PATIENCE_SECONDS)
    assert wait_until(lambda: queue_client(site).llen(f"games.{WEST}") == 1)
    ((key, attempt), _) = site.ask(query)
    east = Host(site, EAST, east_token)
    mine = forged_win(str(key), str(attempt), f"{EAST}/1")

    # Reports of the other worker's game, in its own name and in the other's.
    for worker in (EAST, WEST):
        east.send("record", [replace(mine, worker=f"{worker}/1").to_json()])
        east.send("progress", Progress(str(key), str(attempt), f"{worker}/1", (), None, None))
        east.send("release", Release(str(key), str(attempt), f"{worker}/1"))
    east.send("heartbeat", east.heartbeat(WEST))
    # Tasks of the site itself, and a game for the site to play.
    east.send("sweep", "2100-01-01T00:00:00+00:00")
    east.send("dispatch")
    east.app.send_task("workers.play", args=[[]], queue="records")
    assert counted(site, "foreign", 9), ignored(site)

    # Its own heartbeat again, and its message under the other's name or in the other's queue.
    east.send("heartbeat", replace(east.heartbeat(), stopping=True))
    envelope = sealed_heartbeat(east)
    east.client.lpush("records", *[json.dumps(envelope)] * 3)
    east.client.lpush("records", json.dumps(envelope | {"sender": WEST}))
    east.client.lpush("records", json.dumps(envelope | {"sender": "site"}))
    assert counted(site, "replayed", 2), ignored(site)
    assert counted(site, "forged", 2), ignored(site)

    # Nothing has changed for the other worker and its games.
    assert len(site.ask(query)) == 2
    assert queue_client(site).llen(f"games.{WEST}") == 1
    assert site.ask("SELECT count(*) FROM tournament_game WHERE result IS NOT NULL") == [(0,)]
    west.app.close()
    east.app.close()
    assert "unregistered task" in (site.data / "logs" / "keeper.log").read_text()


def sealed_heartbeat(host: Host) -> dict[str, Any]:
    """A heartbeat of this host in its envelope, as the host would push it."""
    with host.app.connection() as connection:
        channel: Any = connection.default_channel
        body = json.dumps([[host.heartbeat().to_json()], {}, {**dict.fromkeys(EMBEDDED)}])
        message = raw_message("tournament.heartbeat", json.loads(body))
        sealed = channel.signer.seal(json.dumps(message), "tournament.heartbeat", "records", time.time())
        return dict(sealed.to_json())


EMBEDDED = ("callbacks", "errbacks", "chain", "chord")


def forged_win(key: str, attempt: str, worker: str) -> GameReport:
    """The end of a game on time, which the record keeper cannot disprove."""
    return GameReport(
        key=key, attempt=attempt, worker=worker, result=Result.WHITE_WINS, termination=Termination.TIME,
        reason=Reason.NONE, fault=Fault.BLACK, evidence="no answer", white_score=None, black_score=None,
        moves=(), white=SideLog(), black=SideLog(),
        started="2026-01-02T03:04:05+00:00", finished="2026-01-02T03:04:06+00:00",
    )  # fmt: skip
