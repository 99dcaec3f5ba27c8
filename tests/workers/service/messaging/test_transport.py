"""Which items of a queue reach Celery."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection
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
from workers.service.messaging import transport
from workers.service.messaging.cleaning import clean_message
from workers.service.messaging.commands import Command
from workers.service.messaging.replays import RecentMessages
from workers.service.messaging.set_aside import MOST_SET_ASIDE, set_aside_key
from workers.service.messaging.signing import (
    COMMANDS,
    Keyring,
    RefusedMessage,
    Signer,
    WorkerKeyring,
    own_queue,
)
from workers.service.messaging.transport import HardenedQoS, message_set_aside, options_of

pytestmark = pytest.mark.slow

QUEUE = "games.players@east"
MINE_ASIDE = set_aside_key(worker_name(None, "games"))


def decoded(item: bytes) -> object:
    return json.loads(item)


@pytest.mark.parametrize(
    "name", [name for name in MALFORMED if name not in {"three bytes", "no JSON", "deep JSON"}]
)
def test_what_is_no_message_of_ours_is_refused(name: str) -> None:
    with pytest.raises(RefusedMessage):
        clean_message(decoded(MALFORMED[name]), QUEUE)


def test_a_message_keeps_nothing_but_its_task_and_argument() -> None:
    told = raw_message(
        headers={"timelimit": [1, 1], "eta": "2099-01-01T00:00:00", "retries": 7, "shadow": "other"},
        properties={"reply_to": "elsewhere", "priority": 9},
    )
    clean = clean_message(told, QUEUE)
    assert clean["headers"] == {
        "lang": "py",
        "task": "workers.play",
        "id": "1",
        "retries": 0,
        "expires": None,
    }
    assert set(clean["properties"]) == {"delivery_tag", "delivery_info", "body_encoding", "priority"}
    assert clean["properties"]["delivery_info"] == {
        "exchange": "",
        "routing_key": QUEUE,
        "redelivered": False,
    }
    assert clean["body"] == told["body"]


def test_the_messages_of_send_task_pass(broker: Broker, bundled: BadBundles) -> None:
    broker.send(job_of(bundled(), bundled()))
    message = clean_message(signed_message(broker.pop(queue_of("games"))), queue_of("games"))
    assert message["headers"]["task"] == "workers.play"


def test_a_command_is_a_message_without_a_task() -> None:
    assert clean_message({**raw_message(content={"stop": []}), "headers": {}}, QUEUE)["headers"] == {}
    with pytest.raises(RefusedMessage):
        clean_message(raw_message(content=[[], {}, {**EMBEDDED, "more": 1}]), QUEUE)


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
        kept = broker.items(MINE_ASIDE)
    assert report.fault == "none"
    assert len(kept) == len(MALFORMED) + len(signed) <= MOST_SET_ASIDE
    reasons = " ".join(json.loads(item)["why"] for item in kept)
    assert "not JSON" in reasons
    assert "it has not the form of a message" in reasons


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
        (kept,) = broker.items(MINE_ASIDE)
    assert [report.key[-1] for report in reports] == ["1", "2"]
    assert json.loads(kept)["why"] == why


@contextmanager
def receiver(broker: Broker, keyring: Keyring, memory: RecentMessages) -> Iterator[Any]:
    """A channel as a process with these keys and this memory has it."""
    options = options_of(Signer(keyring, memory))
    with Connection(broker.url, transport_options={"priority_steps": [0], **options}) as connection:
        yield connection.default_channel


def test_a_message_that_the_site_has_not_acknowledged_comes_again_in_its_envelope(broker: Broker) -> None:
    """A record keeper that is stopped puts it back, and the next one verifies it."""
    memory = RecentMessages()
    site = celery_app(broker.url, TestKeyring())
    site.send_task("tournament.sweep", queue="records")
    before = broker.items("records")
    with receiver(broker, TestKeyring(), memory) as channel:
        first = channel.basic_get("records")
        assert broker.items("records") == []
        first.reject(requeue=True)
    assert [json.loads(item) for item in broker.items("records")] == [json.loads(item) for item in before]
    with receiver(broker, TestKeyring(), memory) as channel:
        again = channel.basic_get("records")
        assert again.body == first.body
        again.ack()
        broker.push("records", before[0])
        assert channel.basic_get("records") is None
    site.close()
    (kept,) = broker.items(set_aside_key("site"))
    assert json.loads(kept)["why"] == "it was received before"


def test_a_worker_takes_a_message_once(broker: Broker) -> None:
    """It leaves nothing of it in the broker: whatever comes later is a repetition."""
    memory, keyring = RecentMessages(), WorkerKeyring(worker_name(None, "games"), TEST_KEY)
    queue = queue_of("games")
    broker.send_jobs([])
    (item,) = broker.items(queue)
    with receiver(broker, keyring, memory) as channel:
        first = channel.basic_get(queue)
        assert first is not None
        first.reject(requeue=True)
        assert broker.keys() == set()
        broker.push(queue, item)
        assert channel.basic_get(queue) is None


def test_items_that_do_not_pass_are_set_aside_together(broker: Broker) -> None:
    """Whoever fills a queue with them delays the messages of others as little as possible."""
    memory, counted = RecentMessages(), []
    site = celery_app(broker.url, TestKeyring())
    broker.push_all("records", [b"junk"] * 5000)
    site.send_task("tournament.sweep", queue="records")
    site.close()

    def count(kind: str, number: int, **_: object) -> None:
        counted.append((kind, number))

    message_set_aside.connect(count)
    with receiver(broker, TestKeyring(), memory) as channel:
        found = next(filter(None, (channel.basic_get("records") for _ in range(6))))
    message_set_aside.disconnect(count)
    assert found.headers["task"] == "tournament.sweep"
    assert sum(number for _, number in counted) == 5000
    assert len(counted) <= 6
    assert len(broker.items(set_aside_key("site"))) == MOST_SET_ASIDE


def test_an_item_that_is_too_long_is_not_even_read(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", 10_000)
    broker.send_jobs([])
    broker.push(queue_of("games"), b"[" * 10_001)
    keyring = WorkerKeyring(worker_name(None, "games"), TEST_KEY)
    with receiver(broker, keyring, RecentMessages()) as channel:
        assert channel.basic_get(queue_of("games")) is not None
        assert channel.basic_get(queue_of("games")) is None
    (kept,) = broker.items(MINE_ASIDE)
    assert json.loads(kept)["why"] == "it has 10001 bytes, more than 10000"


def test_a_worker_s_message_cannot_expire_for_celery(broker: Broker) -> None:
    """Celery computes with the time, and a time at the end of all calendars ends its process."""
    east = celery_app(broker.url, WorkerKeyring("players@east", TEST_KEY))
    for expires in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        east.send_task("tournament.release", args=[[]], queue="records", headers={"expires": expires})
        with receiver(broker, TestKeyring(), RecentMessages()) as channel:
            message = channel.basic_get("records")
            assert message.headers["expires"] is None
            message.ack()
    east.close()


@pytest.mark.parametrize(
    "message",
    [
        raw_message("celery.map"),
        raw_message("tournament.record\n[1] forged line of the log"),
        raw_message(headers={"id": "1\nforged"}),
        raw_message(headers={"id": "1" * 65}),
        raw_message(properties={"delivery_tag": "a b"}),
    ],
)
def test_names_that_no_sender_of_ours_makes_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(RefusedMessage):
        clean_message(message, QUEUE)


def test_a_queue_whose_key_is_not_a_list_is_made_anew(
    broker: Broker, bundled: BadBundles, tmp_path: Path
) -> None:
    with running_worker(broker.url, tmp_path):
        broker.hear()
        broker.replace_key(queue_of("games"))
        assert wait_until(lambda: len(broker.items(MINE_ASIDE)) == 1)
        broker.send(job_of(bundled(), bundled()))
        (report,), _ = broker.receive_reports(1)
    assert report.fault == "none"
    assert "is not a list" in (tmp_path / "worker.log").read_text()


def test_a_job_or_command_that_is_sent_again_has_no_effect(
    broker: Broker, bundled: BadBundles, tmp_path: Path
) -> None:
    """Not after a restart of the worker either."""
    name = worker_name(None, "games")
    broker.send(job_of(bundled(), bundled()))
    (job,) = broker.items(queue_of("games"))
    with running_worker(broker.url, tmp_path) as worker:
        broker.receive_reports(1)
        broker.push(queue_of("games"), job)
        assert wait_until(lambda: len(broker.items(MINE_ASIDE)) == 1)
        worker.terminate()
        assert worker.wait(60) == 0
    broker.admits = False
    with running_worker(broker.url, tmp_path):
        broker.hear()
        broker.admits = True
        broker.hear_until(lambda beat: beat.admitted)
        broker.push(queue_of("games"), job)
        assert wait_until(lambda: len(broker.items(MINE_ASIDE)) == 2)
    assert {json.loads(kept)["why"] for kept in broker.items(MINE_ASIDE)} == {"it was received before"}
    broker.command(Command(name, stop=("job",)))
    (stop,) = broker.items(own_queue(COMMANDS, name))[:1]
    with running_worker(broker.url, tmp_path):
        broker.hear()
        assert wait_until(lambda: not broker.items(own_queue(COMMANDS, name)))
        broker.push(own_queue(COMMANDS, name), stop)
        assert wait_until(lambda: len(broker.items(MINE_ASIDE)) >= 3)


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
        assert wait_until(lambda: len(broker.items(MINE_ASIDE)) == 2)
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

        def remember(self, message: object) -> None:
            pass

    def is_away(*_: object) -> None:
        raise ConnectionError("reset by peer")

    qos = HardenedQoS(Away(), prefetch_count=1)
    monkeypatch.setattr(qos, "_remove_from_indices", is_away)
    virtual.QoS.append(qos, object(), "tag")
    assert not qos.can_consume()
    with pytest.raises(ConnectionError):
        qos.ack("tag")
    assert qos.can_consume()
