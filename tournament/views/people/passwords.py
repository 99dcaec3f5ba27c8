"""Passwords and e-mail addresses: a new password with the old one or by mail, and the address for it."""

from __future__ import annotations

from allauth.account import views as account_views
from allauth.decorators import rate_limit
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.forms import Form
from django.http import HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache

from tournament.models import User
from tournament.services.accounts import throttles
from tournament.services.accounts.devices import remember_device
from tournament.services.accounts.tokens import revoke_all
from tournament.views.logged_in import login_required
from tournament.views.people.forms import ChangeForm, EmailForm, ResetForm, ResetRequestForm
from tournament.views.requests import takes_get_and_post, too_many


class PasswordChange(auth_views.PasswordChangeView):
    """Change the password; this ends all other sessions of the account."""

    template_name = "form.html"
    form_class = ChangeForm
    success_url = reverse_lazy("account")
    extra_context = {"title": "Change the password", "button": "Change it"}  # noqa: RUF012

    def form_valid(self, form: ChangeForm) -> HttpResponse:  # type: ignore[override]
        response = super().form_valid(form)
        UserSession.objects.create_from_request(self.request)  # the session has a new key
        text = f"The password is changed. Other sessions have ended.{_revoke(form, form.user)}"
        messages.success(self.request, text)
        return response


class ResetRequest(account_views.PasswordResetView):
    """Ask for a mail with a link to set a new password."""

    template_name = "password_reset.html"
    form_class = ResetRequestForm
    extra_context = {"title": "Set a new password", "button": "Send the link"}  # noqa: RUF012

    def form_valid(self, form: ResetRequestForm) -> HttpResponse:
        email = form.cleaned_data["email"]
        try:
            throttles.claim(self.request, [("reset_password", email)])
        except throttles.Throttled as refused:
            form.add_error("email", f"Too many mails were asked for: {refused}.")
            return too_many(self.render_to_response(self.get_context_data(form=form)), refused.seconds)
        form.save(self.request)
        return HttpResponseRedirect(str(self.success_url))


class Reset(account_views.PasswordResetFromKeyView):
    """Set a new password after following the link; this ends all sessions of the account."""

    template_name = "password_reset_from_key.html"
    form_class = ResetForm
    success_url = reverse_lazy("log-in")
    extra_context = {"title": "Set a new password", "button": "Set it"}  # noqa: RUF012

    def form_valid(self, form: ResetForm) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        remember_device(self.request, response, self.reset_user)
        if revoked := _revoke(form, self.reset_user):
            messages.success(self.request, revoked.strip())
        return response


class Email(account_views.EmailView):
    """The user's e-mail address: enter, confirm, change and remove it."""

    template_name = "email.html"
    form_class = EmailForm


password_change = never_cache(
    login_required(takes_get_and_post(rate_limit(action="change_password")(PasswordChange.as_view())))
)
reset_request = takes_get_and_post(ResetRequest.as_view())
reset = takes_get_and_post(Reset.as_view())
email = never_cache(login_required(takes_get_and_post(Email.as_view())))


def _revoke(form: Form, user: User) -> str:
    """Revoke the user's tokens if the form asks for it; returns a sentence about it, with a space before."""
    if not form.cleaned_data.get("revoke_tokens"):
        return ""
    count = revoke_all(user)
    return f" {count} token{pluralize(count)} {'are' if count != 1 else 'is'} revoked."
