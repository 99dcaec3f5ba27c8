"""What allauth asks the site: limits on log-ins and mails, names, and the addresses in mails."""

from __future__ import annotations

import logging
import unicodedata
from functools import cache
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.sites.shortcuts import get_current_site
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import get_resolver, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from tournament.addresses import plain_address
from tournament.models import User
from tournament.models.names import closed_name, look_key, look_keys
from tournament.services.accounts import mails
from tournament.services.accounts.devices import known_device, remember_device
from tournament.services.searches.playing import give_to
from tournament.views.requests import GUEST

MAX_USERNAME = 40
"""Longest name of a new account: names are shown in tables beside others."""
_APP = "allauth.account"

AUTHORITY = """
admin administrator root superuser sysadmin sysop system staff moderator mod operator organizer owner referee
official support help helpdesk info security abuse contact webmaster postmaster hostmaster noreply bot site
duarena anonymous guest nobody everybody somebody unknown none null undefined deleted closed new edit me you
"""
"""Names that would speak for the site, or for nobody."""

log = logging.getLogger("tournament.accounts")


@cache
def _reserved() -> set[str]:
    """The keys of names that nobody gets: those of authority, and the first words of the site's addresses."""
    routes = (str(one.pattern).lstrip("^").partition("/")[0] for one in get_resolver().url_patterns)
    return {look_key(name) for name in (*AUTHORITY.split(), *routes) if name.replace("-", "").isalnum()}


class AccountAdapter(DefaultAccountAdapter):
    """Accounts with the site's rules for names and the site's limits."""

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt before the password is checked; a right password takes its attempt back.

        Strangers cannot lock a user out for good: an address that has guessed too often waits alone, and the
        limit on all addresses together does not apply to a browser in which the user has logged in before.
        """
        name = str(credentials.get("username", ""))
        device, address, key = known_device(request, name), ratelimit.get_ip(request), name.casefold()
        if device:
            limits = [("password_device", f"{device} {key}")]
        else:
            limits = [("password", f"{address} {key}"), ("password_elsewhere", key)]
        self._login_failed_rl_usage = ratelimit.RateLimitUsage([])
        for action, counted in limits:
            usage = ratelimit.consume(request, app=_APP, action=action, key=counted)
            if usage is None:
                raise ImmediateHttpResponse(ratelimit.respond_429(request))
            self._login_failed_rl_usage.usage += usage.usage

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_device(request, response, user)
        give_to(user, request.session.pop(GUEST, ""))
        return response

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The normalized name; raises ``ValidationError`` for one that is taken or looks like another."""
        name = str(super().clean_username(unicodedata.normalize("NFKC", username), shallow))
        if len(name) > MAX_USERNAME:
            raise ValidationError(f"The name has more than {MAX_USERNAME} characters.")
        user = User(username=name)
        user.clean()
        if not shallow:
            user.validate_constraints()
            keys = look_keys(name)
            was_closed = User.objects.filter(username__in=map(closed_name, keys)).exists()
            if was_closed or keys & _reserved() or name.casefold().startswith("closed-"):
                raise ValidationError("This name is reserved: choose another.")
            if alike := user.lookalike():
                raise ValidationError(
                    f'The name looks like that of the user "{alike.username}". Choose another.'
                )
        return name

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail, unless many have gone to the mailbox. The next page says if it is late or refused.

        ``name+anything@host`` is the mailbox of ``name@host``. allauth limits the links for a new password by
        itself, and strangers cannot use them up with other mails.
        """
        name, _, host = email.casefold().rpartition("@")
        mailbox = f"{name.partition('+')[0]}@{host}"
        is_reset = "password_reset" in template_prefix
        if not (is_reset or ratelimit.consume(self.request, app=_APP, action="mail", key=mailbox)):
            log.warning("no mail to %s: several were sent", email)
            return
        site = {"email": email, "request": self.request, "current_site": get_current_site(self.request)}
        fate = mails.send(self.render_mail(template_prefix, email, {**site, **context}))
        if fate.is_late:
            messages.warning(self.request, mails.LATE)
        elif fate is mails.Fate.REFUSED and not is_reset:  # whether an address is known is not told
            messages.warning(self.request, f"The mail server refuses mails to {email}.")

    def get_reset_password_from_key_url(self, key: str) -> str:
        """With the configured address of the site: the host name of a request may be a stranger's."""
        uid, _, token = key.partition("-")
        return settings.SITE + reverse("account_reset_password_from_key", args=[uid, token])

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return settings.SITE + reverse("account_confirm_email", args=[emailconfirmation.key])

    def is_safe_url(self, url: str) -> bool:
        """Whether a log-in may lead there: only to paths of this site."""
        return url.startswith("/") and url.isprintable() and url_has_allowed_host_and_scheme(url, None)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        messages.error(request, "This account is closed.")
        return redirect("log-in")

    def get_client_ip(self, request: HttpRequest) -> str:
        """The client's address, by which allauth counts (of IPv6 its network of 64 bits)."""
        return plain_address(super().get_client_ip(request))
