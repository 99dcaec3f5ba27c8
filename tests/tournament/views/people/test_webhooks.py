"""The pages of webhooks, and the events that the services make where they notify."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.parts import PART, followed_address
from tests.support.receivers import check_example, make_webhook
from tests.support.schedule import make_tournament, make_user, make_version
from tournament.models import BotVersion, User, Webhook, WebhookDelivery
from tournament.models.webhooks import TEST_EVENT, EventType
from tournament.services.bots.verdicts import accept, refuse
from tournament.services.schedule.finishing import finish
from tournament.services.webhooks import owning
from tournament.services.webhooks.network import ReceiverAnswer
from tournament.services.webhooks.owning import MAX_WEBHOOKS
from tournament.services.webhooks.sending import claim, settle
from tournament.views.people.webhooks import LATE

pytestmark = pytest.mark.django_db
FORM = {"url": "https://bots.example/hook", "kind": "standard", "events": ["game.lost"]}


@pytest.fixture
def owner() -> User:
    return make_user("ada")


@pytest.fixture
def page(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def test_a_webhook_is_added_changed_rotated_turned_off_and_removed(page: Client, owner: User) -> None:
    assert page.post("/account/webhooks/", FORM).status_code == 302
    one = Webhook.objects.get()
    path = one.get_absolute_url()
    assert one.secret in page.get(path).content.decode()
    page.post(path, FORM | {"events": ["game.lost", "rating.record"], "kind": "discord"})
    page.post(f"{path}rotate/")
    page.post(f"{path}off/")
    changed = Webhook.objects.get()
    assert (changed.kind, len(changed.events), changed.old_secret) == ("discord", 2, one.secret)
    assert (changed.is_on, changed.since > one.since) == (False, True)
    answer = page.post(f"{path}test/", follow=True).content.decode()
    assert "It is off: turn it on first." in answer
    page.post(f"{path}on/")
    assert "A test is sent" in page.post(f"{path}test/", follow=True).content.decode()
    assert WebhookDelivery.objects.get().type == "webhook.test"
    check_example(WebhookDelivery.objects.get())
    assert page.post(f"{path}nothing/").status_code == 404
    page.post(f"{path}remove/")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"url": "http://bots.example/"}, "The address must begin with https://."),
        ({"url": "https://bots.example:22/"}, "The port must be 443 or 8443, and is 22."),
        ({"url": "https://192.168.1.7/"}, "192.168.1.7 is no public address."),
        ({"url": "https://[::1]/"}, "::1 is no public address."),
        ({"url": "https://localhost/"}, "The name localhost has no dot, as names on the internet have."),
        ({"url": "https://2130706433/"}, "The name 2130706433 has no dot"),
        ({"events": []}, "Choose what the webhook is told."),
    ],
)
def test_a_bad_form_is_refused_with_a_sentence(
    page: Client, changes: dict[str, object], sentence: str
) -> None:
    assert sentence in page.post("/account/webhooks/", FORM | changes).content.decode()
    assert not Webhook.objects.exists()


def test_an_account_has_a_limited_number(page: Client, owner: User) -> None:
    for _ in range(MAX_WEBHOOKS):
        make_webhook(owner)
    assert "remove one first" in page.post("/account/webhooks/", FORM).content.decode()


def test_an_event_is_sent_again_with_the_same_id(page: Client, owner: User) -> None:
    one = make_webhook(owner)
    sent = one.deliveries.create(type="game.lost", data={}, state="failed", attempts=9, answer="no <b>")
    text = page.get(one.get_absolute_url()).content.decode()
    assert "no &lt;b&gt;" in text
    page.post(f"{one.get_absolute_url()}again/{sent.pk}/")
    again = WebhookDelivery.objects.get()
    assert (again.state, again.attempts, again.event) == ("waiting", 0, sent.event)


def test_the_page_follows_what_is_sent(page: Client, owner: User) -> None:
    one = make_webhook(owner)
    sent = one.deliveries.create(type="game.lost", data={"text": "Ada v1 lost.", "page": "/"})
    path = followed_address(page.get(one.get_absolute_url()).content.decode())
    assert page.get(path, headers=PART).status_code == 204
    (delivery,) = claim(timezone.now(), 1)
    settle(delivery, ReceiverAnswer(500, "no", 0.1), timezone.now())
    part = page.get(path, headers=PART).content.decode()
    assert "<html" not in part
    assert f"Body of game.lost {sent.pk}" in part
    assert all(words in part for words in ("on, fails", "1 time in a row", "nothing is sent to it until"))
    owning.turn_off(one)
    assert page.get(path, headers=PART)["X-Reload"] == "true"
    assert followed_address(page.get(one.get_absolute_url()).content.decode()) == ""


def test_the_pages_say_that_nobody_sends(page: Client, owner: User) -> None:
    one = make_webhook(owner, next_at=timezone.now() - 9 * LATE)
    one.deliveries.create(type="game.lost", data={"text": "", "page": "/"}, next_at=timezone.now() - LATE / 2)
    for path in ("/account/webhooks/", one.get_absolute_url()):
        assert "the site sends none" not in page.get(path).content.decode()
        one.deliveries.update(next_at=timezone.now() - 2 * LATE)
        assert "the site sends none" in page.get(path).content.decode()
        one.deliveries.update(next_at=timezone.now())


def test_a_page_has_the_check_of_a_signature_and_an_example_of_each_event(page: Client, owner: User) -> None:
    one = make_webhook(owner)
    assert "def is_genuine(" in page.get(one.get_absolute_url()).content.decode()
    text = page.get("/account/webhooks/").content.decode()
    for type_ in (*EventType, TEST_EVENT):
        assert f'aria-label="Example of {type_}"' in text
    Webhook.objects.update(kind="discord")
    assert one.secret not in page.get(one.get_absolute_url()).content.decode()


def test_a_checked_version_is_told_with_its_verdict(owner: User) -> None:
    make_webhook(owner)
    for number, judge in enumerate((accept, refuse), 1):
        version = make_version("Ada", owner=owner, state=BotVersion.State.VALIDATING)
        judge(version, "it never said ugiok")
        told = WebhookDelivery.objects.latest("pk")
        check_example(told)
        data = told.data
        assert (data["bot_slug"], data["version"]) == ("ada", number)
    assert (data["state"], data["reason"]) == ("refused", "It never said ugiok.")


def test_the_end_of_a_tournament_is_told_to_its_organizer(owner: User) -> None:
    make_webhook(owner)
    tournament = make_tournament(owner=owner)
    finish(tournament)
    check_example(WebhookDelivery.objects.get())
    data = WebhookDelivery.objects.get().data
    assert (data["tournament"], data["state"]) == (tournament.slug, tournament.state)
    assert data["page"].endswith(tournament.get_absolute_url())
