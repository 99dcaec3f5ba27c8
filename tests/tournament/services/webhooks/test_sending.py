"""The sender: signed events in order, rests after failures, ends, and nothing lost with a killed process."""

from __future__ import annotations

import dataclasses
import datetime
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Standard
from standardwebhooks.webhooks import WebhookVerificationError

from tests.support.receivers import Receiver, make_webhook
from tests.support.schedule import make_user
from tests.support.servers import QuietHandler
from tournament.models import EventCount, Notice, User, Webhook, WebhookDelivery
from tournament.models.webhooks import EventType
from tournament.services.closing import close_account
from tournament.services.event_counts import store_counts
from tournament.services.pruning import DELIVERIES, prune
from tournament.services.webhooks import events, owning
from tournament.services.webhooks.envelope import make_secret
from tournament.services.webhooks.events import tell
from tournament.services.webhooks.network import ReceiverAnswer
from tournament.services.webhooks.sender import FOR_SLOW, LOOK_SECONDS, THREADS, WebhookSender
from tournament.services.webhooks.sending import CLAIM, JITTER, PAUSES_SECONDS, claim, pause, settle
from tournament.views.people.webhooks import example_code

pytestmark = pytest.mark.django_db
State = WebhookDelivery.State
OK, REFUSED, GONE = (
    ReceiverAnswer(204, "", 0.01),
    ReceiverAnswer(500, "no", 0.01),
    ReceiverAnswer(410, "gone", 0.01),
)
SECOND = datetime.timedelta(seconds=1)


@pytest.fixture
def owner() -> User:
    return make_user("ada")


def tell_lost(owner: User, text: str = "Ada v1 lost a game.") -> None:
    tell({owner: text}, EventType.GAME_LOST, "/games/7/", {"game": 7})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as one:
        yield one


def send_all(receiver: Receiver, rounds: int = 1) -> None:
    """Steps of a sender until the answers of this many requests are stored."""
    sender = WebhookSender(receiver.network)
    for _ in range(rounds):
        sender.step()
        assert receiver.came.acquire(timeout=5)
        sender.wait(5)
        sender.step()


def test_a_receiver_of_standard_webhooks_accepts_an_event(owner: User, receiver: Receiver) -> None:
    webhook = make_webhook(owner, receiver.url)
    tell_lost(owner, "\u2068Ada\u2069 v1 lost.")
    send_all(receiver)
    ((_, headers, body),) = receiver.got
    event = Standard(webhook.secret).verify(body, headers)
    delivery = WebhookDelivery.objects.get()
    at = delivery.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    data = {"text": "Ada v1 lost.", "page": "http://testserver/games/7/", "game": 7}
    assert event["data"] | {"page": data["page"]} == data
    assert event == {"id": headers["webhook-id"], "type": "game.lost", "at": at, "data": event["data"]}
    assert (delivery.state, delivery.status, delivery.attempts) == (State.DELIVERED, 204, 1)
    with pytest.raises(WebhookVerificationError):
        Standard(webhook.secret).verify(body + b" ", headers)


def test_the_check_in_the_documents_accepts_an_event_and_no_changed_or_old_one(
    owner: User, receiver: Receiver
) -> None:
    webhook = make_webhook(owner, receiver.url)
    tell_lost(owner)
    send_all(receiver)
    ((_, headers, body),) = receiver.got
    names: dict[str, Any] = {}
    exec(example_code(), names)  # what the page shows
    is_genuine = names["is_genuine"]
    assert is_genuine(webhook.secret, headers, body)
    assert not is_genuine(make_secret(), headers, body)
    assert not is_genuine(webhook.secret, headers, body + b" ")
    assert not is_genuine(webhook.secret, {**headers, "webhook-timestamp": "1"}, body)
    owning.rotate(webhook)
    tell_lost(owner)
    send_all(receiver)
    webhook.refresh_from_db()
    for secret in (webhook.secret, webhook.old_secret):
        assert is_genuine(secret, *receiver.got[1][1:])


def test_while_the_secret_is_rotated_both_are_valid(owner: User, receiver: Receiver) -> None:
    webhook = make_webhook(owner, receiver.url)
    owning.rotate(webhook)
    owning.rotate(webhook)  # of a page that shows the old one: without effect
    webhook.refresh_from_db()
    tell_lost(owner)
    send_all(receiver)
    ((_, headers, body),) = receiver.got
    for secret in (webhook.secret, webhook.old_secret):
        Standard(secret).verify(body, headers)
    Webhook.objects.update(old_secret_until=timezone.now() - SECOND)
    tell_lost(owner)
    send_all(receiver)
    _, headers, body = receiver.got[1]
    Standard(webhook.secret).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Standard(webhook.old_secret).verify(body, headers)


def test_a_message_of_discord_has_neither_markup_nor_mentions_of_bots(
    owner: User, receiver: Receiver
) -> None:
    make_webhook(owner, receiver.url, kind=Webhook.Kind.DISCORD)
    tell_lost(owner, "@everyone **Ada** [here](https://x.example) lost.")
    send_all(receiver)
    message = json.loads(receiver.got[0][2])
    assert message["content"] == r"\@everyone \*\*Ada\*\* \[here\]\(https\://x.example\) lost."
    assert message["allowed_mentions"] == {"parse": []}
    (embed,) = message["embeds"]
    assert embed["url"].endswith("/games/7/")
    assert (embed["title"], set(embed)) == ("Game lost", {"title", "url", "timestamp"})


def test_an_event_has_one_id_for_all_webhooks_that_want_it(owner: User) -> None:
    now = timezone.now()
    for values in ({}, {}, {"events": ["version.checked"]}, {"off_at": now}, {"since": now + SECOND}):
        make_webhook(owner, **values)
    make_webhook(make_user("bert"))
    tell_lost(owner)
    first, second = WebhookDelivery.objects.values_list("event", flat=True)
    assert first == second


def test_an_account_gets_a_limited_number_a_day(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_A_DAY", 3)
    webhook = make_webhook(owner)
    make_webhook(owner)
    for _ in range(3):
        tell_lost(owner)
    assert WebhookDelivery.objects.count() == 3
    with pytest.raises(owning.WebhookError, match="events today"):
        owning.send_test(webhook)
    WebhookDelivery.objects.update(created_at=timezone.now() - datetime.timedelta(days=1))
    tell_lost(owner)
    assert WebhookDelivery.objects.count() == 5


def attempt(answer: ReceiverAnswer, now: datetime.datetime) -> WebhookDelivery:
    (delivery,) = claim(now, 1)
    settle(delivery, answer, now)
    return WebhookDelivery.objects.get(pk=delivery.pk)


def test_pauses_grow_from_five_seconds_to_a_day_with_jitter() -> None:
    assert sum(PAUSES_SECONDS) // 3600 == 36
    assert (PAUSES_SECONDS[0], PAUSES_SECONDS[-1]) == (5, 24 * 3600)
    for number, seconds in enumerate(PAUSES_SECONDS, 1):
        drawn = {pause(number).total_seconds() / seconds for _ in range(20)}
        assert len(drawn) > 10
        assert all(1 - JITTER <= one <= 1 + JITTER for one in drawn)


def test_after_a_failure_a_webhook_rests_and_a_success_ends_that(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + SECOND
    tell_lost(owner)
    tell_lost(owner)
    now += SECOND
    failed = attempt(REFUSED, now)
    assert (failed.state, failed.status, failed.answer) == (State.WAITING, 500, "no")
    assert claim(now + 3 * SECOND, 9) == [], "neither this event nor the next one"
    other = attempt(OK, now + 7 * SECOND)
    assert other != failed
    webhook.refresh_from_db()
    assert webhook.failures == 0
    again = attempt(OK, now + 8 * SECOND)
    assert (again.event, again.attempts, again.state) == (failed.event, 2, State.DELIVERED)


@pytest.mark.parametrize("status", [100, 199, 301, 302, 307, 400, 404, 429, 500])
def test_all_but_a_status_of_200_to_299_is_a_failure(owner: User, status: int) -> None:
    make_webhook(owner)
    tell_lost(owner)
    assert attempt(ReceiverAnswer(status, "", 0.01), timezone.now()).state == State.WAITING


def test_after_the_last_pause_a_webhook_is_off_and_its_owner_is_told(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + SECOND
    tell_lost(owner)
    for _ in PAUSES_SECONDS:
        failed = attempt(REFUSED, now)
        webhook.refresh_from_db()
        now = max(webhook.next_at, failed.next_at) + SECOND
    assert webhook.is_on
    last = attempt(REFUSED, now)
    webhook.refresh_from_db()
    assert (last.state, last.attempts) == (State.FAILED, 9)
    assert webhook.off_reason == "9 attempts in a row failed"
    assert Notice.objects.get().text == f"Your webhook {webhook.url} is off: 9 attempts in a row failed."
    tell_lost(owner)
    assert WebhookDelivery.objects.count() == 1
    owning.turn_on(webhook)
    tell_lost(owner)
    assert attempt(OK, timezone.now() + SECOND).state == State.DELIVERED


def test_one_event_that_is_always_refused_ends_no_webhook(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + SECOND
    tell_lost(owner)
    for _ in range(len(PAUSES_SECONDS) + 1):
        attempt(REFUSED, now)
        now += datetime.timedelta(days=2)
        tell_lost(owner)
        WebhookDelivery.objects.filter(state=State.WAITING, attempts=0).update(
            next_at=now - datetime.timedelta(days=9)
        )
        bad = WebhookDelivery.objects.earliest("pk")
        if bad.state == State.WAITING:
            attempt(OK, now)
    bad.refresh_from_db()
    webhook.refresh_from_db()
    assert (bad.state, webhook.is_on) == (State.FAILED, True)


def test_410_ends_a_webhook_at_once(owner: User) -> None:
    webhook = make_webhook(owner)
    tell_lost(owner)
    assert attempt(GONE, timezone.now()).state == State.FAILED
    webhook.refresh_from_db()
    assert webhook.off_reason == "its receiver answered 410 Gone"
    assert Notice.objects.get().user == owner


def test_a_receiver_may_ask_for_a_longer_rest_of_at_most_an_hour(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + SECOND
    tell_lost(owner)
    attempt(ReceiverAnswer(429, "", 0.01, retry_after_s=100), now)
    webhook.refresh_from_db()
    assert webhook.next_at == now + 100 * SECOND
    attempt(ReceiverAnswer(503, "", 0.01, retry_after_s=10**6), now + 100 * SECOND)
    webhook.refresh_from_db()
    assert webhook.next_at == now + 3700 * SECOND


def test_what_a_killed_sender_had_claimed_is_sent_again_with_the_same_id(owner: User) -> None:
    make_webhook(owner)
    tell_lost(owner)
    now = timezone.now()
    (killed,) = claim(now, 9)
    assert claim(now, 9) == claim(now + CLAIM - SECOND, 9) == []
    (again,) = claim(now + CLAIM, 9)
    assert (again.event, again.attempts) == (killed.event, 2)


def test_one_event_at_a_time_goes_to_a_webhook_and_two_to_a_user(owner: User) -> None:
    rival = make_user("bert")
    for user in (owner, owner, owner, rival):
        make_webhook(user)
    for user in (owner, owner, rival, rival):
        tell_lost(user)
    now = timezone.now() + SECOND
    claimed = claim(now, 9)
    assert [one.webhook.owner for one in claimed] == [owner, owner, rival]
    assert len({one.webhook for one in claimed}) == 3
    assert claim(now, 9) == []
    settle(claimed[0], OK, now)
    (next_one,) = claim(now, 9)
    assert next_one.webhook.owner == owner


def test_a_slow_receiver_delays_no_other_and_rests_afterwards(owner: User) -> None:
    def wait_for_other(request: QuietHandler) -> None:
        assert other.came.acquire(timeout=5)
        request.reply(200)

    rival = make_user("bert")
    with Receiver() as other, Receiver(wait_for_other) as slow:
        make_webhook(owner, slow.url)
        make_webhook(rival, other.url)
        tell_lost(owner)
        tell_lost(rival)
        ports = [slow.server.server_port, other.server.server_port]
        sender = WebhookSender(dataclasses.replace(slow.network, ports=ports))
        sender.step()
        while sender._sent:
            sender.wait(5)
            sender.step()
    assert set(WebhookDelivery.objects.values_list("state", flat=True)) == {State.DELIVERED}
    tell_lost(owner)
    now = timezone.now() + SECOND
    (delivery,) = claim(now, 9)
    settle(delivery, ReceiverAnswer(200, "", 8.0), now)
    webhook = Webhook.objects.get(owner=owner)
    assert webhook.next_at == now + 8 * SECOND


def test_receivers_that_were_slow_take_half_of_the_threads_however_many_they_are() -> None:
    """All they hold are blocked until the other's event has come, which takes a step and no pause."""
    answered = threading.Event()

    def wait_for_other(request: QuietHandler) -> None:
        assert answered.wait(5)
        request.reply(200)

    with Receiver(wait_for_other) as slow, Receiver() as other:
        network = dataclasses.replace(slow.network, ports=[slow.server.server_port, other.server.server_port])
        for number in range(THREADS):
            user = make_user(f"user{number}")
            make_webhook(user, slow.url, is_slow=True)
            tell_lost(user)
        sender = WebhookSender(network)
        sender.step()
        for _ in range(FOR_SLOW):
            assert slow.came.acquire(timeout=5)
        assert len(sender._sent) == FOR_SLOW
        rival = make_user("bert")
        make_webhook(rival, other.url)
        tell_lost(rival)
        begun = time.monotonic()
        sender.step()
        assert other.came.acquire(timeout=5)
        assert time.monotonic() - begun < 10 * LOOK_SECONDS
        answered.set()
        sender._threads.shutdown()


def test_a_receiver_is_slow_by_its_last_answer(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + SECOND
    for took_s, is_slow in ((8.0, True), (0.1, False)):
        tell_lost(owner)
        (delivery,) = claim(now, 1, slow=webhook.is_slow)
        assert claim(now, 1, slow=not webhook.is_slow) == []
        settle(delivery, ReceiverAnswer(None, "", took_s), now)
        webhook.refresh_from_db()
        assert (webhook.is_slow, webhook.claimed_until) == (is_slow, None)
        now = webhook.next_at


def test_neither_a_test_nor_a_change_lets_two_requests_run_at_a_time(owner: User) -> None:
    webhook, now = make_webhook(owner, failures=1), timezone.now() + SECOND
    tell_lost(owner)
    (delivery,) = claim(now, 1)
    owning.send_test(webhook)
    owning.send_again(delivery)
    owning.change(webhook, webhook.url, webhook.kind, webhook.events)
    assert claim(now + SECOND, 9) == []
    settle(delivery, OK, now + SECOND)
    assert claim(now + SECOND, 9)[0].type == "webhook.test"


def test_an_answer_is_kept_while_the_database_is_away(
    owner: User, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database is locked")

    make_webhook(owner, receiver.url)
    tell_lost(owner)
    sender = WebhookSender(receiver.network)
    sender.step()
    sender.wait(5)
    with monkeypatch.context() as patch:
        patch.setattr("tournament.services.webhooks.sender.settle", fail)
        with pytest.raises(OperationalError):
            sender.step()
    sender.step()
    assert WebhookDelivery.objects.get().state == State.DELIVERED
    assert len(receiver.got) == 1


def test_attempts_are_counted_for_the_metrics(
    owner: User, django_capture_on_commit_callbacks: object
) -> None:
    make_webhook(owner)
    tell_lost(owner)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        attempt(REFUSED, timezone.now())
    store_counts()
    assert EventCount.objects.get(kind=EventCount.Kind.DELIVERY).label == "failed"


def test_a_run_stores_the_answers_to_what_is_under_way_before_it_ends(
    owner: User, receiver: Receiver
) -> None:
    make_webhook(owner, receiver.url)
    tell_lost(owner)
    looks = iter([False, True])
    WebhookSender(receiver.network).run(lambda: next(looks), lambda: None)
    assert WebhookDelivery.objects.get().state == State.DELIVERED


def test_a_closed_account_leaves_nothing_and_a_deactivated_one_gets_nothing(owner: User) -> None:
    make_webhook(owner)
    tell_lost(owner)
    User.objects.update(is_active=False)
    assert claim(timezone.now(), 9) == []
    close_account(owner, timezone.now())
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_old_deliveries_are_deleted(owner: User) -> None:
    make_webhook(owner)
    for days in (1, -1):
        tell_lost(owner)
        newest = WebhookDelivery.objects.latest("pk")
        then = timezone.now() - DELIVERIES - datetime.timedelta(days=days)
        WebhookDelivery.objects.filter(pk=newest.pk).update(created_at=then)
    assert prune(timezone.now(), 5.0)["webhook deliveries"] == 1
    assert WebhookDelivery.objects.get() == newest
