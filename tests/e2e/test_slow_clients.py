"""A site as ``./arena up`` starts it, while hundreds of clients send and read as slowly as they can."""

from __future__ import annotations

import signal
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.slow_clients import KINDS, PAGES, SlowClients, fetch_seconds, make_download
from tests.support.jobs import wait_until
from tests.support.sites import LonelySite, running_lonely_site
from tournament.embedded.plan import PLAYERS_NICENESS
from tournament.http.process import GROUP_NICENESS, NICENESS

pytestmark = pytest.mark.slow
LOWEST = 19
"""The last niceness that the system has (``nice(2)``): a test may itself run with a low priority."""
CLIENTS = 300
ADDRESSES = 10
LARGEST_BYTES = 800_000_000
"""Of all processes: without slow clients they have a third of it."""
RESTARTED_SECONDS = 400.0
"""Each process in turn is replaced within seconds; on a busy machine it takes minutes."""
SLOWEST_SECONDS = 10.0
"""Ten times the target, which a busy machine need not reach."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path_factory.mktemp("slow") / "data", 8870) as site:
        make_download(site)
        assert wait_until(
            lambda: fetch_seconds(site.url + "/healthz") < SLOWEST_SECONDS
        )  # its keeper has begun
        yield site


def clients(site: LonelySite, number: int, addresses: int) -> SlowClients:
    return SlowClients(KINDS, number, addresses, address(site))


def address(site: LonelySite) -> tuple[str, int]:
    host, _, port = site.url.removeprefix("http://").partition(":")
    return host, int(port)


def memory(site: LonelySite) -> int:
    return sum(process.memory_info().rss for process in site.processes)


def test_three_hundred_slow_clients_of_several_addresses_leave_the_site_usable(site: LonelySite) -> None:
    slow = clients(site, CLIENTS, ADDRESSES)
    try:
        slow.poll()
        assert slow.opened == CLIENTS
        for page in PAGES:
            assert fetch_seconds(site.url + page) < SLOWEST_SECONDS
            slow.poll()
        assert slow.count_held() > CLIENTS / 2  # they were there
        assert memory(site) < LARGEST_BYTES
    finally:
        slow.close()


@pytest.mark.thorough
def test_the_site_stays_usable_for_the_address_of_slow_clients(site: LonelySite) -> None:
    slow = SlowClients(KINDS, CLIENTS, 1, address(site), first="127.0.0.1")
    try:
        slow.poll()
        assert slow.opened == CLIENTS
        assert max(fetch_seconds(site.url + page) for page in PAGES) < SLOWEST_SECONDS
        assert memory(site) < LARGEST_BYTES
    finally:
        slow.close()


@pytest.mark.thorough
def test_a_stopped_process_of_the_server_is_replaced(site: LonelySite) -> None:
    first, *others = site.processes
    others[0].suspend()
    assert wait_until(lambda: others[0] not in site.processes, 240)
    assert wait_until(lambda: len(site.processes) == 3, 60)
    assert site.processes[0] == first
    site.page("/about/")


@pytest.mark.thorough
def test_a_graceful_restart_loses_no_request(site: LonelySite) -> None:
    first, *others = site.processes
    first.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + RESTARTED_SECONDS
    while set(others) & set(site.processes):
        assert time.monotonic() < deadline
        assert "Duarena" in site.page("/about/")
    assert len(site.processes) == 3


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
    first, *others = site.processes
    lower = min(first.nice() + NICENESS, LOWEST)
    assert wait_until(lambda: [process.nice() for process in others] == [lower] * 2)
    assert NICENESS > PLAYERS_NICENESS
    group = Path(f"/proc/{others[0].pid}/autogroup")
    if group.exists() and (text := group.read_text()):
        assert text.endswith(f"nice {GROUP_NICENESS}\n")
