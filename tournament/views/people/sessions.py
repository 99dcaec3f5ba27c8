"""The user's own sessions: a list, and buttons that end them."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import LAST_ID
from tournament.views.requests import AuthenticatedRequest

MOST_SHOWN = 50
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "curl", "python-requests")
"""Words of a browser's description of itself; the first that it contains is its name."""
NAMES = {"Edg": "Edge", "OPR": "Opera"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


@require_safe
@login_required
@never_cache
def sessions(request: AuthenticatedRequest) -> HttpResponse:
    """The user's sessions, this one first and then the newest."""
    UserSession.objects.create_from_request(request)  # a session from before this page existed
    found = UserSession.objects.purge_and_list(request.user)
    found.sort(key=lambda session: (not session.is_current(), -session.created_at.timestamp()))
    rows = [(session, browser_name(session.user_agent)) for session in found[:MOST_SHOWN]]
    return render(request, "sessions.html", {"sessions": rows, "others": len(found) - 1})


@takes_form
def session_end(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """End one of the user's sessions; ending this one logs out."""
    session = UserSession.objects.filter(user=request.user, pk=pk).first() if pk <= LAST_ID else None
    if session is None:
        raise Http404(f"no session {pk}")
    is_current = session.is_current()
    session.end()
    if is_current:
        request.session.flush()
        return redirect("home")
    messages.success(request, f"The session in {browser_name(session.user_agent)} has ended.")
    return redirect("sessions")


@takes_form
def sessions_end(request: AuthenticatedRequest) -> HttpResponse:
    """End all sessions of the user but this one."""
    others = UserSession.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    count = len([session.end() for session in others])
    messages.success(request, f"{count} session{pluralize(count)} {'have' if count != 1 else 'has'} ended.")
    return redirect("sessions")


def browser_name(description: str) -> str:
    """``Firefox on Linux``, from the description that a browser sends; it can claim to be any."""
    words = [word for word in BROWSERS if f"{word}/" in description]
    systems = [system for system in SYSTEMS if system in description]
    browser = NAMES.get(words[0], words[0]) if words else "an unknown browser"
    return f"{browser} on {systems[0]}" if systems else browser
