"""The forms of accounts in which allauth's do something else than the site."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as account_forms
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib import messages
from django.http import HttpRequest

from tournament.models import User
from tournament.services.accounts.mails import LATE, would_send
from tournament.services.accounts.tokens import revoke_all


class LogInForm(account_forms.LoginForm):
    """A username and a password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autocapitalize"] = "none"

    def add_prefix(self, field_name: str) -> str:
        """The page calls the field "username", whose name is "login" in allauth."""
        return str(super().add_prefix("username" if field_name == "login" else field_name))


class ResetRequestForm(account_forms.ResetPasswordForm):
    """The address to which the link for a new password is sent, if a user has confirmed it."""

    def clean_email(self) -> str:
        email = str(super().clean_email())
        confirmed = EmailAddress.objects.filter(email__iexact=email, verified=True)
        owners = set(confirmed.values_list("user_id", flat=True))
        self.users: list[User] = [user for user in self.users if user.pk in owners]
        return email

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """Send the link; a visitor without a user reads the same about the mail server."""
        if not self.users and not would_send():
            messages.warning(request, LATE)
        return str(super().save(request, **kwargs))


class ResetForm(account_forms.ResetPasswordKeyForm):
    """A new password after following the link in the mail; another person may have known the old one."""

    def save(self) -> None:
        super().save()
        revoke_all(self.user)


class SetUpForm(totp_forms.ActivateTOTPForm):
    """The first code of the authenticator app, which is used from then on."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        TOTP(Authenticator(user=self.user))._mark_code_used(code)
        return code
