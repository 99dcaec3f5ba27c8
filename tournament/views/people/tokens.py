"""The user's tokens for programs: create, show once, revoke."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Case, When
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from tournament import access
from tournament.forms import BotChoice, moment_field
from tournament.models import Bot, Token, User
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import TokenError, create_token, own_token, revoke
from tournament.views.logged_in import login_required, takes_form
from tournament.views.requests import AuthenticatedRequest

MAX_SHOWN = 100
COOKIE = "new-token"
"""The name of the cookie with the text of a token that was just created."""
SHOWN_WITHIN_SECONDS = 60


class TokenForm(forms.Form):
    """A token to create."""

    name = forms.CharField(
        label="Name",
        max_length=40,
        help_text="To distinguish it from your other tokens, for example by where it is used.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        choices=Token.Scope.choices,
        initial=[Token.Scope.UPLOAD],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the token may do."},
    )
    bot = BotChoice(
        Bot.objects.none(),
        label="Only for the bot",
        required=False,
        empty_label="all of my bots",
        help_text="A token for one bot cannot act for your others, and not create tournaments.",
    )
    ends_at = moment_field("Ends", "Empty: it is valid until you revoke it.")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bots: Any = self.fields["bot"]
        bots.queryset = Bot.objects.filter(owner=user).order_by("name_key")
        if not access.may_lend_bundles(user):
            scopes = [choice for choice in Token.Scope.choices if choice[0] != Token.Scope.WORKER]
            self.fields["scopes"].choices = scopes  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not name.isprintable():
            raise forms.ValidationError("The name contains an invisible character.")
        return name


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def tokens(request: AuthenticatedRequest) -> HttpResponse:
    """The user's tokens; the text of a new one is shown on the first page after its creation.

    A cookie carries it there, so that the site stores only its hash and a reload creates no second token.
    """
    form = TokenForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            _, text = create_token(request.user, **form.cleaned_data)
        except TokenError as refused:
            form.add_error(None, as_sentence(str(refused)))
        else:
            return _shown_next(redirect("tokens"), text)
    now, text = timezone.now(), request.COOKIES.get(COOKIE, "")
    made = own_token(request.user, text)
    over = Case(When(revoked_at__isnull=False, then=2), When(ends_at__lte=now, then=1), default=0)
    own = request.user.tokens.select_related("bot").order_by(over, "-id")[:MAX_SHOWN]
    context = {
        "form": form,
        "made": made,
        "text": text,
        "tokens": [(token, token.is_valid(now)) for token in own],
        "site": f"{request.scheme}://{request.get_host()}",
    }
    response = render(request, "people/tokens.html", context)
    if text:
        response.delete_cookie(COOKIE, path=reverse("tokens"))
    return response


def _shown_next(response: HttpResponse, text: str) -> HttpResponse:
    response.set_cookie(
        COOKIE,
        text,
        max_age=SHOWN_WITHIN_SECONDS,
        path=reverse("tokens"),
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return response


@takes_form
def token_revoke(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Revoke a token of the user."""
    token = get_object_or_404(request.user.tokens, pk=pk)
    revoke(token)
    messages.success(request, f"The token {token} is revoked.")
    return redirect("tokens")
