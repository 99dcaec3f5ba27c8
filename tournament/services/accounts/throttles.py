"""Limits on wrong passwords, sign-ups and mails, by address and account, for all processes of the site.

The counters are allauth's, in the shared cache; the rates are those of ``ACCOUNT_RATE_LIMITS``. Every attempt
counts before the password is checked, so that attempts at the same time cannot exceed a limit; a right
password takes its attempt back.

Strangers cannot lock a user out for good. An address that has guessed too often waits alone. The limit on all
addresses together does not apply to a browser in which the user has logged in before (``devices``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from allauth.core.internal import ratelimit
from allauth.mfa import app_settings
from django.core.cache import cache
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from tournament.models import User

_APP = "allauth.account"

Claim = tuple[str, str]
"""An action of ``ACCOUNT_RATE_LIMITS``, and the key that it counts by."""


class Throttled(Exception):
    """Too many attempts; ``seconds`` from now the next one is allowed."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"try again {in_words(seconds)}")
        self.seconds = seconds


def password_claims(request: HttpRequest, username: str, device: str) -> list[Claim]:
    """What an attempt to log in counts against; ``device`` is empty in an unknown browser."""
    name, address = username.casefold(), ratelimit.get_ip(request)
    if device:
        return [("password_device", f"{device} {name}")]
    return [
        ("password_from_address", address),
        ("password_here", f"{address} {name}"),
        ("password_elsewhere", name),
    ]


def sign_up_claims(request: HttpRequest) -> list[Claim]:
    return [("sign_up", ratelimit.get_ip(request))]


def mail_claims(kind: str, email: str) -> list[Claim]:
    """What a mail to an address counts against; ``name+anything@host`` is the mailbox of ``name@host``."""
    name, _, host = email.casefold().rpartition("@")
    return [("mail", f"{kind} {name.partition('+')[0]}@{host}")]


def claim(request: HttpRequest, claims: Iterable[Claim]) -> list[Any]:
    """Count an attempt; returns what ``refund`` takes. Raises ``Throttled``, and then counts nothing."""
    used: list[Any] = []
    for action, key in claims:
        usage = ratelimit.consume(request, app=_APP, action=action, key=key, limit_get=True)
        if usage is None:
            refund(used)
            raise Throttled(seconds_left(request, action, key))
        used.append(usage)
    return used


def refund(used: Sequence[Any]) -> None:
    """Take an attempt back."""
    for usage in used:
        usage.rollback()


def take_code(user: User, code: str) -> bool:
    """Whether a right code of the user's second factor has not been used; it is used from now on.

    allauth notes a used code only at the log-in, and for one period of three in which it is right.
    """
    lasts = (2 * app_settings.TOTP_TOLERANCE + 1) * app_settings.TOTP_PERIOD
    digits = "".join(filter(str.isdigit, code))
    return cache.add(f"allauth.used-code:{user.pk}:{digits}", "", timeout=lasts)


def seconds_left(request: HttpRequest, action: str, key: str | None = None) -> int:
    """Seconds until the next attempt is allowed, at least 1."""
    waits = [1.0]
    for rate in ratelimit.get_rates(app=_APP, action=action):
        place = ratelimit.get_cache_key(request, app=_APP, action=action, rate=rate, key=key)
        times: list[float] = cache.get(place, [])  # newest first
        if len(times) >= rate.amount:
            waits.append(times[rate.amount - 1] + rate.duration - time.time())
    return math.ceil(max(waits))


def in_words(seconds: int) -> str:
    """``in 40 seconds``, ``in 5 minutes``: never earlier than the time itself."""
    if seconds <= 90:
        return f"in {seconds} second{pluralize(seconds)}"
    return f"in {-(-seconds // 60)} minutes"
