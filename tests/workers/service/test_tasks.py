"""The tasks in this process, without a broker: how they reach the referee, and what they send."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.support.jobs import bad_engine, job_of, nothing_left
from workers.game.referee import play_game
from workers.jobs import GameJob
from workers.play import runner
from workers.play.runner import WorkerContext
from workers.service import context, messages, self_test, tasks
from workers.service.compliance import ComplianceEnding, ComplianceJob, ComplianceNews

PACKAGES = [str(Path(inspect.getfile(runner)).parents[2] / name) for name in ("engines", "workers")]
MOST_FRAMES = 6

Sent = list[tuple[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sent:
    """The messages that the tasks of a worker without a sandbox send, each with its task."""
    found: Sent = []
    worker = WorkerContext("tester/1", tmp_path, tmp_path)
    monkeypatch.setattr(context, "worker_context", lambda: worker)
    monkeypatch.setattr(self_test, "play_canary", lambda *_: "")
    context._self_test.cache_clear()
    monkeypatch.setattr(messages, "_send", lambda task, message: found.append((task, message)))
    monkeypatch.setattr(messages, "_try_to_send", lambda task, message: None)
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


def one_game(mark: str) -> GameJob:
    return job_of(bad_engine(mark=mark), bad_engine(mark=mark))


def test_few_functions_lie_between_a_task_and_the_referee(sent: Sent, frames: list[str], mark: str) -> None:
    with nothing_left(mark):
        tasks.play([one_game(mark).to_json()])
    assert frames[0] == "play"
    assert len([*frames, "play_game"]) <= MOST_FRAMES, frames


def test_all_games_of_a_message_are_reported(sent: Sent, mark: str) -> None:
    job = job_of(bad_engine(mark=mark), bad_engine(mark=mark), games=2)
    with nothing_left(mark):
        tasks.play(job.to_json())
    reports = [report for task, reports in sent for report in reports if task == "tournament.record"]
    assert [report["key"] for report in reports] == [game.key for game in job.games]
    assert {report["worker"] for report in reports} == {"tester/1"}


def test_a_check_that_is_not_possible_now_is_returned(
    sent: Sent, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setattr(self_test, "play_canary", lambda *_: "the canary died")
    monkeypatch.setattr(self_test.SelfTest, "hold", lambda *_: None)
    tasks.check(ComplianceJob("e1", bad_engine(mark=mark), ("dogon-kulei",), 20).to_json())
    ((task, message),) = sent
    news = ComplianceNews.from_json(message)
    assert (task, news.exam, news.ending) == ("tournament.news", "e1", ComplianceEnding.RETURNED)


def test_a_check_that_cannot_be_read_is_logged(sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    tasks.check({"exam": 1})
    assert sent == []
    assert "a compliance check cannot be read" in caplog.text
