"""Views for logged-in users: a visitor logs in first, and then gets to the page of the form."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TypeVar, cast

from django.contrib import messages
from django.contrib.auth import decorators
from django.contrib.auth.views import redirect_to_login
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from tournament.models import User
from tournament.services.accounts.visits import note_visit
from tournament.views.polling import is_part

View = TypeVar("View", bound=Callable[..., HttpResponse])


def login_required(view: View) -> View:
    """Like Django's decorator, but a form leads back to the page that shows it, with a message."""
    allowed = decorators.login_required(view)

    @wraps(view)
    def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            return _log_in_first(request)
        return allowed(request, *args, **kwargs)

    return cast(View, checked)


def takes_form(view: View) -> View:
    """Decorate a view that accepts a logged-in user's form and has no page of its own."""
    return takes_form_of_anybody(login_required(view))


def takes_form_of_anybody(view: View) -> View:
    """The same for a form that needs no account."""
    checked = require_POST(view)
    checked.has_no_page = True  # type: ignore[attr-defined]
    return checked


def page_of(path: str) -> str:
    """The page that shows the form at ``path``: the path itself, or the nearest parent that is a page."""
    while not _is_page(path):
        path = f"{path.rstrip('/').rpartition('/')[0]}/"
    return path


def _is_page(path: str) -> bool:
    if path == "/":
        return True
    try:
        match = resolve(path)
    except Resolver404:
        return False
    return match.url_name != "log-out" and not hasattr(match.func, "has_no_page")


@never_cache
def _log_in_first(request: HttpRequest) -> HttpResponse:
    """Answer a form with the log-in page; a script gets one sentence instead."""
    if is_part(request):
        return render(request, "pieces/logged_out.html")
    messages.warning(request, "You were logged out when you sent the form, so nothing was done.")
    return redirect_to_login(page_of(request.path))


class VisitMiddleware:
    """Notes that a logged-in user has got a page; parts of pages, which poll by themselves, do not count."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and not is_part(request) and isinstance(request.user, User):
            with suppress(DatabaseError):  # a full disk: pages are read all the same
                note_visit(request.user, timezone.now())
        return response
