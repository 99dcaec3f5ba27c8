"""Notices to owners and staff: on the account's page, and by mail if a mail server is configured."""

from __future__ import annotations

import logging
from functools import partial
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse

from tournament.models import BotVersion, Notice, User

log = logging.getLogger("tournament.notices")


def notify(version: BotVersion, text: str) -> None:
    """Notify the version's owner, if it has one; part of the caller's transaction."""
    owner = version.bot.owner
    if owner is None:
        return
    Notice.objects.create(user=owner, version=version, text=text)
    if settings.EMAIL_HOST and owner.email:
        address = f"{settings.SITE}{version.get_absolute_url()}"
        message = f"{text}\n\n{address}\n"
        transaction.on_commit(partial(_mail, f"Duarena: {version.bot.name}", message, owner.email))


def notify_staff(text: str) -> None:
    """Notify all staff; part of the caller's transaction."""
    staff = list(User.objects.filter(is_staff=True, is_active=True))
    Notice.objects.bulk_create(Notice(user=user, text=text) for user in staff)
    for user in staff:
        if settings.EMAIL_HOST and user.email:
            message = f"{text}\n\n{settings.SITE}{reverse('workers')}\n"
            transaction.on_commit(partial(_mail, "Duarena: a worker", message, user.email))


def _mail(subject: str, message: str, to: str) -> None:
    """Send a mail; a failure is only logged, because the page shows the notice. Waits up to the time-out."""
    try:
        send_mail(subject, message, None, [to])
    except (OSError, SMTPException) as error:
        log.warning("no mail to %s: %s", to, error)
