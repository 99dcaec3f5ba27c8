"""Browsers in which a user has logged in; a signed cookie names them.

The cookie gives no access. The browser's wrong passwords count apart from those of strangers, who therefore
cannot lock the user out.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from tournament.models import User

COOKIE = "device"
MAX_AGE_SECONDS = 365 * 24 * 3600
MAX_USERS = 5
"""Users that a shared browser is known to; the latest."""
_SALT = "tournament.device"


def known_device(request: HttpRequest, username: str) -> str:
    """The name of this browser if the user has logged in with it before, else empty."""
    device, users = _read(request)
    user = User.objects.filter(username=username).values_list("pk", flat=True).first()
    return device if user in users else ""


def remember_device(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Note in the response's cookie that the user has logged in with this browser."""
    device, users = _read(request)
    users = [*(known for known in users if known != user.pk), user.pk][-MAX_USERS:]
    value = signing.dumps([device or secrets.token_urlsafe(12), users], salt=_SALT)
    response.set_cookie(
        COOKIE,
        value,
        max_age=MAX_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=bool(settings.SESSION_COOKIE_SECURE),
    )


def _read(request: HttpRequest) -> tuple[str, list[int]]:
    """The browser's name and its users; empty without a valid cookie."""
    try:
        device, users = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=MAX_AGE_SECONDS)
    except signing.BadSignature:
        return "", []
    return device, users
