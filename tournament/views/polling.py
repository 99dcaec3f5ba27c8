"""Fragments that poll: the response is 204 while nothing has changed."""

from __future__ import annotations

from django.http import HttpRequest


def unchanged(request: HttpRequest, seen: str) -> bool:
    """Whether this is a poll by a page that already shows the state ``seen``."""
    return "HX-Request" in request.headers and request.GET.get("seen") == seen


def here(request: HttpRequest) -> str:
    """The page's own address with its filters, without the parameter added by polling."""
    query = request.GET.copy()
    query.pop("seen", None)
    return f"{request.path}?{query.urlencode()}" if query else request.path
