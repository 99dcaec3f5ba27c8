"""Requests of workers with any content: none is answered 500, and the record keeper handles what it gets."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.door import DoorWorker
from tests.support.schedule import make_tournament, make_version, play_short
from tournament.api import workers as worker_views
from tournament.models import BotVersion, ComplianceCheck, Game, InboxReport, Worker
from tournament.services.results.keeper import record_inbox
from workers.jobs import Batch, ComplianceEnding, ComplianceNews, Finding, Work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def as_json(message: object) -> Any:
    return json.loads(msgspec.json.encode(message))


def deep(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


NASTY: tuple[object, ...] = (
    "\ud800", "a\x00b", "", "x" * 100_000, "2026-01-02T03:04:05", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00", "00000000-0000-0000-0000-000000000000", "{00000000000000000000000000000000}",
    "void", "done", "returned", "games", 0, -1, 2**31, 2**63, -(2**63), 10**30, 1.5, float("nan"),
    float("inf"), True, False, None, [], {}, deep(300), [["\ud800", "\x00"]], [["a1", "x" * 10_000]] * 10,
)  # fmt: skip
TEXTS = st.text(st.characters(blacklist_categories=()), max_size=30)
"""With lone surrogates and control characters."""
VALUES = st.recursive(
    st.sampled_from(NASTY) | TEXTS | st.integers() | st.floats() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def places(value: object) -> Iterator[tuple[str | int, ...]]:
    """The paths to everything inside a JSON value; of a list only the first item is taken."""
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:1] if isinstance(value, list) else ())
    )
    for key, item in inside:
        yield (key,)
        yield from ((key, *rest) for rest in places(item))


def spoiled(body: dict[str, Any], place: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """The body with another value at that place."""
    changed = copy.deepcopy(body)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> DoorWorker:
    """A worker without a limit of requests, so that each answer is about the body on a fast machine too."""
    monkeypatch.setattr(worker_views._BUCKETS, "take", lambda *_: True)
    return DoorWorker(takes=(Work.GAMES, Work.CHECKS))


@pytest.fixture
def batch(worker: DoorWorker) -> Batch:
    make_tournament(ladders=["dogon-kulei"])
    return worker.take()


Hit = Callable[[str, dict[str, Any]], None]


@pytest.fixture
def hit(worker: DoorWorker) -> Hit:
    """Send a body with each of its parts replaced by each of many values."""

    def send_all(path: str, body: dict[str, Any]) -> None:
        known = sorted(places(body), key=str)
        statuses = set()

        @settings(
            deadline=None,
            max_examples=15 * len(known),
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.sampled_from(known), VALUES)
        def check(place: tuple[str | int, ...], value: object) -> None:
            answer = worker.send(path, spoiled(body, place, value))
            statuses.add(answer.status_code)
            assert answer.status_code in {200, 204, 400, 403}, answer.content

        for place in known:
            for value in NASTY:
                answer = worker.send(path, spoiled(body, place, value))
                assert answer.status_code in {200, 204, 400, 403}, (place, value, answer.content)
        check()
        assert 400 in statuses

    return send_all


def test_no_heartbeat_is_answered_500(worker: DoorWorker, hit: Hit) -> None:
    hit("/api/workers/", as_json(worker.heartbeat()))
    for nobody in Worker.objects.all():
        assert not nobody.takes or nobody.work


def test_no_ask_is_answered_500(worker: DoorWorker, batch: Batch, hit: Hit) -> None:
    hit("/api/work/", as_json(worker.new_ask(holds=(batch.job,))))


def test_no_post_of_games_is_answered_500_and_the_record_keeper_handles_each(
    worker: DoorWorker, batch: Batch, hit: Hit
) -> None:
    first, second = (report for job in batch.jobs for report in play_short(job))
    progress = worker.progress(batch.jobs[0].games[0], "a1", "b2")
    body = as_json(worker.new_post(reports=(first,), returned=(second.attempt,), progress=progress))
    hit(f"/api/work/{batch.job}/", body)
    while record_inbox(60):
        pass
    assert not InboxReport.objects.exists()
    assert set(Game.objects.values_list("state", flat=True)) <= {"done", "waiting", "halted"}


def test_no_report_stops_the_record_keeper(worker: DoorWorker, batch: Batch) -> None:
    """Whatever a report holds that the door takes."""
    report = as_json(next(iter(play_short(batch.jobs[0]))))
    handled = 0
    for place in places(report):
        for value in NASTY:
            body = as_json(worker.new_post()) | {"reports": [spoiled(report, place, value)]}
            with transaction.atomic():
                answer = worker.send(f"/api/work/{batch.job}/", body)
                assert answer.status_code in {200, 400}, (place, value)
                handled += InboxReport.objects.count()
                assert not record_inbox(60)
                assert not InboxReport.objects.exists()
                transaction.set_rollback(True)
    assert handled > 100


@pytest.mark.parametrize("ending", [ComplianceEnding.NONE, ComplianceEnding.DONE])
def test_no_news_of_a_check_is_answered_500(worker: DoorWorker, ending: ComplianceEnding) -> None:
    make_version(state=BotVersion.State.WAITING)
    worker.beat()
    batch = worker.ask()
    assert batch is not None
    found = Finding("moves", "dogon-kulei", "fault", "advice")
    news = ComplianceNews(batch.job, f"{worker.name}/1", True, "Engine", (found,), ending, "")
    body = as_json(worker.new_post(news=news))
    ends = set()
    for place in places(body):
        for value in NASTY:
            with transaction.atomic():
                answer = worker.send(f"/api/work/{batch.job}/", spoiled(body, place, value))
                assert answer.status_code in {200, 400, 403}, (place, value, answer.content)
                ends |= set(ComplianceCheck.objects.values_list("end", flat=True))
                transaction.set_rollback(True)
    assert {"", "done"} <= ends


@pytest.mark.parametrize("job", [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.uuid4()])
def test_a_post_about_a_job_that_never_was_is_answered_with_stop(worker: DoorWorker, job: uuid.UUID) -> None:
    worker.beat()
    assert worker.post(str(job)).stop == (str(job),)


@pytest.mark.parametrize(
    "path", ["/api/work/x/", "/api/work/%00/", "/api/work//", "/api/work/" + "9" * 5000 + "/"]
)
def test_no_address_is_answered_500(worker: DoorWorker, path: str) -> None:
    worker.beat()
    assert worker.send(path, worker.new_post()).status_code == 404
