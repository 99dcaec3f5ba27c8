"""The forms of accounts, on top of allauth's: the site's labels, and each error beside its field."""

from __future__ import annotations

from typing import Any

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


class LogInForm(account_forms.LoginForm):
    """A username and a password; errors stand beside the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocapitalize": "none"}
        self.fields["password"].label = "Password"
        _without_placeholders(self)

    def add_prefix(self, field_name: str) -> str:
        """The page calls the field "username", whose name is "login" in allauth."""
        return str(super().add_prefix("username" if field_name == "login" else field_name))

    def clean(self) -> dict[str, Any]:
        try:
            return dict(super().clean() or {})
        except forms.ValidationError as error:
            self.add_error("password", error)
            return dict(self.cleaned_data)


class SignUpForm(account_forms.SignupForm):
    """A username and a password; the e-mail address is optional."""

    field_order = ("username", "password1", "password2", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        username, email = self.fields["username"], self.fields["email"]
        username.validators.append(MaxLengthValidator(MAX_USERNAME))
        username.widget.attrs |= {"maxlength": str(MAX_USERNAME), "autocapitalize": "none"}
        username.help_text = f"Everybody sees it: at most {MAX_USERNAME} letters, digits and @ . + - _"
        email.label = "E-mail address (optional)"
        email.help_text = "For a new password if you forget yours, and for notices. Nobody else sees it."
        _without_placeholders(self)

    def clean(self) -> dict[str, Any]:
        data = dict(super().clean() or {})
        _replace_error(self, "password2", PASSWORDS_DIFFER)
        return data


class EmailForm(account_forms.AddEmailForm):
    """The user's e-mail address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "New address" if self.user.email else "Address"
        _without_placeholders(self)


class ResetRequestForm(account_forms.ResetPasswordForm):
    """The address to which the link for a new password is sent, if a user has confirmed it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "E-mail address"
        _without_placeholders(self)

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


class ResetForm(_RevokesTokens, account_forms.ResetPasswordKeyForm):
    """A new password after following the link in the mail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].label = "New password"
        self.fields["password2"].label = "New password again"
        if self.user is not None:  # else the link does not work
            self.offer_to_revoke(self.user, initial=True)
        _without_placeholders(self)

    def clean(self) -> dict[str, Any]:
        data = dict(super().clean() or {})
        _replace_error(self, "password2", PASSWORDS_DIFFER)
        return data


class PasswordAgainForm(account_forms.ReauthenticateForm):
    """The password of the user who is logged in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)


class _TakesCodeOnce(forms.Form):
    """Accepts a code of the authenticator app once, in any of the forms, for as long as the code is right."""

    user: User
    authenticator: Authenticator | None = None
    """The means that accepted the code; None before the first code has activated one."""

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        is_recovery = self.authenticator and self.authenticator.type != Authenticator.Type.TOTP
        if not is_recovery and not take_code(self.user, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(_TakesCodeOnce, mfa_forms.AuthenticateForm):
    """The second factor at the log-in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _prepare_code(self, CODE_HELP)


class CodeAgainForm(_TakesCodeOnce, mfa_forms.ReauthenticateForm):
    """The second factor of the user who is logged in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _prepare_code(self, CODE_HELP)


class SetUpForm(_TakesCodeOnce, totp_forms.ActivateTOTPForm):
    """The first code of the authenticator app."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _prepare_code(self, "The six digits that the app shows now.")


def _prepare_code(form: forms.Form, help_text: str) -> None:
    form.fields["code"].label = "Code"
    form.fields["code"].help_text = help_text
    form.fields["code"].widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}
    _without_placeholders(form)


def _without_placeholders(form: forms.Form) -> None:
    """Every field has a label."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


def _replace_error(form: forms.Form, field: str, sentence: str) -> None:
    """Replace allauth's sentence about a second password that differs from the first."""
    if form.data.get("password1") != form.data.get("password2") and form.data.get(field):
        form.errors.pop(field, None)
        form.add_error(field, sentence)
