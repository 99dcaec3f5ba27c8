"""The forms of accounts, on top of allauth's: the site's labels, and each error beside its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from allauth.account import forms as account_forms
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp_forms
from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.core.validators import MaxLengthValidator

from tournament.models import User
from tournament.services.accounts.throttles import take_code

MAX_USERNAME = 40
"""Longest name of a new account: names are shown in tables beside others."""
PASSWORDS_DIFFER = "The two passwords do not match."
CODE_HELP = "Six digits from the authenticator app, or one of your recovery codes."


class _Labelled(forms.Form):
    """Gives each field of a form of allauth a label and perhaps a help text instead of a placeholder."""

    labels: ClassVar[Mapping[str, str]] = {}
    help_texts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.label = self.labels.get(name, field.label)
            field.help_text = self.help_texts.get(name, field.help_text)

    def replace_difference(self) -> None:
        """Replace allauth's sentence about a second password that differs from the first."""
        if self.data.get("password1") != self.data.get("password2") and self.data.get("password2"):
            self.errors.pop("password2", None)
            self.add_error("password2", PASSWORDS_DIFFER)


class LogInForm(_Labelled, account_forms.LoginForm):
    """A username and a password; errors stand beside the password."""

    labels: ClassVar = {"password": "Password"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocapitalize": "none"}

    def add_prefix(self, field_name: str) -> str:
        """The page calls the field "username", whose name is "login" in allauth."""
        return str(super().add_prefix("username" if field_name == "login" else field_name))

    def clean(self) -> dict[str, Any]:
        try:
            return dict(super().clean() or {})
        except forms.ValidationError as error:
            self.add_error("password", error)
            return dict(self.cleaned_data)


class SignUpForm(_Labelled, account_forms.SignupForm):
    """A username and a password; the e-mail address is optional."""

    field_order = ("username", "password1", "password2", "email")
    labels: ClassVar = {"email": "E-mail address (optional)"}
    help_texts: ClassVar = {
        "username": f"Everybody sees it: at most {MAX_USERNAME} letters, digits and @ . + - _",
        "email": "For a new password if you forget yours, and for notices. Nobody else sees it.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        username = self.fields["username"]
        username.validators.append(MaxLengthValidator(MAX_USERNAME))
        username.widget.attrs |= {"maxlength": str(MAX_USERNAME), "autocapitalize": "none"}

    def clean(self) -> dict[str, Any]:
        data = dict(super().clean() or {})
        self.replace_difference()
        return data


class EmailForm(_Labelled, account_forms.AddEmailForm):
    """The user's e-mail address."""

    labels: ClassVar = {"email": "E-mail address"}


class ResetRequestForm(_Labelled, account_forms.ResetPasswordForm):
    """The address to which the link for a new password is sent, if a user has confirmed it."""

    labels: ClassVar = {"email": "E-mail address"}

    def clean_email(self) -> str:
        email = str(super().clean_email())
        confirmed = EmailAddress.objects.filter(email__iexact=email, verified=True)
        owners = set(confirmed.values_list("user_id", flat=True))
        self.users: list[User] = [user for user in self.users if user.pk in owners]
        return email


class _RevokesTokens(forms.Form):
    """Adds a choice to revoke the tokens of a user who has any that are valid."""

    def offer_to_revoke(self, user: User, *, initial: bool) -> None:
        if count := user.tokens.filter(revoked_at__isnull=True).count():
            self.fields["revoke_tokens"] = forms.BooleanField(
                required=False,
                initial=initial,
                label=f"Also revoke {f'the {count} tokens' if count > 1 else 'the token'} of my programs",
                help_text="Do so if another person may know your password: tokens work without it.",
            )


class ChangeForm(_RevokesTokens, PasswordChangeForm):
    """A new password, with the old one."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.offer_to_revoke(user, initial=False)


class ResetForm(_RevokesTokens, _Labelled, account_forms.ResetPasswordKeyForm):
    """A new password after following the link in the mail."""

    labels: ClassVar = {"password1": "New password", "password2": "New password again"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user is not None:  # else the link does not work
            self.offer_to_revoke(self.user, initial=True)

    def clean(self) -> dict[str, Any]:
        data = dict(super().clean() or {})
        self.replace_difference()
        return data


class PasswordAgainForm(_Labelled, account_forms.ReauthenticateForm):
    """The password of the user who is logged in."""


class _TakesCodeOnce(_Labelled):
    """Accepts a code of the authenticator app once, in any of the forms, for as long as the code is right."""

    labels: ClassVar = {"code": "Code"}
    help_texts: ClassVar = {"code": CODE_HELP}
    user: User
    authenticator: Authenticator | None = None
    """The means that accepted the code; None before the first code has activated one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        is_recovery = self.authenticator and self.authenticator.type != Authenticator.Type.TOTP
        if not is_recovery and not take_code(self.user, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(_TakesCodeOnce, mfa_forms.AuthenticateForm):
    """The second factor at the log-in."""


class CodeAgainForm(_TakesCodeOnce, mfa_forms.ReauthenticateForm):
    """The second factor of the user who is logged in."""


class SetUpForm(_TakesCodeOnce, totp_forms.ActivateTOTPForm):
    """The first code of the authenticator app."""

    help_texts: ClassVar = {"code": "The six digits that the app shows now."}
