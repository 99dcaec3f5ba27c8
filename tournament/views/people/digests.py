"""Digests by mail: the choice on the account's page, and the page that ends them without a log-in."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from tournament.models import User
from tournament.services.accounts.digest_mail import choose_digest, find_by_token
from tournament.views.logged_in import takes_form
from tournament.views.requests import AuthenticatedRequest, takes_get_and_post


@takes_form
def choose(request: AuthenticatedRequest) -> HttpResponse:
    """Choose how often the user gets a digest."""
    period = request.POST.get("digest", "")
    if period not in User.DigestPeriod:
        raise Http404("no such period")
    choose_digest(request.user, period, timezone.now())
    messages.success(
        request, f"You get a {period} digest by mail." if period else "You get no digest by mail."
    )
    return redirect("account")


@csrf_exempt  # the token is the permission; mail programs send this form too (RFC 8058)
@takes_get_and_post
@never_cache
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """End the digests of the token's user. Opening the page alone does not: programs open links in mail."""
    user = find_by_token(token)
    if user is None:
        raise Http404("no such token")
    if request.method == "POST":
        choose_digest(user, User.DigestPeriod.NEVER, timezone.now())
    return render(
        request, "people/digest_stop.html", {"is_stopped": request.method == "POST" or not user.digest}
    )
