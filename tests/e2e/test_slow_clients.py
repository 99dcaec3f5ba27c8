"""A site as ``./arena up`` starts it, while hundreds of clients send and read as slowly as they can."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.slow_clients import KINDS, PAGES, SlowClients, fetch_seconds
from tests.support.jobs import wait_until
from tests.support.sites import LonelySite, running_lonely_site

pytestmark = pytest.mark.slow
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
