"""Mails that the mail server does not take wait and are sent later, unless it refuses them for good."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from tournament.models import WaitingMail
from tournament.services.accounts.mails import LONGEST, Fate, send, send_waiting
from tournament.services.backups.rows import tables

pytestmark = pytest.mark.django_db

AWAY = SMTPServerDisconnected("Connection unexpectedly closed")
FULL = SMTPRecipientsRefused({"ada@example.org": (452, b"mailbox full")})
UNKNOWN = SMTPRecipientsRefused({"ada@example.org": (550, b"no such user")})
SPAM = SMTPDataError(554, b"spam")
failures: dict[str, Exception] = {}
"""What the mail server answers to the mails of an address; nothing: it takes them."""
asked: list[str] = []
"""The addresses of the mails that were tried."""


class Server(EmailBackend):
    """A mail server that fails as it is told."""

    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        for message in messages:
            asked.append(message.to[0])
            if message.to[0] in failures:
                raise failures[message.to[0]]
        return int(super().send_messages(messages))


@pytest.fixture(autouse=True)
def _server(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Server"
    failures.clear()
    asked.clear()


def make_mail(name: str) -> EmailMessage:
    return EmailMessage("a digest", f"Dear {name}", None, [f"{name}@example.org"], headers={"X-Kind": "test"})


def waiting() -> list[str]:
    return list(WaitingMail.objects.order_by("tried_at").values_list("to", flat=True))


@pytest.mark.parametrize("failure", [AWAY, FULL, OSError("no route to host"), TimeoutError()])
def test_a_mail_that_is_not_taken_waits_and_is_sent_as_it_was(failure: Exception) -> None:
    failures["ada@example.org"] = failure
    assert send(make_mail("ada")).is_late
    assert send_waiting(timezone.now()) == 0
    (row,) = WaitingMail.objects.all()
    assert row.trouble
    failures.clear()
    assert send_waiting(timezone.now()) == 1
    assert waiting() == []
    (sent,) = mail.outbox
    assert (sent.subject, sent.body, sent.to) == ("a digest", "Dear ada", ["ada@example.org"])
    assert sent.extra_headers == {"X-Kind": "test"}


@pytest.mark.parametrize("failure", [UNKNOWN, SPAM])
def test_a_mail_that_is_refused_for_good_does_not_wait(failure: Exception) -> None:
    failures["ada@example.org"] = AWAY
    assert send(make_mail("ada")) is Fate.SERVER_AWAY
    failures["ada@example.org"] = failure
    send_waiting(timezone.now())
    assert waiting() == []
    assert send(make_mail("ada")) is Fate.REFUSED
    assert waiting() == []
    assert mail.outbox == []


def test_while_a_mail_waits_nobody_else_waits_for_the_server() -> None:
    failures["ada@example.org"] = AWAY
    send(make_mail("ada"))
    assert send(make_mail("bob")) is Fate.WAITS
    assert asked == ["ada@example.org"]
    assert waiting() == ["ada@example.org", "bob@example.org"]
    send_waiting(timezone.now())
    assert asked == ["ada@example.org"] * 2, "the server is asked once while it does not answer"


def test_an_address_that_takes_no_mail_delays_no_other() -> None:
    failures["ada@example.org"] = FULL
    send(make_mail("ada"))
    send(make_mail("bob"))
    assert send_waiting(timezone.now()) == 1
    assert waiting() == ["ada@example.org"]


def test_a_mail_that_has_waited_for_a_day_is_given_up() -> None:
    failures["ada@example.org"] = AWAY
    send(make_mail("ada"))
    failures.clear()
    later = timezone.now() + LONGEST + datetime.timedelta(seconds=1)
    assert send_waiting(later) == 0
    assert waiting() == []
    assert mail.outbox == []


def test_what_is_left_after_the_time_is_sent_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    failures["ada@example.org"] = AWAY
    for name in ("ada", "bob", "cy"):
        send(make_mail(name))
    failures.clear()
    monkeypatch.setattr("tournament.services.accounts.mails.BUDGET_SECONDS", -1.0)
    assert [send_waiting(timezone.now()) for _ in range(4)] == [1, 1, 1, 0]


def test_a_backup_has_no_mails_so_that_its_site_does_not_send_them_once_more() -> None:
    assert WaitingMail._meta.db_table in connection.introspection.table_names()
    assert WaitingMail._meta.db_table not in tables()
