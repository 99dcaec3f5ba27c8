"""Sends mails; one that the mail server does not take waits, and the record keeper sends it later.

While mails wait, new ones wait behind them, so that nobody waits for a server that does not answer.
"""

from __future__ import annotations

import datetime
import enum
import logging
import time
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused

from django.core.mail import EmailMessage, get_connection
from django.utils import timezone

from tournament.models import WaitingMail

LONGEST = datetime.timedelta(days=1)
"""A mail that has waited for longer is deleted: its news are old, and its link may have expired."""
BUDGET_SECONDS = 2.0
"""The time after which a call begins no further mail: the record keeper does nothing else meanwhile."""
LATE = "The mail server takes no mail at present. The site sends the mail as soon as it does, within a day."
FAILURES = (OSError, SMTPException)

log = logging.getLogger("tournament.mails")


class Fate(enum.Enum):
    """What became of a mail."""

    SENT = "sent"
    WAITS = "waits"
    REFUSED = "refused"
    """The mail was refused for good, so it is not tried again."""
    SERVER_AWAY = "server away"
    """It waits, and so would any other mail."""

    @property
    def is_late(self) -> bool:
        return self in {Fate.WAITS, Fate.SERVER_AWAY}


def send(message: EmailMessage) -> Fate:
    """Send a mail to one address, or let it wait. Takes up to the time-out of the server."""
    mail = WaitingMail(
        to=message.to[0],
        subject=str(message.subject),
        text=str(message.body),
        headers=message.extra_headers,
        at=timezone.now(),
    )
    last = WaitingMail.objects.order_by("tried_at").last()
    if last is None:
        return _try(mail)
    mail.trouble, mail.tried_at = last.trouble, mail.at
    mail.save()
    return Fate.WAITS


def would_send() -> bool:
    """Whether a mail would be sent at once; takes about as long as to send it."""
    if WaitingMail.objects.exists():
        return False
    try:
        with get_connection():
            return True
    except FAILURES:
        return False


def send_waiting(now: datetime.datetime) -> int:
    """Send the mails that wait, those first that were tried the longest ago; returns how many.

    Ends at a server that does not answer. If it is killed, a mail may be sent twice.
    """
    begun, sent = time.monotonic(), 0
    for old in WaitingMail.objects.filter(at__lt=now - LONGEST):
        log.warning("no mail to %s, it has waited for a day: %s", old.to, old.trouble)
        old.delete()
    for mail in WaitingMail.objects.order_by("tried_at"):
        fate = _try(mail)
        sent += fate is Fate.SENT
        if fate is Fate.SERVER_AWAY or time.monotonic() - begun > BUDGET_SECONDS:
            break
    return sent


def _try(mail: WaitingMail) -> Fate:
    """Send it. Its row is stored if it waits, and deleted if it no longer does."""
    fate, mail.tried_at = Fate.SENT, timezone.now()
    try:
        EmailMessage(mail.subject, mail.text, None, [mail.to], headers=mail.headers).send()
    except FAILURES as error:
        log.warning("no mail to %s: %s", mail.to, error)
        fate, mail.trouble = _fate(error), str(error)[:300] or type(error).__name__
    if fate.is_late:
        mail.save()
    elif mail.pk is not None:
        mail.delete()
    return fate


def _fate(error: Exception) -> Fate:
    """What a failure means for the mail (RFC 5321: a code from 500 on is permanent)."""
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    elif isinstance(error, SMTPDataError):
        codes = [error.smtp_code]
    else:
        return Fate.SERVER_AWAY
    return Fate.REFUSED if min(codes) >= 500 else Fate.WAITS
