"""The optional email address: confirmation, change, and a new password by mail."""

from __future__ import annotations

import re
import time

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import caches
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import PASSWORD, LogIn, Site
from tests.tournament.views.people.test_accounts import error_at
from tournament.models import Token, User, WaitingMail
from tournament.services.accounts import mails

NEW = "battery horse"
SMTP, LOCMEM = (f"django.core.mail.backends.{kind}.EmailBackend" for kind in ("smtp", "locmem"))


def sign_up(name: str, email: str = "") -> Client:
    client = Client()
    data = {"username": name, "password1": PASSWORD, "password2": PASSWORD, "email": email}
    assert client.post("/sign-up/", data)["Location"] == "/account/"
    return client


def link_in(message: EmailMessage) -> str:
    """The path of the link in a mail."""
    (link,) = re.findall(r"^http://127\.0\.0\.1:8000(/.*)$", str(message.body), re.MULTILINE)
    return str(link)


def confirm(user: User, email: str) -> None:
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    User.objects.filter(pk=user.pk).update(email=email)


def test_an_account_needs_no_address(site: Site) -> None:
    sign_up("ada")
    assert mail.outbox == []
    assert not EmailAddress.objects.exists()


def test_an_address_counts_once_its_link_is_followed(site: Site) -> None:
    client = sign_up("ada", "Ada@example.org")
    (message,) = mail.outbox
    assert message.to == ["ada@example.org"]
    assert "the account ada on Duarena" in message.body
    assert not EmailAddress.objects.get().verified
    link = link_in(message)
    assert "Confirm it" in client.get(link).content.decode()
    assert not EmailAddress.objects.get().verified
    page = client.post(link, follow=True).content.decode()
    assert "You have confirmed ada@example.org." in page
    assert EmailAddress.objects.get().verified


def test_a_wrong_address_is_refused_at_its_field(site: Site) -> None:
    data = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD, "email": "nonsense"}
    assert error_at(Client().post("/sign-up/", data).content.decode(), "email")
    assert not User.objects.filter(username="ada").exists()


def test_a_new_address_takes_the_place_of_the_old_one_when_it_is_confirmed(
    site: Site, client: Client
) -> None:
    confirm(site.owner, "old@example.org")
    client.post("/log-in/", {"username": "olga", "password": PASSWORD})
    data = {"email": "new@example.org", "action_add": ""}
    asked = client.post("/account/email/", data)
    assert "/account/again/" in asked["Location"]
    client.post(asked["Location"], {"password": PASSWORD})
    page = client.get("/account/email/").content.decode()
    assert "old@example.org" in page
    assert "new@example.org" in page
    client.post(link_in(mail.outbox[0]))
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("new@example.org", True)]
    site.owner.refresh_from_db()
    assert site.owner.email == "new@example.org"
    client.post("/account/email/", {"email": "new@example.org", "action_remove": ""})
    assert not EmailAddress.objects.exists()


def ask(email: str) -> str:
    answer = Client().post("/password-reset/", {"email": email}, follow=True)
    return str(answer.content.decode())


def test_a_forgotten_password_is_replaced_by_mail_and_ends_sessions_and_tokens(site: Site) -> None:
    confirm(site.owner, "olga@example.org")
    Token.objects.create(user=site.owner, name="t", digest="d", scopes=["read"])
    elsewhere = Client()
    elsewhere.post("/log-in/", {"username": "olga", "password": PASSWORD})
    assert "Look at your mail" in ask("OLGA@example.org")
    assert "the account olga on Duarena" in mail.outbox[0].body
    client = Client()
    form = client.get(link_in(mail.outbox[0]))["Location"]
    differ = client.post(form, {"password1": NEW, "password2": "x"})
    assert "same password" in error_at(differ.content.decode(), "password2")
    data = {"password1": NEW, "password2": NEW}
    page = client.post(form, data, follow=True).content.decode()
    assert "Password successfully changed." in page
    assert client.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert Token.objects.get().revoked_at is not None
    assert client.post("/log-in/", {"username": "olga", "password": NEW}).status_code == 302
    assert "The link does not work" in Client().get(link_in(mail.outbox[0])).content.decode()


@pytest.mark.parametrize("kind", ["unknown", "unconfirmed"])
def test_only_confirmed_addresses_get_a_link_and_the_page_does_not_tell(site: Site, kind: str) -> None:
    confirm(site.owner, "olga@example.org")
    known = ask("olga@example.org")
    mail.outbox.clear()
    if kind == "unconfirmed":
        sign_up("ada", "ada@example.org")
        mail.outbox.clear()
    assert ask("ada@example.org") == known
    assert mail.outbox == []


def test_links_lead_to_the_configured_site_whatever_host_the_request_names(
    site: Site, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    confirm(site.owner, "olga@example.org")
    Client().post("/password-reset/", {"email": "olga@example.org"}, headers={"Host": "evil.example"})
    assert "evil" not in mail.outbox[0].body
    assert link_in(mail.outbox[0])


def test_mails_to_one_address_are_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda: now)
    pages = [ask("olga@example.org") for _ in range(4)]
    assert "Too many attempts" not in pages[2]
    assert "Too many attempts" in pages[3]


def test_strangers_cannot_have_the_site_mail_to_an_address_again_and_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda: now)
    confirm(site.owner, "olga@example.org")
    for number in range(40):  # every half an hour, from other network addresses
        now += 1800
        monkeypatch.setattr("allauth.core.internal.ratelimit.get_ip", lambda _, n=number: f"10.0.0.{n}")
        data = {"username": f"eve{number}", "password1": PASSWORD, "password2": PASSWORD}
        Client().post("/sign-up/", {**data, "email": f"Olga+{number % 2}{number}@example.org"})
        Client().post("/password-reset/", {"email": "olga@example.org"})
    subjects = [message.subject for message in mail.outbox]
    resets = [message for message in mail.outbox if message.to == ["olga@example.org"]]
    assert len(resets) == 6
    assert len(subjects) == 12
    mail.outbox.clear()
    now += 24 * 3600
    ask("olga@example.org")
    assert len(mail.outbox) == 1


def test_a_user_reads_that_no_mail_was_sent_because_many_were(site: Site) -> None:
    for number in range(3):
        sign_up(f"ada{number}", f"ada+{number}@example.org")
    assert len(mail.outbox) == 3
    page = sign_up("bob", "ada+bob@example.org").get("/account/").content.decode()
    assert len(mail.outbox) == 3
    assert "goes to ada+bob@example.org, unless several have been sent there today." in page


def test_nobody_blocks_the_address_of_another(site: Site) -> None:
    sign_up("ada", "shared@example.org")
    caches["default"].clear()  # one mail in three minutes goes to an address
    bob = sign_up("bob", "shared@example.org")
    bob.post(link_in(mail.outbox[1]))
    assert EmailAddress.objects.get(verified=True).user.username == "bob"
    page = Client().get(link_in(mail.outbox[0])).content.decode()
    assert "Another account has confirmed this address." in page


@pytest.mark.parametrize("email", ["olga@example.org", "nobody@example.org"])
def test_whoever_asks_for_a_link_reads_that_the_mail_server_is_away(
    site: Site, settings: Settings, email: str
) -> None:
    """Also a stranger, who must not learn whether somebody has the address."""
    confirm(site.owner, "olga@example.org")
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", 1
    assert mails.LATE in ask(email)
    assert mails.LATE in ask(email)  # now the mail waits, and the server is not asked
    settings.EMAIL_BACKEND = LOCMEM
    mails.send_waiting(timezone.now())
    assert "the mail server" not in ask(email).casefold()
    assert [message.to for message in mail.outbox] == ([["olga@example.org"]] * 3)[: 3 * ("olga" in email)]


def test_a_user_who_adds_an_address_reads_that_the_mail_server_is_away(
    site: Site, settings: Settings
) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", 1
    assert mails.LATE in sign_up("ada", "ada@example.org").get("/account/").content.decode()
    assert WaitingMail.objects.get().to == "ada@example.org"


# Names that look alike


@pytest.mark.parametrize("name", ["оlga", "olgа", "o1ga", "οlga", "OLGА"])
def test_a_name_that_looks_like_another_is_refused_and_the_other_named(
    site: Site, client: Client, name: str
) -> None:
    data = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    error = error_at(client.post("/sign-up/", data).content.decode(), "username")
    assert error == "The name looks like that of the user &quot;olga&quot;. Choose another."
    assert not User.objects.filter(username=name).exists()


@pytest.mark.parametrize("name", ["Ольга", "helga", "olga2", "ólga"])
def test_other_names_are_accepted(site: Site, name: str) -> None:
    sign_up(name)


def test_old_names_that_look_alike_stay_valid(site: Site, as_user: LogIn) -> None:
    twin = User.objects.create_user("оlga", password=PASSWORD)
    assert Client().post("/log-in/", {"username": "оlga", "password": PASSWORD}).status_code == 302
    twin.full_clean()
