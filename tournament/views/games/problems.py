"""The form with which a user tells the staff that something is wrong with a game.

The staff gets it as notices, which nobody else sees; see ``notices.report_problem``.
"""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from engines.visible import visible
from tournament.services.accounts.notices import report_problem
from tournament.services.accounts.tokens import TooMuch
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.logged_in import login_required
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.requests import AuthenticatedRequest, in_words, takes_get_and_post

MAX_TEXT = 500
"""Characters."""


class ProblemForm(forms.Form):
    """What is wrong, in the user's words."""

    text = forms.CharField(
        max_length=MAX_TEXT,
        label="What is wrong?",
        help_text="Only the site's staff reads this. The game and the ply are sent with it.",
        error_messages={"required": "Say what is wrong."},
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def clean_text(self) -> str:
        return visible(" ".join(self.cleaned_data["text"].split()))


@takes_get_and_post
@login_required
def game_problem(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """The form about the game as shown at ``?ply=n``."""
    game = find_game_for(request, pk)
    replay, *_ = load_replay(game)
    ply = min(whole_number(request, "ply", replay.plies, most=LAST_ID), replay.plies)
    form, wait_s = ProblemForm(request.POST if request.method == "POST" else None), 0
    if form.is_valid():
        try:
            report_problem(game, ply, request.user, form.cleaned_data["text"])
        except TooMuch as refused:
            wait_s = refused.seconds
            form.add_error(None, f"You have sent much in a short time. Try again {in_words(wait_s)}.")
        else:
            messages.success(request, "The staff has your report. Thank you.")
            return redirect(f"{game.get_absolute_url()}?ply={ply}")
    context = {"form": form, "game": game, "ply": ply}
    response = render(request, "games/game_problem.html", context, status=429 if wait_s else 200)
    if wait_s:
        response["Retry-After"] = str(wait_s)
    return response
