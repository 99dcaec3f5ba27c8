"""A running site as its operator watches it: metrics of all its processes, and logs as JSON."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers import running_worker, without_django
from tests.support.fake_door import PATIENCE_SECONDS
from tests.support.jobs import wait_until
from tests.support.sites import LonelySite, running_lonely_site
from tournament.embedded.plan import ROOT, Address, services

pytestmark = pytest.mark.thorough
TOKEN = "a token of tests"
REQUESTS = 40
GAMES = 4


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    settings = {"DUARENA_METRICS_TOKEN": TOKEN, "DUARENA_LOG": "json"}
    with running_lonely_site(tmp_path_factory.mktemp("watched"), 18_950, settings=settings) as site:
        yield site


def metrics(site: LonelySite) -> dict[str, float]:
    request = urllib.request.Request(
        f"{site.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "identity"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        lines = answer.read().decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines) if name[:1] != "#"
    }


def lines(log: Path) -> list[dict[str, Any]]:
    """The lines of a log, without those that Celery prints when it starts."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def test_every_process_answers_the_metrics_and_writes_the_access_log(site: LonelySite) -> None:
    for _ in range(REQUESTS):
        assert metrics(site)["duarena_redis_up"] == 1
    log = site.data / "logs" / "site.log"
    assert wait_until(
        lambda: len({line["process"] for line in lines(log) if line.get("uri") == "/metrics"}) == 2
    )


def test_the_id_of_a_request_is_in_its_response_and_in_the_log(site: LonelySite) -> None:
    request = urllib.request.Request(f"{site.url}/about/?mine", headers={"X-Request-ID": "from-a-proxy-1"})
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        assert answer.headers["X-Request-ID"] == "from-a-proxy-1"
    log = site.data / "logs" / "site.log"
    assert wait_until(lambda: any(line.get("uri") == "/about/?mine" for line in lines(log)))
    (line,) = [line for line in lines(log) if line.get("uri") == "/about/?mine"]
    assert (line["request"], line["status"], line["method"]) == ("from-a-proxy-1", 200, "GET")


def test_a_job_has_one_id_in_the_logs_of_the_site_the_keeper_and_the_worker(
    site: LonelySite, tmp_path: Path
) -> None:
    site.schedule("Watched", "dogon-kulei")
    bare = {**without_django(tmp_path), "DUARENA_LOG": "json", "DUARENA_TOKEN": site.token}
    over = "SELECT state, games_done FROM tournament_tournament WHERE name = 'Watched'"
    with running_worker(site.url, tmp_path, words=("--name=east",), environment=bare, walls=True):
        assert wait_until(lambda: site.ask(over) == [("finished", GAMES)], 2 * PATIENCE_SECONDS)
    keeper = lines(site.data / "logs" / "keeper.log")
    worker = lines(tmp_path / "worker.log")
    pages = lines(site.data / "logs" / "site.log")
    taken = {line["job"]: line["games"] for line in pages if "goes to" in line["message"]}
    played = {line["job"]: line["games"] for line in worker if line["message"].startswith("plays ")}
    recorded: dict[str, list[str]] = {}
    for line in keeper:
        if line["message"].endswith("are recorded"):
            recorded.setdefault(line["job"], []).extend(line["games"])
    assert taken == played
    assert {job: sorted(games) for job, games in taken.items()} == {
        job: sorted(games) for job, games in recorded.items()
    }
    assert sum(map(len, taken.values())) == GAMES
    fetched = [line for line in pages if re.match(r"GET /api/bundles/\w{64}", line["message"])]
    assert fetched
    assert {line["request"] for line in fetched} <= set(taken)
    once = [line["message"] for line in pages if "goes to" in line["message"]]
    assert len(once) == len(set(once)), "each line is written once"


def test_a_second_record_keeper_on_the_same_site_waits(site: LonelySite, tmp_path: Path) -> None:
    planned = services(Address("127.0.0.1", 1), workers=1, data=site.data, token="t")
    keeper = next(one for one in planned if one.name == "keeper")
    log = tmp_path / "keeper.log"
    with log.open("wb") as output:
        second = subprocess.Popen(
            keeper.command, cwd=ROOT, env=site.environment, stderr=output, stdout=output
        )
    try:
        assert wait_until(lambda: "this one waits until it ends" in log.read_text(), PATIENCE_SECONDS)
        assert "ready" not in log.read_text()
    finally:
        second.terminate()
        second.wait(PATIENCE_SECONDS)
