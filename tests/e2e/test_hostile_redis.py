"""A site whose Redis anybody can write to: no result changes, no game is lost, play waits for seconds."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import redis

from tests.support.brokers import kill_redis, running_worker, without_django
from tests.support.fake_door import PATIENCE_SECONDS
from tests.support.jobs import job_of, wait_until
from tests.support.malformed import MALFORMED, raw_message
from tests.support.sites import LonelySite, running_lonely_site
from workers.jobs import EngineSpec
from workers.service.turns import LOOK, TURNS, TURNS_CHECKS

pytestmark = pytest.mark.thorough
LISTS = (LOOK, TURNS, TURNS_CHECKS)
GAMES = 8
DELAY_S, SLACK_S = 5.0, 5.0
"""The longest delay, and what a busy machine adds."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path / "site", 18_850) as site:
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
        yield site


@contextmanager
def worker_of(site: LonelySite, folder: Path) -> Iterator[None]:
    """A worker that reads the site's Redis as often as an ordinary one."""
    own = {**without_django(folder), "DUARENA_TOKEN": site.token}
    ordinary = ("--name=east",)
    with running_worker(site.url, folder, redis=site.broker, environment=own, words=ordinary, is_quick=False):
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_worker"), PATIENCE_SECONDS)
        yield


def client_of(site: LonelySite) -> redis.Redis:
    return redis.Redis.from_url(site.broker.replace("redis+socket", "unix").partition("?")[0])


def is_over(site: LonelySite) -> bool:
    return site.ask("SELECT count(*) FROM tournament_tournament WHERE state != 'finished'") == [(0,)]


def check_once(site: LonelySite, games: int) -> None:
    """Every game was recorded by its first attempt."""
    assert site.ask("SELECT end, count(*) FROM tournament_attempt GROUP BY end") == [("recorded", games)]
    assert site.ask("SELECT count(*) FROM tournament_gamerecord") == [(games,)]


class Attacker(threading.Thread):
    """Has all rights on Redis: takes every turn, and fills the lists with anything, without a pause."""

    def __init__(self, client: redis.Redis, items: list[bytes]) -> None:
        super().__init__(daemon=True)
        self._client, self._items = client, items
        self._ended = threading.Event()
        self.rounds = 0

    def run(self) -> None:
        while not self._ended.wait(0.05):
            self.rounds += 1
            self._client.flushall()
            for name in (*LISTS, "records", "celery", "reply.celery.pidbox"):
                if self.rounds % 3 == 0:
                    self._client.lpush(name, *self._items)
                elif self.rounds % 3 == 1:
                    self._client.set(name, "text")
            self._client.publish("/0.celery.pidbox", self._items[0])
        self._client.flushall()

    def end(self) -> None:
        self._ended.set()
        self.join()


def test_whoever_has_all_rights_on_redis_changes_no_result_and_runs_nothing(
    site: LonelySite, tmp_path: Path
) -> None:
    stolen = tmp_path / "stolen"
    spec = EngineSpec("Thief", "1", ("sh", "-c", f"touch {stolen}"), directory=str(tmp_path), trusted=True)
    job = raw_message("workers.play", ([msgspec.to_builtins(job_of(spec, spec))], {}, {}))
    sweep = raw_message("tournament.sweep", (["2100-01-01T00:00:00+00:00"], {}, {}))
    items = [*MALFORMED.values(), *(json.dumps(one).encode() for one in (job, sweep))]
    attacker = Attacker(client_of(site), items)
    attacker.start()
    with worker_of(site, tmp_path):
        site.schedule("Target", "dogon-kulei", "dualma")
        assert wait_until(lambda: is_over(site), 3 * PATIENCE_SECONDS)
    attacker.end()
    assert attacker.rounds > 3
    check_once(site, GAMES)
    assert not stolen.exists()
    for name in ("keeper", "beat"):
        assert "Traceback" not in (site.data / "logs" / f"{name}.log").read_text()


def test_whoever_takes_every_turn_delays_play_and_records_by_five_seconds_at_most(
    site: LonelySite, tmp_path: Path
) -> None:
    with worker_of(site, tmp_path):
        attacker = Attacker(client_of(site), [b"junk"])
        attacker.start()
        for name in ("First", "Second"):
            site.schedule(name, "dogon-kulei", "dualma")
            assert wait_until(lambda: is_over(site), 3 * PATIENCE_SECONDS)
        attacker.end()
    delays = site.ask("""
        SELECT 86400 * (julianday(min(a.sent_at)) - julianday(t.started_at)),
               86400 * max(julianday(a.ended_at) - julianday(a.reported_at))
        FROM tournament_attempt a JOIN tournament_game g ON a.game_id = g.id
        JOIN tournament_tournament t ON g.tournament_id = t.id GROUP BY t.id
    """)
    assert len(delays) == 2
    for begun, recorded in delays:  # a request's time is that before it waited for the database
        assert -SLACK_S < float(str(begun)) < DELAY_S + SLACK_S
        assert -SLACK_S < float(str(recorded)) < DELAY_S + SLACK_S


def test_play_goes_on_while_redis_is_gone(site: LonelySite, tmp_path: Path) -> None:
    with worker_of(site, tmp_path):
        with client_of(site) as client:
            kill_redis(client)
        site.schedule("Without", "dogon-kulei", "dualma")
        assert wait_until(lambda: is_over(site), 3 * PATIENCE_SECONDS)
    check_once(site, GAMES)


def test_a_flood_of_a_million_items_stops_nobody(site: LonelySite, tmp_path: Path) -> None:
    with worker_of(site, tmp_path), client_of(site) as client:
        for _ in range(100):
            client.lpush(TURNS, *[b"x"] * 10_000)
        client.lpush(LOOK, b"[" * 70_000_000)
        site.schedule("Flooded", "dogon-kulei", "dualma")
        assert wait_until(lambda: is_over(site), 3 * PATIENCE_SECONDS)
    check_once(site, GAMES)
