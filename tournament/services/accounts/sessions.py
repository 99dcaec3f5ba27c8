"""Ends the access of an account: sessions, tokens, and the means by which others may have kept it."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from tournament.models import User
from tournament.services.accounts.tokens import revoke_all


def end_all_access(user: User) -> None:
    """End all sessions of a user and revoke the tokens. Reads every session of the site."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
    UserSession.objects.filter(user=user).delete()
    revoke_all(user)


def forget_second_factor(user: User) -> bool:
    """Remove the second factor with its recovery codes; returns whether there was one."""
    return bool(Authenticator.objects.filter(user=user).delete()[0])
