"""Senders that are killed anywhere, and two at once: nothing is lost, and a repeat has the same id."""

from __future__ import annotations

import datetime
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from django.utils import timezone

from tests.support.receivers import Receiver, make_webhook
from tests.support.schedule import make_user
from tests.support.servers import QuietHandler
from tests.support.threads import at_once
from tests.tournament.test_killed_midway import PROGRAM, environment, killed_between_statements
from tournament.embedded.plan import ROOT
from tournament.models import Notice, User, Webhook, WebhookDelivery
from tournament.models.webhooks import EventType
from tournament.services.webhooks.events import tell
from tournament.services.webhooks.games import make_events
from tournament.services.webhooks.network import ReceiverAnswer
from tournament.services.webhooks.sender import THREADS, WebhookSender
from tournament.services.webhooks.sending import AT_ONCE_A_USER, CLAIM, claim, settle

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
State = WebhookDelivery.State
IMPORTS = "import tournament.urls; from tests.support.receivers import send_due\n"
SEND = "send_due(int(sys.argv[1]))"
"""What a process does: it sends what is due to a receiver with this port."""
USERS = 8


@pytest.fixture
def owner() -> User:
    make_events()  # notes where each ladder is
    return make_user("ada")


def tell_lost(owner: User) -> None:
    tell({owner: "Ada v1 lost a game."}, EventType.GAME_LOST, "/games/7/", {"game": 7})


def end_claims() -> None:
    """As if the time of every claim had passed."""
    Webhook.objects.update(claimed_until=timezone.now() - datetime.timedelta(seconds=1))


def killed_sends(receiver: Receiver) -> Iterator[None]:
    return killed_between_statements(SEND, str(receiver.server.server_port), imports=IMPORTS)


def ids_of(receiver: Receiver) -> list[str]:
    return [headers["webhook-id"] for _, headers, _ in receiver.got]


def send_rest(receiver: Receiver) -> None:
    """Have another sender send what waits, until nothing is due."""
    sender = WebhookSender(receiver.network)
    sender.step()
    while sender._sent:
        sender.wait(5)
        sender.step()


def test_an_event_whose_sender_is_killed_anywhere_comes_with_the_same_id(owner: User) -> None:
    seen = set()
    with Receiver() as receiver:
        make_webhook(owner, receiver.url)
        tell_lost(owner)
        for _ in killed_sends(receiver):
            delivery = WebhookDelivery.objects.get()
            seen.add((delivery.state, delivery.attempts, len(receiver.got)))
            assert (delivery.state == State.DELIVERED) <= (len(receiver.got) == 1)
            assert not claim(timezone.now(), 9) or not delivery.attempts, "its claim has not ended"
            end_claims()
            send_rest(receiver)
            delivery.refresh_from_db()
            assert (delivery.state, set(ids_of(receiver))) == (State.DELIVERED, {delivery.event})
            delivery.delete()
            end_claims()
            receiver.got.clear()
            tell_lost(owner)
    assert seen >= {("waiting", 0, 0), ("waiting", 1, 1), ("delivered", 1, 1)}


def test_a_webhook_that_410_ended_stays_ended_though_its_sender_is_killed_anywhere(owner: User) -> None:
    with Receiver(lambda request: request.reply(410)) as receiver:
        one = make_webhook(owner, receiver.url)
        tell_lost(owner)
        for _ in killed_sends(receiver):
            one.refresh_from_db()
            delivery = WebhookDelivery.objects.get()
            assert one.is_on == (delivery.state == State.WAITING) == (not Notice.objects.exists())
            end_claims()
            send_rest(receiver)
            sent = len(receiver.got)
            tell_lost(owner)
            send_rest(receiver)
            assert (len(receiver.got), len(set(ids_of(receiver)))) == (sent, 1)
            assert Notice.objects.count() == 1
            WebhookDelivery.objects.all().delete()
            Notice.objects.all().delete()
            receiver.got.clear()
            Webhook.objects.update(off_at=None, claimed_until=None, failures=0)
            tell_lost(owner)


def fill(receiver: Receiver) -> None:
    """An event for each thread of a sender, to two webhooks each of some users."""
    for number in range(USERS):
        user = make_user(f"user{number}")
        for _ in range(THREADS // USERS):
            make_webhook(user, receiver.url)
        tell_lost(user)


@pytest.fixture
def blocked() -> Iterator[Receiver]:
    """A receiver that answers no request until ``THREADS`` of them have come and its event ``go`` is set."""
    go = threading.Event()

    def answer(request: QuietHandler) -> None:
        assert go.wait(20)
        request.reply(204)

    with Receiver(answer) as receiver:
        receiver.go = go  # type: ignore[attr-defined]
        yield receiver
        go.set()


def test_sixteen_events_under_way_come_again_after_a_kill(blocked: Receiver) -> None:
    fill(blocked)
    command = (sys.executable, "-c", f"{PROGRAM}{IMPORTS}{SEND}", str(blocked.server.server_port))
    with subprocess.Popen(command, cwd=ROOT, env=environment()) as process:
        for _ in range(THREADS):
            assert blocked.came.acquire(timeout=20)
        assert claim(timezone.now(), THREADS) == []
        process.kill()
    assert process.returncode == -signal.SIGKILL
    blocked.go.set()  # type: ignore[attr-defined]
    assert set(WebhookDelivery.objects.values_list("state", "attempts")) == {(State.WAITING, 1)}
    end_claims()
    send_rest(blocked)
    assert set(WebhookDelivery.objects.values_list("state", "attempts")) == {(State.DELIVERED, 2)}
    assert len(blocked.got) == 2 * THREADS
    assert Counter(ids_of(blocked)) == Counter(dict.fromkeys(ids_of(blocked), 2 * THREADS // USERS))


def test_two_senders_send_each_event_once_and_two_at_a_time_to_a_user() -> None:
    lock, now_at, most, got = threading.Lock(), Counter[str](), Counter[str](), Counter[tuple[str, str]]()

    def answer(request: QuietHandler) -> None:
        _, user, hook = request.path.split("/")
        with lock:
            for key in (user, f"{user}/{hook}"):
                now_at[key] += 1
                most[key] = max(most[key], now_at[key])
            got[hook, request.headers["webhook-id"]] += 1
        time.sleep(0.002)
        with lock:
            now_at.subtract((user, f"{user}/{hook}"))
        request.reply(204)

    with Receiver(answer) as receiver:
        for user in (make_user("ada"), make_user("bert")):
            for hook in range(4):
                make_webhook(user, f"{receiver.url.split('/hook')[0]}/{user}/{user}{hook}")
            for _ in range(3):
                tell_lost(user)
        at_once(*[lambda: send_rest(receiver)] * 3)
        send_rest(receiver)
    assert set(WebhookDelivery.objects.values_list("state", "attempts")) == {(State.DELIVERED, 1)}
    assert (len(got), set(got.values())) == (24, {1})
    assert {most[user] for user in ("ada", "bert")} <= {1, AT_ONCE_A_USER}
    assert {number for key, number in most.items() if "/" in key} == {1}


def test_an_answer_that_comes_after_the_claim_ended_counts_only_as_a_success(owner: User) -> None:
    webhook, now = make_webhook(owner), timezone.now() + datetime.timedelta(seconds=1)
    tell_lost(owner)
    (late,) = claim(now, 1)
    (again,) = claim(now + CLAIM, 1)
    settle(late, ReceiverAnswer(410, "", 1.0), now + CLAIM)
    assert claim(now + CLAIM, 1) == [], "the other sender's claim has not ended"
    settle(late, ReceiverAnswer(204, "", 1.0), now + CLAIM)
    settle(again, ReceiverAnswer(500, "", 1.0), now + CLAIM)
    webhook.refresh_from_db()
    again.refresh_from_db()
    assert (webhook.is_on, again.state) == (True, State.DELIVERED)
