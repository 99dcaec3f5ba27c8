"""The second factor: set it up, use it at the log-in, remove it, and its recovery codes."""

from __future__ import annotations

from allauth.mfa.base import views as base_views
from allauth.mfa.recovery_codes import views as code_views
from allauth.mfa.totp import views as totp_views

from tournament.views.people.forms import CodeAgainForm, CodeForm, SetUpForm
from tournament.views.requests import takes_get_and_post
from tournament.views.unsent import login_required


class SecondFactor(base_views.IndexView):
    """Whether the account has a second factor, and what can be done about it."""

    template_name = "second_factor.html"


class EnterCode(base_views.AuthenticateView):
    """Ask for a code after the password."""

    template_name = "enter_code.html"
    form_class = CodeForm
    extra_context = {"title": "Enter a code", "button": "Log in"}  # noqa: RUF012


class CodeAgain(base_views.ReauthenticateView):
    """Ask for a code before a change of the means to log in."""

    template_name = "again.html"
    form_class = CodeAgainForm
    extra_context = {"title": "Enter a code again", "button": "Continue"}  # noqa: RUF012


class SetUp(totp_views.ActivateTOTPView):
    """Show the key of a new second factor and ask for its first code."""

    template_name = "second_factor_set_up.html"
    form_class = SetUpForm


class Remove(totp_views.DeactivateTOTPView):
    """Remove the second factor and its recovery codes."""

    template_name = "second_factor_remove.html"


class RecoveryCodes(code_views.ViewRecoveryCodesView):
    """The recovery codes that have not been used."""

    template_name = "recovery_codes.html"


class NewRecoveryCodes(code_views.GenerateRecoveryCodesView):
    """Replace the recovery codes."""

    template_name = "recovery_codes_new.html"


second_factor = login_required(takes_get_and_post(SecondFactor.as_view()))
enter_code = takes_get_and_post(EnterCode.as_view())
code_again = login_required(takes_get_and_post(CodeAgain.as_view()))
set_up = login_required(takes_get_and_post(SetUp.as_view()))
remove = login_required(takes_get_and_post(Remove.as_view()))
recovery_codes = login_required(takes_get_and_post(RecoveryCodes.as_view()))
new_recovery_codes = login_required(takes_get_and_post(NewRecoveryCodes.as_view()))
