"""Digests by mail: only to who chose them, once a period, ended by a link that needs no log-in."""

from __future__ import annotations

import datetime
import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import Site, fill_site
from tests.support.seats import seat
from tournament.models import Game, User
from tournament.services.accounts import digest_mail
from tournament.services.accounts.digest_mail import choose_digest, send_digests, stop_token
from tournament.services.accounts.digests import make_digest
from tournament.services.accounts.mails import Fate, send

pytestmark = pytest.mark.django_db
NOW = timezone.now() + datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)


@pytest.fixture
def site(settings: Settings) -> Site:
    settings.EMAIL_HOST, settings.SITE = "mail.example.org", "https://duarena.example.org"
    site = fill_site()
    EmailAddress.objects.create(user=site.rival, email="rita@example.org", verified=True, primary=True)
    return site


def receivers() -> list[str]:
    return [address for one in mail.outbox for address in one.to]


def finish_again(site: Site, at: datetime.datetime) -> None:
    """Let the game that was played end at this time."""
    Game.objects.filter(pk=site.played.pk).update(finished_at=at)
    seat(pk=site.played.pk)


def test_nobody_gets_a_digest_without_choosing_it(site: Site) -> None:
    assert send_digests(NOW + 30 * DAY) == 0
    assert mail.outbox == []


@pytest.mark.parametrize(("period", "days"), [("daily", 1), ("weekly", 7)])
def test_a_digest_comes_once_a_period(site: Site, period: str, days: int) -> None:
    choose_digest(site.rival, period, NOW)
    finish_again(site, NOW + DAY / 2)
    assert send_digests(NOW + (days - 0.01) * DAY) == 0
    due = NOW + days * DAY
    assert [send_digests(due) for _ in range(3)] == [1, 0, 0]
    assert receivers() == ["rita@example.org"]
    finish_again(site, due + DAY / 2)
    assert send_digests(due + days * DAY / 2) == 0
    assert send_digests(due + days * DAY) == 1


def test_the_mail_says_what_is_new_and_how_to_end_it(site: Site) -> None:
    choose_digest(site.rival, "daily", NOW)
    finish_again(site, NOW + DAY / 2)
    send_digests(NOW + DAY)
    (sent,) = mail.outbox
    text = str(sent.body).replace("\u2068", "").replace("\u2069", "")
    assert "<b>Rival</b>\u202e v1, Dogon" in text
    assert "https://duarena.example.org/bots/brivalb/1/" in text
    assert sent.subject == "Duarena: your daily digest"
    assert f"{stop_token(site.rival)}/" in text
    assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert (
        f"<https://duarena.example.org/account/digest/{stop_token(site.rival)}/>"
        == (sent.extra_headers["List-Unsubscribe"])
    )


def test_a_kill_before_the_mail_is_sent_or_after_it_sends_none_twice(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_digest(site.rival, "daily", NOW)
    finish_again(site, NOW + DAY / 2)

    def killed(message: EmailMessage) -> Fate:
        send(message)
        raise KeyboardInterrupt

    monkeypatch.setattr(digest_mail, "send", killed)
    with pytest.raises(KeyboardInterrupt):
        send_digests(NOW + DAY)
    monkeypatch.setattr(digest_mail, "send", send)
    assert send_digests(NOW + DAY + DAY / 2) == 0
    assert len(mail.outbox) == 1


def test_two_that_send_at_once_send_one_mail(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    choose_digest(site.rival, "daily", NOW)
    finish_again(site, NOW + DAY / 2)

    def meanwhile(user: User, since: datetime.datetime) -> object:
        assert send_digests(NOW + DAY) == 0
        return make_digest(user, since)

    monkeypatch.setattr(digest_mail, "make_digest", meanwhile)
    assert send_digests(NOW + DAY) == 1


def test_inactive_users_get_none_nor_unconfirmed_addresses_nor_an_empty_one(site: Site) -> None:
    choose_digest(site.rival, "daily", NOW)
    assert send_digests(NOW + DAY) == 0  # nothing happened since
    finish_again(site, NOW + 1.5 * DAY)
    User.objects.filter(pk=site.rival.pk).update(is_active=False)
    assert send_digests(NOW + 2 * DAY) == 0
    User.objects.filter(pk=site.rival.pk).update(is_active=True)
    EmailAddress.objects.update(verified=False)
    assert send_digests(NOW + 2 * DAY) == 0
    assert mail.outbox == []


def test_a_site_without_a_mail_server_sends_none_and_offers_none(
    site: Site, settings: Settings, client: Client
) -> None:
    client.force_login(site.rival)
    assert 'action="/account/digest/"' in client.get("/account/").content.decode()
    settings.EMAIL_HOST = ""
    assert 'action="/account/digest/"' not in client.get("/account/").content.decode()
    choose_digest(site.rival, "daily", NOW)
    finish_again(site, NOW + DAY / 2)
    assert send_digests(NOW + DAY) == 0


def test_the_choice_is_made_on_the_account_s_page(site: Site, client: Client) -> None:
    client.force_login(site.rival)
    for period in ("weekly", "daily", ""):
        page = client.post("/account/digest/", {"digest": period}, follow=True).content.decode()
        assert re.search(f'<option value="{period}" selected>', page)
    assert client.post("/account/digest/", {"digest": "hourly"}).status_code == 404


def test_the_link_ends_the_digests_without_a_log_in_and_a_look_at_it_does_not(site: Site) -> None:
    choose_digest(site.rival, "daily", NOW)
    choose_digest(site.owner, "daily", NOW)
    client = Client(enforce_csrf_checks=True)
    address = f"/account/digest/{stop_token(site.rival)}/"
    assert "Send me no more digests" in client.get(address).content.decode()
    assert User.objects.get(pk=site.rival.pk).digest == "daily"
    answer = client.post(address, {"List-Unsubscribe": "One-Click"})
    assert "You get no more digests" in answer.content.decode()
    assert User.objects.get(pk=site.rival.pk).digest == ""
    assert User.objects.get(pk=site.owner.pk).digest == "daily"
    assert client.post(f"/account/digest/{site.owner.pk}:{address.partition(':')[2]}").status_code == 404
