"""The user's tokens for programs: create, show once, revoke.

A separate module, because `accounts` extends Django's own views, which have no tokens.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tournament.forms import TokenForm
from tournament.models import Token
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import TokenError, create_token, revoke
from tournament.views.paging import LAST_ID
from tournament.views.requests import AuthenticatedRequest
from tournament.views.unsent import entered, login_required, takes_form

MOST_SHOWN = 100


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def tokens(request: AuthenticatedRequest) -> HttpResponse:
    """The user's tokens; the text of a new token is shown only in the response that creates it."""
    form = TokenForm(entered(request), user=request.user)
    made, text = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            made, text = create_token(request.user, form.cleaned_data["name"], form.cleaned_data["scopes"])
        except TokenError as refused:
            form.add_error(None, as_sentence(str(refused)))
        else:
            form = TokenForm(user=request.user)
    own = request.user.tokens.order_by("revoked_at", "-id")[:MOST_SHOWN]
    context = {
        "form": form,
        "made": made,
        "text": text,
        "tokens": own,
        "site": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "tokens.html", context)


@takes_form("Revoke the token")
def token_revoke(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Revoke a token of the user."""
    token = Token.objects.filter(user=request.user, pk=pk).first() if pk <= LAST_ID else None
    if token is None:
        raise Http404(f"no token {pk}")
    revoke(token)
    messages.success(request, f"The token {token} is revoked.")
    return redirect("tokens")
