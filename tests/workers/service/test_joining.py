"""How a worker joins its site: admission, self-test, bundles, and why it ends."""

from __future__ import annotations

import os
import pty
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.bad_engines import LINE
from tests.support.brokers import ROOT, running_worker, without_django
from tests.support.fake_door import PATIENCE_SECONDS, FakeDoor
from tests.support.jobs import BadBundles, job_of, pack_bad_engine, processes_with, wait_until
from workers.bundles.bundle_site import TokenRevoked, WorkerOutdated
from workers.jobs import EngineSpec, GameJob

pytestmark = pytest.mark.slow


def bundled_job(door: FakeDoor, mark: str) -> GameJob:
    """A game between two bots of a bundle that only the site has."""
    door.bundle = pack_bad_engine(mark=mark)
    bundle = sha256(door.bundle).hexdigest()
    return job_of(*(EngineSpec(name, "1", ("./none",), bundle=bundle) for name in ("One", "Two")))


def test_a_worker_sends_heartbeats_and_asks_for_nothing_before_it_is_admitted(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    door.admits = False
    door.give(job_of(bundled(), bundled()))
    with running_worker(door.url, tmp_path, words=("--name=east",)) as worker:
        first, second = door.hear(), door.hear()
        assert first.worker.startswith("east@")
        assert first.run == second.run
        assert (first.slots, first.busy, first.stopping) == (1, 0, False)
        assert first.level in {"A", "B", "C"}
        assert float(first.speed) > 0
        assert door.asks == []
        door.admits = True
        (report,) = door.wait_for_reports(1)
        assert report.worker.startswith(f"{first.worker}/")
        last = door.hear(lambda beat: beat.games + beat.voids > 0 and not beat.busy)
        assert (last.games, last.voids, last.busy, last.held) == (1, 0, 0, 0)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert door.heartbeats[-1].stopping


def test_a_worker_that_is_barred_returns_its_games_and_takes_none_until_it_is_admitted_again(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    slow = bundled("go", "resist", "-")
    door.give(job_of(slow, bundled(), games=2, time_control="60+0"))
    with running_worker(door.url, tmp_path):
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        door.admits = False
        door.wait_for(lambda: door.returned, 2)
        assert door.returned == ["attempt-1", "attempt-2"]
        assert wait_until(lambda: not processes_with(mark))
        door.give(job_of(bundled(), bundled()))
        known = len(door.asks)
        for _ in range(3):
            door.hear()
        assert len(door.asks) == known
        door.admits = True
        (report,) = door.wait_for_reports(1)
    assert report.fault == "none"


def test_a_worker_with_a_broken_sample_bot_plays_nothing_until_it_is_repaired(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    """A separate checkout with a Greedy bot that resigns."""
    root = tmp_path / "checkout"
    for room in ("engines", "workers"):
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__", "build"))
    bot = root / "engines" / "bots" / "greedy_bot.py"
    sound = bot.read_text()
    bot.write_text(sound.replace("    win = guide", '    return "resign"\n    win = guide'))
    door.give(job_of(bundled(), bundled(), games=2))
    with running_worker(door.url, tmp_path, root=root, environment={"PYTHONPATH": str(root)}):
        held = door.hear(lambda beat: beat.held == 1)
        assert held.trouble == "the canary game ended in resignation"
        assert door.asks == []
        bot.write_text(sound)
        reports = door.wait_for_reports(2)
        door.hear(lambda beat: beat.held == 0 and not beat.trouble)
    assert [report.fault for report in reports] == ["none", "none"]
    assert reports[0].moves[0][0] == LINE[0]


def test_a_worker_needs_no_django_and_fetches_bundles_once(door: FakeDoor, mark: str, tmp_path: Path) -> None:
    job = bundled_job(door, mark)
    for _ in range(2):
        door.give(job)
    with running_worker(door.url, tmp_path, environment=without_django(tmp_path)):
        reports = door.wait_for_reports(2)
    assert [report.fault for report in reports] == ["none", "none"], reports[0].evidence
    bundle = f"/api/bundles/{sha256(door.bundle).hexdigest()}"
    paths = [path for path, _ in door.requests if path.startswith("/api/bundles/")]
    assert paths == ["/api/bundles/", bundle]
    assert {key for _, key in door.requests} == {"Bearer duarena_key"}


def test_a_bundle_with_another_hash_than_requested_is_a_void(
    door: FakeDoor, mark: str, tmp_path: Path
) -> None:
    job = bundled_job(door, mark)
    door.bundle = b"PK another"
    door.give(job)
    with running_worker(door.url, tmp_path):
        (report,) = door.wait_for_reports(1)
    assert (report.termination, report.fault) == ("void", "infrastructure")
    assert "the site sent another bundle" in report.evidence


@pytest.mark.parametrize(
    ("refusal", "protocol", "status"),
    [((401, "This token was revoked."), 3, TokenRevoked.exit_status), (None, 99, WorkerOutdated.exit_status)],
)
@pytest.mark.parametrize("at_start", [True, False])
def test_a_worker_that_the_site_never_takes_says_so_once_and_ends_with_a_status_of_its_own(
    door: FakeDoor,
    tmp_path: Path,
    refusal: tuple[int, str] | None,
    protocol: int,
    status: int,
    at_start: bool,
) -> None:
    if at_start:
        door.refusal, door.protocol = refusal, protocol
    with running_worker(door.url, tmp_path) as worker:
        if not at_start:
            door.wait_for(lambda: door.asks)
            door.refusal, door.protocol = refusal, protocol
        assert worker.wait(PATIENCE_SECONDS) == status
    log = (tmp_path / "worker.log").read_text()
    assert log.count("does not let this worker in") <= (1 if at_start else 2)  # a slot may have asked too
    assert log.count("This worker ends and needs") == (0 if at_start else 1)


@pytest.mark.parametrize(
    ("words", "site", "complaint"),
    [
        ((), "", "a worker needs its site's address and a worker token: set DUARENA_SITE and DUARENA_TOKEN"),
        (("--token=",), "{url}", "a worker needs its site's address"),
        ((), "duarena.example", "'duarena.example' is not the address of a site"),
        (("--broker=amqp://east",), "{url}", "'amqp' begins no address of a Redis"),
        (("--name=a b",), "{url}", "'a b' is not a name: use letters, digits, dots, dashes, underscores"),
    ],
)
def test_a_worker_that_cannot_start_says_why(
    door: FakeDoor, tmp_path: Path, words: tuple[str, ...], site: str, complaint: str
) -> None:
    with running_worker(site.format(url=door.url), tmp_path, words=words) as worker:
        assert worker.wait(PATIENCE_SECONDS) == 2
    assert complaint in (tmp_path / "worker.log").read_text()


def test_a_worker_whose_site_is_away_at_its_start_waits_for_it(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    door.is_away = True
    door.give(job_of(bundled(), bundled()))
    with running_worker(door.url, tmp_path):
        door.wait_for(lambda: door.requests, 5)
        door.is_away = False
        (report,) = door.wait_for_reports(1)
    assert report.fault == "none"


def test_a_terminal_shows_what_the_worker_does(door: FakeDoor, tmp_path: Path) -> None:
    ours, terminal = pty.openpty()
    try:
        with running_worker(door.url, tmp_path, log=terminal):
            shown = b""
            while b"the site answers" not in shown:
                shown += os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(terminal)
    assert "0 of 1 slots play · 0 games · 0 moves a second".encode() in shown
