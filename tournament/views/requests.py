"""The type of a request to a view behind ``login_required``, and what pages with a form share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.defaultfilters import pluralize
from django.utils.cache import patch_cache_control
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tournament.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of a logged-in user; used only in annotations."""

    user: User


GUEST = "guest"
"""The session's key of a visitor without an account who plays against bots."""


def guest_key(request: HttpRequest) -> str:
    """The key of a visitor who plays without an account; empty for all others."""
    key: str = "" if request.user.is_authenticated else request.session.get(GUEST, "")
    return key


View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def fresh_buttons(view: View) -> View:
    """Decorate a page with buttons that depend on what was done before: a browser's Back asks for it again.

    Only for users and for visitors who play, because others have no such buttons.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if request.user.is_authenticated or guest_key(request):
            patch_cache_control(response, no_store=True)
        return response

    return cast(View, answer)


takes_get_and_post = require_http_methods(["GET", "HEAD", "POST"])
"""Decorate a class-based view of a form: Django's would also accept PUT and OPTIONS."""


def own_page(view: View) -> View:
    """Decorate a page of an account: no cache keeps it."""
    return never_cache(takes_get_and_post(view))


def in_words(seconds: int) -> str:
    """``in 40 seconds``, ``in 5 minutes``: never earlier than the time itself."""
    if seconds <= 90:
        return f"in {seconds} second{pluralize(seconds)}"
    return f"in {-(-seconds // 60)} minutes"
