"""Forms that were sent too late, and what was entered in them.

A form whose sender's log-in has ended is answered with the log-in page, which has the form's values in a
hidden field. Once the person is logged in, the session keeps the values for the form's own page, where
they are filled in again; nothing is done with them before they are sent once more. Neither passwords
nor files are kept.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar, cast

from django.contrib import messages
from django.contrib.auth import decorators
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse_lazy
from django.utils import timezone

MOST_KEPT = 64_000
"""Characters of a form, encoded for an address."""
MOST_FIELDS = 1000
"""As many as Django reads of a form."""
KEPT_FOR = datetime.timedelta(hours=1)
FIELD = "unsent"
"""Of the log-in form, and the key of the session."""
TOLD = ("ladder", "version", "more", "priority")
LOG_IN = {"title": "Log in", "button": "Log in", "action": reverse_lazy("log-in")}

View = TypeVar("View", bound=Callable[..., HttpResponse])


@dataclass(frozen=True, slots=True)
class Unsent:
    """What was entered in a form; ``is_whole`` unless it was too long to be kept."""

    values: QueryDict
    is_whole: bool = True
    had_file: bool = False

    @property
    def fields(self) -> list[tuple[str, str]]:
        return [(name, value) for name, values in self.values.lists() for value in map(str, values)]

    @property
    def told(self) -> list[tuple[str, str]]:
        """Those whose values mean something to a reader."""
        return [(name.capitalize(), value) for name, value in self.fields if name in TOLD]


def unsent_of(request: HttpRequest) -> Unsent:
    """What this request has sent, without passwords and tokens."""
    values = request.POST.copy()
    for name in request.POST:
        if "password" in name or name == "csrfmiddlewaretoken":
            del values[name]
    is_whole = len(values.urlencode()) <= MOST_KEPT
    return Unsent(values if is_whole else QueryDict(), is_whole, bool(request.FILES))


def login_required(view: View) -> View:
    """As Django's, but a form is not lost: the log-in page keeps what was entered in it."""
    allowed = decorators.login_required(view)

    @wraps(view)
    def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            return _log_in_first(request)
        if request.method == "POST" and "HX-Request" not in request.headers and _kept(request) is not None:
            del request.session[FIELD]
        return allowed(request, *args, **kwargs)

    return cast(View, checked)


def takes_form(words: str) -> Callable[[View], View]:
    """For a view that takes a form of somebody who is logged in, and has no page of its own.

    ``words`` are what the form's button does. Asked for a page, the view offers to send what was kept.
    """

    def decorate(view: View) -> View:
        protected = login_required(view)

        @wraps(view)
        def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            if request.method == "POST":
                return protected(request, *args, **kwargs)
            kept = _kept(request)
            if kept is None or request.method not in {"GET", "HEAD"} or not request.user.is_authenticated:
                return HttpResponseNotAllowed(["POST"])
            context = {"unsent": Unsent(kept), "words": words, "page": page_of(request.path)}
            return render(request, "unsent.html", context)

        checked.words = words  # type: ignore[attr-defined]
        return cast(View, checked)

    return decorate


def keep(request: HttpRequest, path: str) -> None:
    """Let the session keep what the log-in form of this request holds for the form at ``path``."""
    encoded = request.POST.get(FIELD)
    if encoded is not None and path and len(encoded) <= MOST_KEPT and encoded.count("&") < MOST_FIELDS:
        request.session[FIELD] = {"path": path, "values": encoded, "at": timezone.now().isoformat()}


def entered(request: HttpRequest) -> QueryDict | None:
    """What a form holds: what this request sends, else what was kept for its page; None for a fresh form."""
    if request.method == "POST":
        return request.POST
    kept = _kept(request)
    if kept is not None:
        messages.warning(
            request,
            "You were logged out when you sent this form, so nothing was done. "
            "What you entered is filled in again: look it over and send it.",
        )
    return kept


def page_of(path: str) -> str:
    """The page that a form at ``path`` stands on: itself, or the nearest above that is a page."""
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
    return match.url_name != "log-out" and not hasattr(match.func, "words")


def _kept(request: HttpRequest) -> QueryDict | None:
    """What the session keeps for this page, if it was sent within the hour."""
    kept = request.session.get(FIELD)
    if kept is None or kept["path"] != request.path:
        return None
    if timezone.now() - datetime.datetime.fromisoformat(kept["at"]) >= KEPT_FOR:
        return None
    return QueryDict(kept["values"])


def _log_in_first(request: HttpRequest) -> HttpResponse:
    """The log-in page instead of what a form asked for; to htmx one sentence."""
    if "HX-Request" in request.headers:
        return render(request, "pieces/logged_out.html")
    unsent = unsent_of(request)
    context = {"form": AuthenticationForm(request), "next": request.path, "unsent": unsent, **LOG_IN}
    if unsent.is_whole:
        context["encoded"] = unsent.values.urlencode()
    return render(request, "log_in.html", context, status=403)
