"""Notices to users: on the account's page, and by mail if a mail server is configured.

Only confirmed addresses get mail.

A user has one unread notice a subject, a version for example: a new one replaces the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from tournament.models import BotVersion, Game, Notice, Tournament, User, Webhook, Worker
from tournament.sentences import isolate
from tournament.services.accounts.mails import send
from tournament.services.accounts.tokens import spend

PROBLEM_COST = 60.0
"""The part of a user's allowance that a report costs: four at once, and two a minute from then on."""


def notify(version: BotVersion, text: str, *, is_warning: bool = True) -> None:
    """Notify the version's owner, if it has one; part of the caller's transaction."""
    owner = version.bot.owner
    if owner is not None:
        notice = Notice(
            user=owner, version=version, text=text, subject=f"version/{version.pk}", is_warning=is_warning
        )
        _post([notice], f"Duarena: {version.bot.name}", version.get_absolute_url())


def notify_about(tournament: Tournament, texts: Mapping[User, str], *, is_warning: bool = False) -> None:
    """Notify several users about a tournament; part of the caller's transaction."""
    subject = f"tournament/{tournament.pk}"
    notices = [
        Notice(user=user, tournament=tournament, text=text, subject=subject, is_warning=is_warning)
        for user, text in texts.items()
    ]
    _post(notices, f"Duarena: {tournament.name}", tournament.get_absolute_url())


def notify_about_webhook(webhook: Webhook, text: str) -> None:
    """Notify the owner of a webhook; part of the caller's transaction."""
    path, subject = webhook.get_absolute_url(), f"webhook/{webhook.pk}"
    _post([Notice(user=webhook.owner, text=text, subject=subject, path=path)], "Duarena: a webhook", path)


def notify_staff(worker: Worker, text: str) -> None:
    """Notify all staff about a worker; part of the caller's transaction."""
    notices = [Notice(user=user, text=text, subject=f"worker/{worker.pk}") for user in _staff()]
    _post(notices, "Duarena: a worker", reverse("workers"))


@transaction.atomic
def report_problem(game: Game, ply: int, reporter: User, text: str) -> None:
    """Notify all staff of what a user says is wrong with a game, shown at ``ply``.

    A user has one unread report a game: a new one replaces it. Raises ``TooMuch``.
    """
    spend(reporter, PROBLEM_COST, timezone.now())
    players = " – ".join(isolate(version.bot.name) for version in (game.white, game.black))
    path = f"{game.get_absolute_url()}?ply={ply}"
    message = (
        f"{isolate(reporter.username)} reports a problem with game {game.pk}, {players}, at ply {ply}: {text}"
    )
    subject = f"problem/{game.pk}/{reporter.pk}"
    notices = [Notice(user=user, text=message, subject=subject, path=path) for user in _staff()]
    _post(notices, f"Duarena: a problem with game {game.pk}", path)


def report_similarity(ladder: str, pair: str, text: str) -> None:
    """Notify all staff about two versions of a ladder; part of the caller's transaction."""
    path, subject = reverse("ladder-similarity", args=[ladder]), f"similarity/{ladder}/{pair}"
    notices = [Notice(user=user, text=text, subject=subject, path=path) for user in _staff()]
    _post(notices, "Duarena: similar bots", path)


def _staff() -> QuerySet[User]:
    return User.objects.filter(is_staff=True, is_active=True)


def _post(notices: Sequence[Notice], title: str, path: str) -> None:
    """Store notices about one subject, each instead of its user's unread one, and mail them."""
    subjects, users = {notice.subject for notice in notices}, [notice.user_id for notice in notices]
    Notice.objects.filter(user__in=users, subject__in=subjects, read_at__isnull=True).delete()
    # A conflict: another transaction has stored a notice of the same subject in the meantime.
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
    if settings.EMAIL_HOST:
        confirmed = EmailAddress.objects.filter(user__in=users, verified=True, primary=True)
        texts = {notice.user_id: notice.text for notice in notices}
        for user, address in confirmed.values_list("user_id", "email"):
            message = f"{texts[user]}\n\n{settings.SITE}{path}\n"
            mail = EmailMessage(title, message, None, [address])
            transaction.on_commit(partial(send, mail))
