"""Closing an account by its owner: what is personal is deleted, what results of others rest on stays."""

from __future__ import annotations

import datetime
from contextlib import suppress

from allauth.account.models import EmailAddress
from django.db import transaction

from tournament.formats.base import TournamentError
from tournament.models import Allowance, BotVersion, Tournament, User
from tournament.models.names import closed_name
from tournament.models.searches import ANALYSES
from tournament.services.accounts.sessions import end_all_access, forget_second_factor
from tournament.services.bots.verdicts import drop_program
from tournament.services.deactivation import stop_work_of
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.tournaments import cancel

REASON = "its owner closed the account"
OPEN = (Tournament.State.DRAFT, Tournament.State.PAUSED)


def close_account(user: User, now: datetime.datetime) -> None:
    """End the user's access, tournaments and bots, and then delete what is personal.

    After an interruption the user can still log in, and repeats it. The row of the user stays under another
    name, because a bot without an owner is one of the site's, and so that nobody can take the old one.
    """
    end_all_access(user)
    EmailAddress.objects.filter(user=user).delete()  # no mail about what follows
    stop_work_of(user, now)
    for tournament in Tournament.objects.filter(owner=user, state__in=OPEN):
        with suppress(TournamentError):  # it has ended meanwhile
            cancel(tournament, REASON)
    for version in BotVersion.objects.filter(bot__owner=user).select_related("bot__owner"):
        _end_version(version)
    user.person_games.all().delete()  # apart: what records a search locks it before the user
    user.searches.exclude(ANALYSES).delete()
    _forget(user)


@transaction.atomic
def _forget(user: User) -> None:
    name = closed_name(user.look)
    is_taken = User.objects.filter(username=name).exists()  # names of old accounts may look alike
    user.username = f"{name}-{user.pk}" if is_taken else name
    user.email = user.first_name = user.last_name = ""
    user.digest = User.DigestPeriod.NEVER
    user.is_active = False
    user.set_unusable_password()
    user.save()
    forget_second_factor(user)
    Allowance.objects.filter(user=user).delete()
    for name in ("analyses", "follows", "notices", "tokens", "webhooks"):
        getattr(user, name).all().delete()


@transaction.atomic
def _end_version(version: BotVersion) -> None:
    """Withdraw the version, and delete its program unless somebody else has uploaded the same."""
    withdraw(version, REASON, f"Withdrawn: {REASON}.")
    BotVersion.objects.filter(pk=version.pk).update(has_program=False, licence="", source="")
    drop_program(version)
