"""A site as ``./arena up`` starts it, while hundreds of clients send and read as slowly as they can."""

from __future__ import annotations

import os
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.slow_clients import KINDS, PAGES, SlowClients, fetch_seconds
from tests.support.jobs import processes_with, wait_until
from tests.support.processes import command_line
from tests.support.sites import LonelySite, running_lonely_site
from tournament.embedded.plan import PLAYERS_NICENESS
from tournament.server.worker import GROUP_NICENESS, NICENESS
from workers.sandbox.tree import descendants

pytestmark = pytest.mark.slow
LOWEST = 19
"""The last niceness that the system has (``nice(2)``): a test may itself run with a low priority."""
CLIENTS = 300
ADDRESSES = 10
SLOWEST_S = 10.0
"""Ten times the target, which a busy machine need not reach."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path_factory.mktemp("slow") / "data", 8870) as site:
        yield site


def clients(site: LonelySite, number: int, addresses: int) -> SlowClients:
    host, _, port = site.url.removeprefix("http://").partition(":")
    return SlowClients(KINDS, number, addresses, (host, int(port)))


def test_three_hundred_slow_clients_of_several_addresses_leave_the_site_usable(site: LonelySite) -> None:
    slow = clients(site, CLIENTS, ADDRESSES)
    try:
        slow.poll()
        assert slow.opened == CLIENTS
        for page in PAGES:
            assert fetch_seconds(site.url + page) < SLOWEST_S
            slow.poll()
        assert slow.count_held() > CLIENTS / 2  # they were there
    finally:
        slow.close()


@pytest.mark.thorough
def test_slow_clients_of_one_address_keep_no_more_than_its_limit(site: LonelySite) -> None:
    slow = clients(site, CLIENTS, 1)
    try:
        slow.poll()
        assert wait_until(lambda: slow.count_held() <= 64)
        assert fetch_seconds(site.url + "/healthz") < SLOWEST_S
    finally:
        slow.close()


def test_requests_are_in_the_access_log(site: LonelySite) -> None:
    site.page("/about/?seen")
    log: Path = site.data / "logs" / "site.log"
    assert wait_until(lambda: '"GET /about/?seen HTTP/1.1" 200' in log.read_text())


def test_a_head_request_gets_the_header_alone(site: LonelySite) -> None:
    request = urllib.request.Request(f"{site.url}/about/", method="HEAD")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
        assert answer.read() == b""


@pytest.mark.thorough
def test_the_site_stops_in_time_while_a_client_is_slow(tmp_path: Path) -> None:
    with running_lonely_site(tmp_path / "data", 8880) as site:
        slow = clients(site, 6, 1)
        slow.poll()
        began = time.monotonic()
    slow.close()
    assert "died" not in (tmp_path / "data" / "logs" / "site.log").read_text()
    assert time.monotonic() - began < 60


def test_pages_have_a_lower_priority_than_engines(site: LonelySite) -> None:
    """By the niceness of the processes, and by that of their session where the kernel shares by sessions."""
    master = next(pid for pid in processes_with("gunicorn") if works_on(site, pid))
    workers = descendants(master)
    lower = min(niceness(master) + NICENESS, LOWEST)
    assert wait_until(lambda: [niceness(pid) for pid in workers] == [lower] * 2)
    assert NICENESS > PLAYERS_NICENESS
    group = Path(f"/proc/{workers[0]}/autogroup")
    if group.exists() and (text := group.read_text()):
        assert text.endswith(f"nice {GROUP_NICENESS}\n")


def works_on(site: LonelySite, pid: int) -> bool:
    """Whether it is the first process of this site's server."""
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    is_ours = f"DUARENA_DATA={site.data}".encode() in environment
    return is_ours and "guard.py" not in command_line(pid) and len(descendants(pid)) == 2


def niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)
