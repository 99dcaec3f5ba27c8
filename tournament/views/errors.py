"""Pages for requests that are refused: a form with an old token, a method that an address does not take."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render

from tournament.views.unsent import page_of, unsent_of


class NotAllowedPageMiddleware:
    """Gives an answer 405 without content a page, on which the way back stands; those of the API stay."""

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


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """A form without a fitting token; if it came from a page of this site, it can be sent again as it is.

    A browser names the site that a form came from, and no other site can name this one.
    """
    context: dict[str, object] = {"page": page_of(request.path)}
    origin = request.headers.get("Origin")
    if origin in {f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS}:
        context |= {"unsent": unsent_of(request), "words": _words(request)}
    return render(request, "403_csrf.html", context, status=403)


def _words(request: HttpRequest) -> str:
    return getattr(request.resolver_match.func, "words", "") if request.resolver_match else ""
