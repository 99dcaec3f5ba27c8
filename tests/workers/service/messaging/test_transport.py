"""Which items of a queue reach Celery."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from kombu.transport import virtual

from tests.support.brokers import (
    TEST_KEY,
    Broker,
    TestKeyring,
    celery_app,
    queue_of,
    running_worker,
    signed_message,
)
from tests.support.jobs import BadBundles, job_of, processes_with, wait_until
from tests.support.malformed import EMBEDDED, MALFORMED, raw_message
from workers.commands.start import worker_name
from workers.service.messaging.commands import Command
from workers.service.messaging.signing import (
    COMMANDS,
    Keyring,
    RefusedMessage,
    Signer,
    WorkerKeyring,
    own_queue,
)
from workers.service.messaging.transport import MOST_SET_ASIDE, SET_ASIDE, HardenedQoS, clean_message


def decoded(item: bytes) -> object:
    return json.loads(item)


@pytest.mark.parametrize(
    "name", [name for name in MALFORMED if name not in {"three bytes", "no JSON", "deep JSON"}]
)
def test_what_is_no_message_of_ours_is_refused(name: str) -> None:
    with pytest.raises(RefusedMessage):
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
    assert clean_message(signed_message(broker.pop(queue_of("games"))))["headers"]["task"] == "workers.play"


def test_a_command_is_a_message_without_a_task() -> None:
    assert clean_message({**raw_message(content={"stop": []}), "headers": {}})["headers"] == {}
    with pytest.raises(RefusedMessage):
        clean_message(raw_message(content=[[], {}, {**EMBEDDED, "more": 1}]))


def enveloped(item: object, queue: str) -> bytes:
    """An item as the site would sign it."""
    envelope = Signer(TestKeyring()).seal(json.dumps(item), "", queue, time.time())
    assert envelope
    return json.dumps(envelope.to_json()).encode()


def test_a_worker_survives_every_item_of_its_queues(
    broker: Broker, bundled: BadBundles, tmp_path: Path
) -> None:
    """Signed ones too: the site's own key may be used by a program with an error."""
    queue = queue_of("games")
    signed = [raw_message(content=7), raw_message(7), 7]
    for item in MALFORMED.values():
        broker.push(queue, item)
    for told in signed:
        broker.push(queue, enveloped(told, queue))
    broker.push(queue, enveloped(raw_message("workers.unknown"), queue))
    with running_worker(broker.url, tmp_path):
        broker.send(job_of(bundled(), bundled()))
        (report,), _ = broker.receive_reports(1)
        kept = broker.items(SET_ASIDE)
    assert report.fault == "none"
    assert len(kept) == len(MALFORMED) + len(signed) <= MOST_SET_ASIDE
    assert {json.loads(item)["why"] for item in kept} >= {"not JSON", "it has not the form of a message"}


@pytest.mark.parametrize(
    ("keyring", "why"),
    [
        (None, "it is not a signed message"),
        (TestKeyring("players@west"), "'players@west' has no key for this queue"),
    ],
)
def test_a_worker_takes_no_job_that_the_site_has_not_signed(
    broker: Broker, bundled: BadBundles, tmp_path: Path, keyring: Keyring | None, why: str
) -> None:
    """Another worker cannot even use the right key."""
    queue, job = queue_of("games"), job_of(bundled(), bundled())
    intruder = celery_app(broker.url, keyring)
    intruder.send_task("workers.play", args=[job.to_json()], queue=queue)
    intruder.close()
    with running_worker(broker.url, tmp_path):
        broker.send(job_of(bundled(), bundled(), games=2))
        reports, _ = broker.receive_reports(2)
        (kept,) = broker.items(SET_ASIDE)
    assert [report.key[-1] for report in reports] == ["1", "2"]
    assert json.loads(kept)["why"] == why


def test_a_message_that_was_not_acknowledged_comes_again_in_its_envelope(broker: Broker) -> None:
    """A worker that is stopped puts it back, and the next one verifies it."""
    queue = queue_of("games")
    app = celery_app(broker.url, WorkerKeyring(worker_name(None, "games"), TEST_KEY))
    broker.send_jobs([])
    before = broker.items(queue)
    with app.connection() as connection:
        channel: Any = connection.default_channel  # the stubs lack its methods
        first = channel.basic_get(queue)
        assert first is not None
        assert broker.items(queue) == []
        first.reject(requeue=True)
    assert [json.loads(item) for item in broker.items(queue)] == [json.loads(item) for item in before]
    with app.connection() as connection:
        channel = connection.default_channel
        again = channel.basic_get(queue)
        assert again is not None
        assert again.body == first.body
        again.ack()
        assert channel.basic_get(queue) is None
    app.close()


def test_only_the_site_s_commands_stop_a_game(
    broker: Broker, bundled: BadBundles, mark: str, tmp_path: Path
) -> None:
    """Neither an unsigned one, nor another worker's, nor Celery's own shutdown."""
    name = worker_name(None, "games")
    queue = own_queue(COMMANDS, name)
    job = job_of(bundled("go", "resist", "-"), bundled(), time_control="60+0")
    stop = Command(name, stop=(job.job,)).to_json()
    with running_worker(broker.url, tmp_path):
        broker.send(job)
        broker.receive_until("tournament.progress")
        for keyring in (None, TestKeyring("players@west")):
            with celery_app(broker.url, keyring) as intruder:
                intruder.control.shutdown()
                with intruder.producer_or_acquire() as producer:
                    producer.publish(stop, routing_key=queue, exchange="")
        assert wait_until(lambda: len(broker.items(SET_ASIDE)) == 2)
        broker.command(Command(name, stop=("another",)))
        broker.receive_until("tournament.progress", 2)  # the game goes on
        broker.command(Command(name, stop=(job.job,)))
        assert broker.receive_until("tournament.release")
    assert wait_until(lambda: not processes_with(mark))


def test_engines_see_neither_the_key_nor_the_token(
    broker: Broker, bundled: BadBundles, mark: str, tmp_path: Path
) -> None:
    """Without a sandbox, too: what is in the environment of an engine's process."""
    job = job_of(bundled("go", "resist", "-"), bundled(), time_control="60+0")
    with running_worker(broker.url, tmp_path):
        broker.send(job)
        broker.receive_until("tournament.progress")
        engines = processes_with(mark)
        environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in engines]
    assert environments
    assert not [text for text in environments if b"DUARENA" in text or TEST_KEY.hex().encode() in text]


def test_a_message_whose_acknowledgement_is_lost_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Away:
        connection_errors = (ConnectionError,)
        do_restore = False

    def is_away(*_: object) -> None:
        raise ConnectionError("reset by peer")

    qos = HardenedQoS(Away(), prefetch_count=1)
    monkeypatch.setattr(qos, "_remove_from_indices", is_away)
    virtual.QoS.append(qos, object(), "tag")
    assert not qos.can_consume()
    with pytest.raises(ConnectionError):
        qos.ack("tag")
    assert qos.can_consume()
