"""Pages for refused requests, and for those that fail while the database is away."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.views import defaults

from tournament.api.envelope import refusal
from tournament.http.limits import TOO_LARGE, largest_body
from tournament.views.logged_in import page_of

AWAY_SECONDS: Final = 30
"""When a client should try again while the database is away."""


class NotAllowedPageMiddleware:
    """Gives empty 405 responses a page with a link back; responses of the API are left alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_blank = isinstance(response, HttpResponseNotAllowed) and not response.content
        if not is_blank or request.path.startswith("/api/"):
            return response
        page = render(request, "405.html", {"page": page_of(request.path)}, status=405)
        page["Allow"] = response["Allow"]
        return page


class TooLargePageMiddleware:
    """Refuses a request whose body is over the limit of its address, before anything reads the body.

    The server has already dropped the body of such a request and marked it; other servers leave it to the
    header ``Content-Length``.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or ""
        is_over = length.isdecimal() and int(length) > largest_body(request.path_info)
        if not is_over and not request.META.get(TOO_LARGE):
            return self.get_response(request)
        if request.path.startswith("/api/"):
            most = largest_body(request.path_info)
            what = "A request to this address"
            if most > settings.MAX_BUNDLE_BYTES:
                what, most = "A bundle", settings.MAX_BUNDLE_BYTES
            return refusal(413, f"{what} has at most {filesizeformat(most)}.")
        return _too_large_page(request)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Answer a request that an exception ended: 503 if the database does not answer or is busy."""
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return defaults.server_error(request)
    if request.path.startswith("/api/"):
        response: HttpResponseBase = refusal(503, "The database is busy or away.")
    else:
        response = defaults.server_error(request, "503.html")
        response.status_code = 503
    response["Retry-After"] = str(AWAY_SECONDS)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer a request that cannot be read; one that is too large gets a page with the limits."""
    if not isinstance(exception, RequestDataTooBig):
        return defaults.bad_request(request, exception)
    return _too_large_page(request)


def _too_large_page(request: HttpRequest) -> HttpResponseBase:
    context = {
        "page": page_of(request.path),
        "most_text": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        "most_bundle": settings.MAX_BUNDLE_BYTES,
    }
    return render(request, "413.html", context, status=413)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Answer a form without a valid token."""
    context: dict[str, object] = {"page": page_of(request.path)}
    origin = request.headers.get("Origin", "")
    if settings.CSRF_COOKIE_SECURE and origin.startswith("http://"):
        context["encrypted_site"] = settings.SITE
    return render(request, "403_csrf.html", context, status=403)
