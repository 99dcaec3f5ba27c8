"""The tasks in this process, without a broker: how they reach the referee, and what they send."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.bots import SAMPLE_BOTS
from tests.support.jobs import BadBundles, job_of, nothing_left
from workers.bundles.samples import pack_sample
from workers.bundles.store import store_bundle
from workers.engine.fair_clock import COMPLAINT_NS, PERIOD_NS, ContendedCore
from workers.game.referee import play_game
from workers.jobs import ComplianceEnding, ComplianceJob, ComplianceNews, EngineSpec
from workers.play import runner
from workers.play.runner import WorkerContext
from workers.service import consumer, context, self_test, tasks
from workers.service.messaging import sending
from workers.service.messaging.vetting import vet_job
from workers.service.slots import SLOTS

PACKAGES = [str(Path(inspect.getfile(runner)).parents[2] / name) for name in ("engines", "workers")]
MOST_FRAMES = 6

Sent = list[tuple[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sent:
    """The messages that the tasks of a worker without a sandbox send, each with its task."""
    found: Sent = []
    worker = WorkerContext("tester/1", tmp_path / "bundles", tmp_path / "cache")
    monkeypatch.setattr(context, "worker_context", lambda: worker)
    monkeypatch.setattr(self_test, "play_canary", lambda *_: "")
    context._self_test.cache_clear()
    monkeypatch.setattr(sending, "_send", lambda task, message: found.append((task, message)))
    monkeypatch.setattr(sending, "_try_to_send", lambda task, message: None)
    return found


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Our functions on the stack when the referee is called, outermost first."""
    found: list[str] = []

    def watched(*words: Any, **more: Any) -> Any:
        stack = [one for one in inspect.stack() if one.filename.startswith(tuple(PACKAGES))]
        found[:] = [one.function for one in reversed(stack)]
        return play_game(*words, **more)

    monkeypatch.setattr(runner, "play_game", watched)
    return found


def test_few_functions_lie_between_a_task_and_the_referee(
    sent: Sent, frames: list[str], mark: str, bundled: BadBundles
) -> None:
    with nothing_left(mark):
        tasks.play([job_of(bundled(), bundled()).to_json()])
    assert frames[0] == "play"
    assert len([*frames, "play_game"]) <= MOST_FRAMES, frames


def test_all_games_of_a_message_are_reported(sent: Sent, mark: str, bundled: BadBundles) -> None:
    job = job_of(bundled(), bundled(), games=2)
    with nothing_left(mark):
        tasks.play(job.to_json())
    reports = [report for task, reports in sent for report in reports if task == "tournament.record"]
    assert [report["key"] for report in reports] == [game.key for game in job.games]
    assert {report["worker"] for report in reports} == {"tester/1"}


def test_a_check_that_is_not_possible_now_is_returned(
    sent: Sent, monkeypatch: pytest.MonkeyPatch, bundled: BadBundles
) -> None:
    monkeypatch.setattr(self_test, "play_canary", lambda *_: "the canary died")
    monkeypatch.setattr(self_test.SelfTest, "hold", lambda *_: None)
    tasks.check(ComplianceJob("e1", bundled(), ("dogon-kulei",), 20).to_json())
    ((task, message),) = sent
    news = ComplianceNews.from_json(message)
    assert (task, news.exam, news.ending) == ("tournament.news", "e1", ComplianceEnding.RETURNED)


def test_a_check_that_the_site_stops_is_returned(sent: Sent, mark: str, bundled: BadBundles) -> None:
    SLOTS.stop_jobs(["e2"])
    with nothing_left(mark):
        tasks.check(ComplianceJob("e2", bundled(), ("dogon-kulei",), 20).to_json())
    news = ComplianceNews.from_json(sent[-1][1])
    assert (news.exam, news.ending) == ("e2", ComplianceEnding.RETURNED)


def test_a_slot_on_a_core_that_others_use_for_minutes_takes_no_more_jobs_and_says_why(
    sent: Sent, monkeypatch: pytest.MonkeyPatch, mark: str, bundled: BadBundles
) -> None:
    tests = iter(["they still do", "they still do", ""])
    core = ContendedCore()
    for _ in range(COMPLAINT_NS // PERIOD_NS):
        core.add(PERIOD_NS, PERIOD_NS)
    monkeypatch.setattr(consumer, "CORE", core)
    monkeypatch.setattr(consumer, "find_core_trouble", lambda: next(tests))
    monkeypatch.setattr(self_test, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(sending, "_try_to_send", lambda task, message: sent.append((task, message)))
    with nothing_left(mark):
        tasks.play(job_of(bundled(), bundled()).to_json())
    assert "tournament.record" in [task for task, _ in sent]
    complaint, still, end = (value["why"] for task, value in sent if task == "tournament.trouble")
    assert complaint.startswith("other programs use its core: in 3 minutes of play engines were kept waiting")
    assert (still, end) == ("they still do", "")


@pytest.mark.parametrize("field", ["directory", "bundle"])
def test_a_worker_runs_nothing_but_bundles(
    sent: Sent, mark: str, bundled: BadBundles, tmp_path: Path, field: str
) -> None:
    """Otherwise a message could start any command in any folder of the worker's machine."""
    stolen = tmp_path / "stolen"
    command = ("sh", "-c", f"cat secret > {stolen}; exec sleep 60 {mark}")
    other = {"directory": str(tmp_path)} if field == "directory" else {"bundle": None}
    shell = replace(bundled(), command=command, trusted=True, **other)
    (tmp_path / "secret").write_text("key")
    with nothing_left(mark):
        tasks.play(job_of(shell, bundled()).to_json())
        tasks.check(ComplianceJob("e1", shell, ("dogon-kulei",), 20).to_json())
    ((task, (report,)),) = sent
    assert (task, report["termination"]) == ("tournament.record", "void")
    assert f"EngineSpec.{field}" in report["evidence"]
    assert not stolen.exists()


def test_a_bundle_is_started_by_its_own_manifest_and_not_by_the_message(
    sent: Sent, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    began = tmp_path / "began"
    other = replace(bundled(), command=("sh", "-c", f"touch {began}; exec python3 -S main.py {mark}"))
    with nothing_left(mark):
        tasks.play(job_of(other, other).to_json())
    ((_, (report,)),) = sent
    assert report["fault"] == "none"
    assert not began.exists()


def test_only_the_worker_decides_which_bots_it_trusts(bundled: BadBundles, tmp_path: Path) -> None:
    upload = replace(bundled(), trusted=True)
    samples = [
        EngineSpec(one.name, "1", ("./none",), bundle=store_bundle(tmp_path / "bundles", pack_sample(one)))
        for one in SAMPLE_BOTS
    ]
    vetted = [engine for one in samples for engine in vet_job(job_of(upload, one)).engines]
    assert [engine.trusted for engine in vetted] == [False, True] * len(samples)


def test_a_check_that_cannot_be_read_is_logged(sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    tasks.check({"exam": 1})
    assert sent == []
    assert "a compliance check cannot be read" in caplog.text
