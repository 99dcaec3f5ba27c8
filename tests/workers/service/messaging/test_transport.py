"""Which items of a queue reach Celery."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.brokers import Broker, running_worker
from tests.support.jobs import BadBundles, job_of
from tests.support.malformed import EMBEDDED, MALFORMED, raw_message
from workers.service.messaging.transport import MOST_SET_ASIDE, SET_ASIDE, MalformedMessage, clean_message


def decoded(item: bytes) -> object:
    return json.loads(item)


@pytest.mark.parametrize(
    "name", [name for name in MALFORMED if name not in {"three bytes", "no JSON", "deep JSON"}]
)
def test_what_is_no_message_of_ours_is_refused(name: str) -> None:
    with pytest.raises(MalformedMessage):
        clean_message(decoded(MALFORMED[name]))


def test_a_message_keeps_nothing_but_its_task_and_argument() -> None:
    told = raw_message(
        headers={"timelimit": [1, 1], "eta": "2099-01-01T00:00:00", "retries": 7, "shadow": "other"},
        properties={"reply_to": "elsewhere", "priority": 9},
    )
    clean = clean_message(told)
    assert clean["headers"] == {
        "lang": "py",
        "task": "workers.play",
        "id": "1",
        "retries": 0,
        "expires": None,
    }
    assert set(clean["properties"]) == {"delivery_tag", "delivery_info", "body_encoding", "priority"}
    assert clean["body"] == told["body"]


def test_the_messages_of_send_task_pass(broker: Broker, bundled: BadBundles) -> None:
    broker.send(job_of(bundled(), bundled()))
    assert clean_message(decoded(broker.pop("games")))["headers"]["task"] == "workers.play"


def test_a_command_is_a_message_without_a_task() -> None:
    assert clean_message({**raw_message(content={"stop": []}), "headers": {}})["headers"] == {}
    with pytest.raises(MalformedMessage):
        clean_message(raw_message(content=[[], {}, {**EMBEDDED, "more": 1}]))


def test_a_worker_survives_every_item_of_its_queues(
    broker: Broker, bundled: BadBundles, tmp_path: Path
) -> None:
    for item in MALFORMED.values():
        broker.push("games", item)
    broker.push("games", json.dumps(raw_message("workers.unknown")).encode())
    with running_worker(broker.url, tmp_path):
        broker.send(job_of(bundled(), bundled()))
        (report,), _ = broker.receive_reports(1)
        kept = broker.items(SET_ASIDE)
    assert report.fault == "none"
    assert len(kept) == len(MALFORMED) <= MOST_SET_ASIDE
    assert {json.loads(item)["why"] for item in kept} >= {"not JSON", "it has not the form of a message"}
