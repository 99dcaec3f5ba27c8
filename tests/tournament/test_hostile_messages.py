"""Messages that hold anything, signed or not: the queue's reader goes on, and no task raises."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kombu import Connection

from tests.support.brokers import running_broker
from tests.support.schedule import make_tournament, play_short, word_of
from tournament import tasks
from tournament.keyring import SiteKeyring
from tournament.models import BotVersion, Exam, Game, Ignored
from workers.jobs import ComplianceEnding, ComplianceNews, Finding, GameJob, JsonObject, Release
from workers.service.messaging.heartbeat import Heartbeat, Trouble
from workers.service.messaging.replays import RecentMessages
from workers.service.messaging.set_aside import MOST_SET_ASIDE, set_aside_key
from workers.service.messaging.signing import Signer
from workers.service.messaging.transport import options_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Deal = Callable[[], list[GameJob]]


def deep(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


NASTY: tuple[object, ...] = (
    "\ud800",
    "a\x00b",
    "x" * 100_000,
    "2026-01-02T03:04:05",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    10**30,
    -(10**30),
    float("nan"),
    float("inf"),
    True,
    None,
    [],
    {},
    deep(300),
    [["\ud800", "\x00"]],
    [["a1", "x" * 100_000]] * 10,
)


@pytest.fixture(autouse=True)
def sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "verified_sender", lambda: "host")


def spoiled(message: JsonObject) -> list[JsonObject]:
    """The message with each of its fields replaced by each of the values."""
    return [message | {name: value} for name in message for value in NASTY]


def heartbeat() -> JsonObject:
    return Heartbeat(
        "host", "run", "place", "games", "1", 1, 0, 0, 0, 0, 0, "1.0", "A", "", True, False
    ).to_json()


def test_the_record_keeper_sets_aside_every_item_that_it_cannot_read_and_goes_on() -> None:
    """Whoever may write to the broker needs no key for that."""
    options = options_of(Signer(SiteKeyring(), RecentMessages()))
    with running_broker() as broker, Connection(broker.url, transport_options=options) as connection:
        channel: Any = connection.default_channel
        envelope = {"signed": "{}", "sender": "x@y", "recipient": "records", "id": "1", "mac": "0"}
        items = [json.dumps(item).encode() for item in spoiled({**envelope, "expires": 2**31})]
        for item in items:
            broker.push("records", item)
            assert channel.basic_get("records") is None
        assert len(broker.items(set_aside_key("site"))) == min(len(items), MOST_SET_ASIDE)


def test_no_heartbeat_and_no_trouble_raises() -> None:
    for message in spoiled(heartbeat()):
        tasks.heartbeat(message)
    for message in spoiled(Trouble("host/1", "why").to_json()):
        tasks.trouble(message)


def test_no_progress_no_release_and_no_report_raises(deal: Deal) -> None:
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    first, second = (report.to_json() for report in play_short(job))
    for message in spoiled(word_of(job.games[0]).to_json()):
        tasks.progress(message)
    for side in ("white", "black"):
        for log in spoiled(first[side]):
            tasks.record(first | {side: log})
    for message in spoiled(second):
        tasks.record(message)
    for message in spoiled(Release(job.games[1].key, job.games[1].attempt, "host/1").to_json()):
        tasks.release(message)
    assert Game.objects.filter(state="done").exists()  # some of the values are harmless


def test_no_news_of_a_check_raises(deal: Deal) -> None:
    make_tournament(ladders=["dogon-kulei"])
    version = BotVersion.objects.all()[0]
    found = Finding("moves", "dogon-kulei", "fault", "advice")
    for ending in (ComplianceEnding.NONE, ComplianceEnding.DONE):
        exam = Exam.objects.create(version=version, sent_at=version.created_at, assigned="host")
        news = ComplianceNews(str(exam.pk), "host/1", True, "Engine", (found,), ending, "").to_json()
        for message in spoiled(news):
            tasks.news(message)
        for spoiled_finding in spoiled(found.to_json()):
            tasks.news(news | {"found": [spoiled_finding]})
        Exam.objects.filter(pk=exam.pk).delete()
    assert Ignored.objects.filter(reason="unreadable").exists()
