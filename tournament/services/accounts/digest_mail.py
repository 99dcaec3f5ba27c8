"""Digests by mail: daily or weekly, to users who chose so and whose address is confirmed.

A user whose digest is due is marked before the mail is made, in a statement of its own: whatever is killed or
runs twice, there is at most one digest a period. The home page shows what was in a mail that failed.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse

from tournament.models import User
from tournament.services.accounts.digests import make_digest
from tournament.services.accounts.mails import Fate, send
from tournament.services.accounts.visits import LONGEST

PERIODS: Mapping[str, datetime.timedelta] = {
    User.DigestPeriod.DAILY: datetime.timedelta(days=1),
    User.DigestPeriod.WEEKLY: datetime.timedelta(days=7),
}
MAX_AT_ONCE = 20
BUDGET_SECONDS = 1.0
"""The time after which a call begins no further mail: the record keeper does nothing else meanwhile."""
_SIGNER = signing.Signer(salt="tournament.digest")


def choose_digest(user: User, period: str, now: datetime.datetime) -> None:
    """Send digests each ``period`` from now on; ``NEVER`` ends them."""
    User.objects.filter(pk=user.pk).exclude(digest=period).update(digest=period, digest_at=now)


def stop_token(user: User) -> str:
    """Ends the digests of a user without a log-in, and allows nothing else; valid for good."""
    return _SIGNER.sign(str(user.pk))


def find_by_token(token: str) -> User | None:
    """The user of such a token; None for any other text, and if the account is deleted."""
    try:
        return User.objects.filter(pk=int(_SIGNER.unsign(token))).first()
    except signing.BadSignature:
        return None


def send_digests(now: datetime.datetime) -> int:
    """Send the digests that are due, those due for longest first; returns how many mails. Repeatable."""
    if not settings.EMAIL_HOST:
        return 0
    begun, sent, due = time.monotonic(), 0, Q()
    for period, length in PERIODS.items():
        due |= Q(digest=period, digest_at__lte=now - length)
    for user in User.objects.filter(due, is_active=True).order_by("digest_at")[:MAX_AT_ONCE]:
        marked = User.objects.filter(pk=user.pk, digest=user.digest, digest_at=user.digest_at)
        if marked.update(digest_at=now):
            sent += _send(user, now)
        if time.monotonic() - begun > BUDGET_SECONDS:
            break
    return sent


def _send(user: User, now: datetime.datetime) -> bool:
    """Mail what is new since ``user.digest_at``; False if nothing is, or if no address is confirmed."""
    address = EmailAddress.objects.filter(user=user, verified=True, primary=True).first()
    digest = make_digest(user, max(user.digest_at or now, now - LONGEST))
    if address is None or digest.is_empty:
        return False
    stop = f"{settings.SITE}{reverse('digest-stop', args=[stop_token(user)])}"
    context = {"digest": digest, "site": settings.SITE, "stop": stop, "period": user.get_digest_display()}
    text = render_to_string("account/messages/digest.txt", context)
    # RFC 8058: the mail program ends the digests with one press.
    headers = {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    subject = f"Duarena: your {user.get_digest_display()} digest"
    return send(EmailMessage(subject, text, None, [address.email], headers=headers)) is Fate.SENT
