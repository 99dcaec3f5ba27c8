"""What allauth asks the site: limits on log-ins, names, sentences, mail, and the drawing of the QR code."""

from __future__ import annotations

import logging
import unicodedata
from smtplib import SMTPException
from typing import Any

import qrcode
from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from tournament.http.addresses import plain_address
from tournament.models import User
from tournament.services.accounts import throttles
from tournament.services.accounts.devices import known_device, remember_device

THROTTLED = "throttled"
"""The code of the error of a password that was not checked because of too many attempts."""
CONFIRMATION_SENT = "account/messages/email_confirmation_sent.txt"
REFUSED_MAIL = "refused_mail"
"""The attribute of a request for which too many mails were sent already, and the key of its message."""
MESSAGES = {
    REFUSED_MAIL: "No mail was sent to {email}, because several have been sent there today. "
    "Try again tomorrow.",
    CONFIRMATION_SENT: "A mail with a link was sent to {email}. "
    "The address is used once you have followed the link.",
    "account/messages/email_confirmed.txt": "The address {email} is confirmed.",
    "account/messages/email_confirmation_failed.txt": "The address {email} belongs to another account.",
    "account/messages/email_deleted.txt": "The address {email} is removed.",
    "account/messages/cannot_delete_primary_email.txt": "The address {email} cannot be removed "
    "while another one waits to be confirmed.",
    "account/messages/password_changed.txt": "The password is changed. Log in with the new one.",
    "mfa/messages/totp_activated.txt": "The second factor is active. Each log-in now asks for a code.",
    "mfa/messages/totp_deactivated.txt": "The second factor is removed.",
}
"""By the name of allauth's template; allauth's other messages are not shown."""
QUIET_ZONE = 4
"""Empty modules around a QR code, as its standard requires."""

log = logging.getLogger("tournament.accounts")


class AccountAdapter(DefaultAccountAdapter):
    """Accounts with the site's rules for names and the site's limits."""

    error_messages = {  # noqa: RUF012
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The username or the password is wrong. "
        "Capital and small letters differ.",
        "incorrect_password": "The password is wrong. Capital and small letters differ.",
        "too_many_login_attempts": "Too many wrong codes. Try again in 5 minutes.",
        "rate_limited": "Too many wrong codes. Try again in 5 minutes.",
        "duplicate_email": "This is your address already.",
    }

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt; raises ``ValidationError`` if there were too many."""
        name = str(credentials.get("username", ""))
        claims = throttles.password_claims(request, name, known_device(request, name))
        try:
            self._attempt = throttles.claim(request, claims)
        except throttles.Throttled as refused:
            raise ValidationError(
                f"Too many wrong passwords, so this one was not checked: {refused}.",
                code=THROTTLED,
                params={"seconds": refused.seconds},
            ) from None

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            throttles.refund(self._attempt)
        return user

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_device(request, response, user)
        return response

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The normalized name; raises ``ValidationError`` for one that is taken or looks like another."""
        name = str(super().clean_username(unicodedata.normalize("NFKC", username), shallow))
        user = User(username=name)
        user.clean()
        if not shallow:
            user.validate_constraints()
            if alike := user.lookalike():
                raise ValidationError(
                    f'The name looks like that of the user "{alike.username}". Choose another.'
                )
        return name

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if message_template == CONFIRMATION_SENT and getattr(request, REFUSED_MAIL, False):
            level, message_template = messages.WARNING, REFUSED_MAIL
        text = message or MESSAGES.get(message_template or "", "").format(**message_context or {})
        if text:
            level = messages.SUCCESS if level == messages.INFO else level
            messages.add_message(request, level, text, extra_tags=extra_tags)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail, unless many have gone to the address; a failure is only logged. May take a time-out.

        Links for a new password count apart from other mails, with which strangers could otherwise prevent
        them.
        """
        kind = "reset" if "password_reset" in template_prefix else "other"
        try:
            throttles.claim(self.request, throttles.mail_claims(kind, email))
        except throttles.Throttled as refused:
            log.warning("no mail to %s: %s", email, refused)
            setattr(self.request, REFUSED_MAIL, True)
            return
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException) as error:
            log.warning("no mail to %s: %s", email, error)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """With the configured address of the site: the host name of a request may be a stranger's."""
        uid, _, token = key.partition("-")
        return settings.SITE + reverse("account_reset_password_from_key", args=[uid, token])

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return settings.SITE + reverse("account_confirm_email", args=[emailconfirmation.key])

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        messages.error(request, "This account is closed.")
        return redirect("log-in")

    def get_client_ip(self, request: HttpRequest) -> str:
        """The client's address, by which allauth counts (of IPv6 its network of 64 bits)."""
        return plain_address(super().get_client_ip(request))

    def is_ajax(self, request: HttpRequest) -> bool:
        """All answers are pages."""
        return False


class SecondFactorAdapter(DefaultMFAAdapter):
    """The second factor with the site's sentences and its own drawing of the QR code."""

    error_messages = {  # noqa: RUF012
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "The code is wrong or has been used. Take the next one.",
    }

    def get_totp_label(self, user: User) -> str:
        return user.username

    def build_totp_svg(self, url: str) -> str:
        """An inline element: the content security policy forbids styles and other hosts."""
        code = qrcode.QRCode(border=QUIET_ZONE)
        code.add_data(url)
        rows = code.get_matrix()
        path = "".join(
            f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
        )
        return format_html(
            '<svg class="qr" viewBox="0 0 {0} {0}" role="img" aria-label="QR code for the authenticator app">'
            '<rect width="{0}" height="{0}" fill="#fff"/><path d="{1}" fill="#000"/></svg>',
            len(rows),
            path,
        )
