"""The pages of webhooks, and the events that the services make where they notify."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.receivers import make_webhook
from tests.support.schedule import make_tournament, make_user, make_version
from tournament.models import BotVersion, User, Webhook, WebhookDelivery
from tournament.services.bots.verdicts import accept, refuse
from tournament.services.schedule.finishing import finish
from tournament.services.webhooks.owning import MAX_WEBHOOKS

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


def test_a_checked_version_is_told_with_its_verdict(owner: User) -> None:
    make_webhook(owner)
    for number, judge in enumerate((accept, refuse), 1):
        version = make_version("Ada", owner=owner, state=BotVersion.State.VALIDATING)
        judge(version, "it never said ugiok")
        data = WebhookDelivery.objects.latest("pk").data
        assert (data["bot_slug"], data["version"]) == ("ada", number)
    assert (data["state"], data["reason"]) == ("refused", "It never said ugiok.")


def test_the_end_of_a_tournament_is_told_to_its_organizer(owner: User) -> None:
    make_webhook(owner)
    tournament = make_tournament(owner=owner)
    finish(tournament)
    data = WebhookDelivery.objects.get().data
    assert (data["tournament"], data["state"]) == (tournament.slug, tournament.state)
    assert data["page"].endswith(tournament.get_absolute_url())
