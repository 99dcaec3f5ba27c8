"""A worker's host that turns against its site: what it reaches with its own Redis user, token and key.

The table of what such a host can and cannot do is in ``docs/workers.md``; ``test_hostile_broker.py`` has what
it cannot do with its messages alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import redis

from tests.e2e.test_hostile_broker import EAST, SCHEDULE, WEST, Host, counted, ignored, sealed_heartbeat
from tests.support.brokers import PATIENCE_SECONDS, ROOT, need_redis
from tests.support.jobs import processes_with, wait_until
from tests.support.processes import command_line
from tests.support.sites import LonelySite, running_lonely_site
from tests.workers.service.messaging.test_redis_rules import FORBIDDEN, OTHER_TYPES, allowed

pytestmark = pytest.mark.thorough  # two minutes; test_hostile_broker.py has the messages
FLOOD = 20_000
HUGE_BYTES = 70 * 1024 * 1024


@pytest.fixture(scope="module", params=[6, 7])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    """A site on a Redis of each version, with tokens for two workers."""
    binary = need_redis(request.param)
    data = tmp_path_factory.mktemp("site")
    with running_lonely_site(data, 18_900, redis_server=binary) as site:
        assert wait_until(lambda: site.ask("SELECT 1 FROM tournament_keeper"), PATIENCE_SECONDS)
        site.run(SCHEDULE + '\nprint("made")')
        yield site


@pytest.fixture(scope="module")
def east(site: LonelySite) -> Iterator[Host]:
    """The hostile one: its Redis user is its own."""
    password = site.manage("redis_user", EAST, "--make").split()[-1]
    mine = site.broker.replace("socket://", f"socket://{quote(EAST)}:{password}@")
    host = Host(site, EAST, with_token(site, EAST), broker=mine)
    host.client = redis.Redis(unix_socket_path=socket_of(site), username=EAST, password=password)
    yield host
    host.app.close()


@pytest.fixture(scope="module")
def west(site: LonelySite) -> Iterator[Host]:
    host = Host(site, WEST, with_token(site, WEST))
    yield host
    host.app.close()


def with_token(site: LonelySite, name: str) -> str:
    program = f"""
from tournament.models import User
from tournament.services.accounts.tokens import create_token
print("token", create_token(User.objects.get(username="stan"), {name!r}, ["worker"])[1])
"""
    return site.run(program).rpartition("token ")[2].strip()


def socket_of(site: LonelySite) -> str:
    return site.broker.removeprefix("redis+socket://").partition("?")[0]


def is_seen(site: LonelySite, host: Host, run: str) -> bool:
    """Whether a heartbeat of this host, sent now, comes to the record keeper in time."""
    host.send("heartbeat", replace(host.heartbeat(), run=run))
    query = f"SELECT 1 FROM tournament_worker WHERE name = '{host.name}' AND run = '{run}'"
    return wait_until(lambda: site.ask(query), PATIENCE_SECONDS)


def test_its_redis_user_reaches_no_other_worker_and_none_of_the_site_s_keys(
    site: LonelySite, east: Host
) -> None:
    assert [what for what, command in FORBIDDEN.items() if allowed(east.client, command)] == []


def test_its_redis_user_breaks_no_queue(site: LonelySite, east: Host, west: Host) -> None:
    for key in ("records", f"games.{EAST}", f"commands.{EAST}", f"games.{WEST}", "set-aside.site"):
        words = [tuple(word.format(key) for word in command) for command in OTHER_TYPES.values()]
        assert [command for command in words if allowed(east.client, command)] == []
    assert is_seen(site, east, "unbroken")
    assert is_seen(site, west, "unbroken")


def test_a_flood_of_junk_delays_the_others_by_seconds_at_most(
    site: LonelySite, east: Host, west: Host
) -> None:
    before = ignored(site).get("malformed", 0)
    for _ in range(FLOOD // 1000):
        east.client.lpush("records", *[b"junk"] * 1000)
    assert is_seen(site, west, "flooded")
    assert counted(site, "malformed", before + FLOOD)
    log = (site.data / "logs" / "keeper.log").read_text()
    assert log.count("messages are set aside") < FLOOD / 100


def test_an_item_of_many_megabytes_stops_nobody(site: LonelySite, east: Host, west: Host) -> None:
    before = ignored(site).get("malformed", 0)
    east.client.lpush("records", b"[" * HUGE_BYTES)
    assert counted(site, "malformed", before + 1)
    assert is_seen(site, west, "huge")


def test_a_host_that_breaks_its_own_queue_as_the_redis_user_of_all_is_quarantined(
    site: LonelySite, east: Host, west: Host
) -> None:
    """Where workers share a Redis user, text can be put in the place of any queue."""
    assert is_seen(site, east, "broken")
    with redis.Redis(unix_socket_path=socket_of(site)) as owner:
        owner.delete(f"commands.{EAST}")
        owner.set(f"commands.{EAST}", "text")
    query = f"SELECT quarantine_reason FROM tournament_worker WHERE name = '{EAST}'"
    assert wait_until(lambda: site.ask(query) != [("",)], PATIENCE_SECONDS)
    ((why,),) = site.ask(query)
    assert why == f"the key of the queue commands.{EAST} in the broker is not a list"
    assert is_seen(site, west, "unharmed")


def test_a_message_is_not_taken_again_after_a_restart_of_the_record_keeper(
    site: LonelySite, east: Host, west: Host
) -> None:
    envelope = json.dumps(sealed_heartbeat(east))
    before = ignored(site).get("replayed", 0)
    east.client.lpush("records", envelope)
    assert is_seen(site, west, "before")
    with restarted_keeper(site):
        east.client.lpush("records", envelope)
        assert counted(site, "replayed", before + 1), ignored(site)
        assert is_seen(site, west, "after")


@contextmanager
def restarted_keeper(site: LonelySite) -> Iterator[None]:
    """The record keeper, killed and started again; it ends with the block."""
    old = keeper_of(site)
    words = Path(f"/proc/{old}/cmdline").read_bytes().split(b"\0")[:-1]
    os.kill(old, signal.SIGKILL)
    # Until its connection is closed it may still be given a message, which is lost with it.
    assert wait_until(lambda: not Path(f"/proc/{old}").exists(), PATIENCE_SECONDS)
    assert wait_until(lambda: keepers_waiting(site) == 0, PATIENCE_SECONDS)
    with (site.data / "logs" / "keeper.log").open("ab") as log:
        process = subprocess.Popen(words, cwd=ROOT, env=site.environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def keepers_waiting(site: LonelySite) -> int:
    """Connections that wait for a message in a queue."""
    with redis.Redis(unix_socket_path=socket_of(site)) as owner:
        return sum(client["cmd"] == "brpop" for client in owner.client_list())


def keeper_of(site: LonelySite) -> int:
    """The process of the record keeper; 0 if there is none now."""
    for pid in processes_with("--hostname=keeper@%h"):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is that of another user's site
            continue
        is_guard = "guard.py" in command_line(pid)
        if f"DUARENA_DATA={site.data}".encode() in environment and not is_guard:
            return pid
    return 0
