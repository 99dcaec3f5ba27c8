"""Workers as processes on a real Redis: how they join a site, pass its self-test, and fetch bundles."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.bad_engines import LINE
from tests.support.brokers import (
    PATIENCE_SECONDS,
    QUICK,
    ROOT,
    Broker,
    running_worker,
    without_django,
)
from tests.support.bundle_sites import FakeSite
from tests.support.jobs import BadBundles, job_of, pack_bad_engine, processes_with, wait_until
from workers.commands.start import TOKEN_REVOKED
from workers.jobs import EngineSpec, GameJob, Release
from workers.service.messaging.heartbeat import Trouble

pytestmark = pytest.mark.slow


@pytest.fixture
def site(mark: str) -> Iterator[FakeSite]:
    fake = FakeSite(pack_bad_engine(mark=mark))
    yield fake
    fake.close()


def bundled_job(site: FakeSite) -> GameJob:
    """A game between two bots of the site's bundle."""
    bundle = sha256(site.bundle).hexdigest()
    return job_of(*(EngineSpec(name, "1", ("./none",), bundle=bundle) for name in ("One", "Two")))


def released(broker: Broker, count: int) -> list[str]:
    """The attempts of the next games given back; no report comes before."""
    attempts: list[str] = []
    while len(attempts) < count:
        messages = broker.receive_until("tournament.release")
        assert not [message for message in messages if message.task == "tournament.record"]
        attempts += [Release.from_json(value).attempt for value in messages[-1].value]
    return attempts


def troubles(broker: Broker) -> str:
    (*_, trouble) = broker.receive_until("tournament.trouble")
    return Trouble.from_json(trouble.value).why


def test_a_worker_sends_heartbeats_and_takes_no_job_before_it_is_admitted(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    broker.admits = False
    broker.send(job_of(bundled(), bundled()), worker="east")
    with running_worker(broker.url, tmp_path, words=("--name=east",)) as worker:
        first, second = broker.hear(), broker.hear()
        assert first.worker.startswith("east@")
        assert first.run == second.run
        assert (first.queue, first.slots, first.admitted, first.stopping) == ("games", 1, False, False)
        assert first.level in {"A", "B", "C"}
        assert float(first.speed) > 0
        broker.admits = True
        (report,), _ = broker.receive_reports(1)
        assert report.worker.startswith(f"{first.worker}/")
        last = broker.hear_until(lambda beat: beat.games > 0 or beat.voids > 0)
        assert last.admitted
        assert (last.games, last.voids, last.busy, last.held) == (1, 0, 0, 0)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    broker.hear_until(lambda beat: beat.stopping)


def test_a_worker_that_is_barred_gives_its_games_back_and_takes_none(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """The worker takes no game until it is admitted again."""
    slow = bundled("go", "resist", "-")
    with running_worker(broker.url, tmp_path):
        broker.send(job_of(slow, bundled(), games=2, time_control="60+0"))
        broker.receive_until("tournament.progress")
        broker.admits = False
        broker.tell_worker(broker.heartbeats[-1], False, "it smells")
        assert released(broker, 2) == ["attempt-1", "attempt-2"]
        assert wait_until(lambda: not processes_with(mark))
        broker.send(job_of(bundled(), bundled()))
        for _ in range(3):
            broker.hear()  # and nothing else comes
        broker.admits = True
        (report,), _ = broker.receive_reports(1)
    assert report.fault == "none"


def test_a_stopping_worker_gives_all_jobs_of_a_message_back(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    slow = bundled("go", "resist", "-")
    first = job_of(slow, bundled(), games=2, time_control="60+0")
    second = job_of(bundled(), bundled(), games=2)
    with running_worker(broker.url, tmp_path) as worker:
        broker.send_jobs([first, second])
        broker.receive_until("tournament.progress")
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert released(broker, 4) == ["attempt-1", "attempt-2"] * 2
    assert processes_with(mark) == []


def test_a_worker_with_a_broken_sample_bot_plays_nothing_until_it_is_repaired(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """A separate checkout with a Greedy bot that resigns."""
    root = tmp_path / "checkout"
    for room in ("engines", "workers"):
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__", "build"))
    bot = root / "engines" / "bots" / "greedy_bot.py"
    sound = bot.read_text()
    bot.write_text(sound.replace("    win = guide", '    return "resign"\n    win = guide'))
    job = job_of(bundled(), bundled(), games=2)
    with running_worker(broker.url, tmp_path, root=root, environment={"PYTHONPATH": str(root)}):
        broker.send(job)
        assert released(broker, 2) == ["attempt-1", "attempt-2"]
        assert troubles(broker) == "the canary game ended in resignation"
        broker.send(job)
        assert troubles(broker) == "the canary game ended in resignation"
        assert wait_until(lambda: broker.receive(0.5) is None and broker.heartbeats[-1].held == 1)
        bot.write_text(sound)
        assert wait_until(lambda: not troubles(broker))
        reports, _ = broker.receive_reports(2)
    assert [report.fault for report in reports] == ["none", "none"]
    assert reports[0].moves[0][0] == LINE[0]


def test_a_worker_elsewhere_needs_the_site_s_address_and_no_django(
    broker: Broker, site: FakeSite, tmp_path: Path
) -> None:
    site.plan = [b"{}", "bundle"]
    environment = {**without_django(tmp_path), "DUARENA_TOKEN": "duarena_key"}
    job = bundled_job(site)
    with running_worker(broker.url, tmp_path, words=(f"--site={site.url}",), environment=environment):
        for _ in range(2):
            broker.send(job)
            (report,), _ = broker.receive_reports(1)
            assert report.fault == "none", report.evidence
    bundle = f"/api/bundles/{sha256(site.bundle).hexdigest()}"
    assert site.asked == [("/api/bundles/", "Bearer duarena_key"), (bundle, "Bearer duarena_key")]


def test_a_site_that_lends_nothing_costs_no_game_a_void(
    broker: Broker, site: FakeSite, tmp_path: Path
) -> None:
    """The job is given back, and the worker takes none until the site lends bundles again."""
    site.plan = [b"{}", (401, "This token was revoked.")]
    job = bundled_job(site)
    words = (f"--site={site.url}", "--token=duarena_key")
    with running_worker(broker.url, tmp_path, words=words):
        broker.send(job)
        assert released(broker, 1) == ["attempt-1"]
        broker.send(job)
        assert "does not let this worker in: This token was revoked." in troubles(broker)
        site.plan = ["bundle"]
        (report,), _ = broker.receive_reports(1)
    assert report.fault == "none", report.evidence


def test_a_bundle_with_another_hash_than_requested_is_a_void(
    broker: Broker, site: FakeSite, tmp_path: Path
) -> None:
    site.plan = [b"{}", b"PK another"]
    words = (f"--site={site.url}", "--token=duarena_key")
    with running_worker(broker.url, tmp_path, words=words):
        broker.send(bundled_job(site))
        (report,), _ = broker.receive_reports(1)
    assert (report.termination, report.fault) == ("void", "infrastructure")
    assert "the site sent another bundle" in report.evidence


def test_a_worker_whose_token_is_revoked_says_so_once_and_ends_with_a_status_of_its_own(
    broker: Broker, site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(QUICK, "workers.service.token_watch.CHECK_SECONDS", 0.2)
    site.plan = [b"{}", (503, "Later."), b"{}", (401, "This token was revoked.")]
    words = (f"--site={site.url}", "--token=duarena_key")
    with running_worker(broker.url, tmp_path, words=words) as worker:
        broker.hear()
        assert worker.wait(PATIENCE_SECONDS) == TOKEN_REVOKED
    log = (tmp_path / "worker.log").read_text()
    assert log.count("does not let this worker in: This token was revoked. This worker ends") == 1


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        (("--site={url}",), "--site needs a worker token: give --token, or set DUARENA_TOKEN", 2),
        (
            ("--site={url}", "--token=k"),
            "does not let this worker in: This token was revoked.",
            TOKEN_REVOKED,
        ),
        (("--site=duarena.example", "--token=k"), "'duarena.example' is not the address of a site", 2),
        (("--name=a b",), "'a b' is not a name: use letters, digits, dots, dashes, underscores", 2),
    ],
)
def test_a_worker_that_cannot_join_prints_the_reason_and_ends(
    broker: Broker, site: FakeSite, tmp_path: Path, words: tuple[str, ...], complaint: str, code: int
) -> None:
    site.plan = [(401, "This token was revoked.")]
    given = tuple(word.format(url=site.url) for word in words)
    with running_worker(broker.url, tmp_path, words=given) as worker:
        assert worker.wait(PATIENCE_SECONDS) == code
    assert complaint in (tmp_path / "worker.log").read_text()
