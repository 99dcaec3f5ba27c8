"""Keeps the values of a form that was sent after the user's log-in had expired.

Such a form is answered with the log-in page, which has the form's values in a hidden field. After the
log-in, the session keeps the values for the form's own page, where they are filled in again. Nothing is
done with them before the user sends the form again. Passwords and files are not kept.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar, cast

from django.contrib import messages
from django.contrib.auth import decorators
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse_lazy
from django.utils import timezone
from django.views.decorators.cache import never_cache

from tournament.views.people.forms import LogInForm

MOST_KEPT = 64_000
"""Characters of a form, URL-encoded."""
MOST_FIELDS = 1000
"""The number of fields that Django reads of a form."""
KEPT_FOR = datetime.timedelta(hours=1)
FIELD = "unsent"
"""Name of the hidden field of the log-in form, and of the session's entry."""
SHOWN_FIELDS = ("ladder", "version", "more", "priority")
"""Fields whose values mean something to a reader."""
LOG_IN = {"title": "Log in", "button": "Log in", "action": reverse_lazy("log-in")}

View = TypeVar("View", bound=Callable[..., HttpResponse])


@dataclass(frozen=True, slots=True)
class Unsent:
    """The values of a form; without values and not ``is_whole`` if they were too long to be kept."""

    values: QueryDict
    is_whole: bool = True
    had_file: bool = False

    @property
    def fields(self) -> list[tuple[str, str]]:
        return [(name, value) for name, values in self.values.lists() for value in map(str, values)]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The fields that are shown to the user, with their names capitalized."""
        return [(name.capitalize(), value) for name, value in self.fields if name in SHOWN_FIELDS]

    @property
    def advice(self) -> str:
        """What to do at the log-in page."""
        if not self.is_whole:
            return "What you entered is too long to be kept: go back, copy it, and then log in."
        if self.had_file:
            return "Log in to get back to what you entered. You have to choose the file again."
        if self.fields:
            return "Log in to get back to what you entered."
        return "Log in to continue."


def unsent_of(request: HttpRequest) -> Unsent:
    """The values sent in this request, without passwords and the CSRF token."""
    values = request.POST.copy()
    for name in request.POST:
        if "password" in name or name == "csrfmiddlewaretoken":
            del values[name]
    is_whole = len(values.urlencode()) <= MOST_KEPT
    return Unsent(values if is_whole else QueryDict(), is_whole, bool(request.FILES))


def login_required(view: View) -> View:
    """Like Django's decorator, but the log-in page keeps the values of a form."""
    allowed = decorators.login_required(view)

    @wraps(view)
    def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            return _log_in_first(request)
        if request.method == "POST" and "HX-Request" not in request.headers and _kept(request) is not None:
            del request.session[FIELD]
        return allowed(request, *args, **kwargs)

    return cast(View, checked)


def takes_form(button: str) -> Callable[[View], View]:
    """Decorate a view that accepts a logged-in user's form and has no page of its own.

    ``button`` is the label of the button that sends the form. A GET request shows the kept values of the
    form with that button; without kept values the response is 405.
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
            context = {"unsent": Unsent(kept), "button": button, "page": page_of(request.path)}
            return render(request, "unsent.html", context)

        checked.button = button  # type: ignore[attr-defined]
        return cast(View, checked)

    return decorate


def keep(request: HttpRequest, path: str) -> None:
    """Store the kept values in this log-in form in the session, for the form at ``path``."""
    encoded = request.POST.get(FIELD)
    if encoded is not None and path and len(encoded) <= MOST_KEPT and encoded.count("&") < MOST_FIELDS:
        request.session[FIELD] = {"path": path, "values": encoded, "at": timezone.now().isoformat()}


def entered(request: HttpRequest) -> QueryDict | None:
    """The values of a form: those sent in this request, else those kept for its page; None for a new form."""
    if request.method == "POST":
        return request.POST
    kept = _kept(request)
    if kept is not None:
        messages.warning(
            request,
            "You were logged out when you sent this form, so nothing was done. "
            "What you entered is filled in again: check it and send the form.",
        )
    return kept


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
    return match.url_name != "log-out" and not hasattr(match.func, "button")


def _kept(request: HttpRequest) -> QueryDict | None:
    """The values that the session keeps for this page; None after ``KEPT_FOR``."""
    kept = request.session.get(FIELD)
    if kept is None or kept["path"] != request.path:
        return None
    if timezone.now() - datetime.datetime.fromisoformat(kept["at"]) >= KEPT_FOR:
        return None
    return QueryDict(kept["values"])


@never_cache
def _log_in_first(request: HttpRequest) -> HttpResponse:
    """Answer a form with the log-in page, which keeps its values; htmx gets one sentence instead."""
    if "HX-Request" in request.headers:
        return render(request, "pieces/logged_out.html")
    unsent = unsent_of(request)
    context = {"form": LogInForm(request=request), "next": request.path, "unsent": unsent, **LOG_IN}
    if unsent.is_whole:
        context["encoded"] = unsent.values.urlencode()
    return render(request, "log_in.html", context, status=403)
