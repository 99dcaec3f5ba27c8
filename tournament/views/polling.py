"""Fragments that ask for themselves again: 204 while nothing has changed."""

from __future__ import annotations

from django.http import HttpRequest


def unchanged(request: HttpRequest, seen: str) -> bool:
    """Whether this is a poll of a page that shows what ``seen`` stands for already."""
    return "HX-Request" in request.headers and request.GET.get("seen") == seen


def here(request: HttpRequest) -> str:
    """The page's own address with its filters, without what polling added."""
    query = request.GET.copy()
    query.pop("seen", None)
    return f"{request.path}?{query.urlencode()}" if query else request.path
