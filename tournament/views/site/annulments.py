"""Annulled games: the form for staff that annuls games or takes annulments back, and the published list."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_safe

from engines.visible import visible
from tournament import access
from tournament.models import Game, WorkerName
from tournament.models.games import MAX_REASON
from tournament.services.accounts.acts import record_act
from tournament.services.annulments import Selection, annul, count_again
from tournament.services.results.corrections import COLUMNS, LIST, published_corrections
from tournament.views.exports import served_table
from tournament.views.logged_in import login_required
from tournament.views.paging import LAST_ID
from tournament.views.requests import AuthenticatedRequest, takes_get_and_post

if TYPE_CHECKING:
    _WorkerField = forms.ModelChoiceField[WorkerName]
else:  # generic only for the type checker
    _WorkerField = forms.ModelChoiceField

MOST_AT_ONCE = 20_000
"""Games that the page changes at once; about ten seconds."""
ANNUL, TAKE_BACK = "annul", "take-back"


def _time(label: str) -> forms.DateTimeField:
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(required=False, label=label, widget=widget)


class AnnulmentForm(forms.Form):
    """One game or the games of a worker, and what to do with them."""

    action = forms.ChoiceField(
        choices=[(ANNUL, "Annul the games"), (TAKE_BACK, "Take their annulment back")], label="What"
    )
    game = forms.IntegerField(
        required=False, min_value=1, max_value=LAST_ID, label="Game", help_text="The number in its address."
    )
    worker = _WorkerField(
        WorkerName.objects.all(),
        required=False,
        label="Or all games of the worker",
        empty_label="",
    )
    since = _time("That ended from (UTC)")
    until = _time("Until before (UTC)")
    reason = forms.CharField(
        required=False,
        max_length=MAX_REASON,
        label="Reason",
        help_text="Public: shown on the pages of the games and in the list of annulled games.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_reason(self) -> str:
        return visible(self.cleaned_data["reason"], MAX_REASON)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if "game" in values and (values["game"] is None) == (values.get("worker") is None):
            raise forms.ValidationError("Choose a game or a worker.")
        if values.get("action") == ANNUL and not values.get("reason"):
            self.add_error("reason", "Say why the games are annulled.")
        if (number := values.get("game")) and not self._find(number):
            self.add_error("game", f"There is no recorded game with the number {number}.")
        return values

    @staticmethod
    def _find(number: int) -> Game | None:
        return Selection(Game(pk=number)).games().select_related("pairing").first()

    @property
    def selection(self) -> Selection:
        """The games of a valid form."""
        values = self.cleaned_data
        if values["game"]:
            return Selection(self._find(values["game"]))
        return Selection(None, values["worker"], values["since"], values["until"])


@dataclass(frozen=True, slots=True)
class AnnulmentPreview:
    """What a form will do; ``games`` is the number that changes."""

    action: str
    selection: Selection
    games: int

    @classmethod
    def of(cls, form: AnnulmentForm) -> AnnulmentPreview:
        action, selection = form.cleaned_data["action"], form.selection
        chosen = selection.to_annul() if action == ANNUL else selection.to_count_again()
        return cls(action, selection, chosen.count())

    @property
    def sentence(self) -> str:
        games = f"{self.games} game{pluralize(self.games)}"
        if not self.games:
            state = "annulled already" if self.action == ANNUL else "not annulled"
            return f"Nothing to do: of {self.selection} there are none, or they are {state}."
        if self.games > MOST_AT_ONCE:
            return f"{games} are more than this page changes at once: choose a shorter period."
        what = "will be annulled" if self.action == ANNUL else "will count again"
        return f"{games} {what}: {self.selection}."

    @property
    def button(self) -> str:
        """Empty if there is nothing to do."""
        games = f"{self.games} game{pluralize(self.games)}"
        if not 0 < self.games <= MOST_AT_ONCE:
            return ""
        return f"Annul {games}" if self.action == ANNUL else f"Let {games} count again"


@takes_get_and_post
@login_required
def annulments(request: AuthenticatedRequest) -> HttpResponse:
    """The form; a first POST shows how many games it concerns, a second one with that number does it."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    values = request.POST if request.method == "POST" else None
    initial = {name: request.GET.get(name) for name in ("game", "worker", "action")}
    form = AnnulmentForm(values, initial=initial)
    preview = AnnulmentPreview.of(form) if values is not None and form.is_valid() else None
    if preview and request.method == "POST" and request.POST.get("games") == str(preview.games):
        _do(request, preview, form.cleaned_data["reason"], timezone.now())
        game = preview.selection.game
        return redirect(game.get_absolute_url() if game else "annulments")
    return render(request, "annulments.html", {"form": form, "preview": preview})


def _do(
    request: AuthenticatedRequest, preview: AnnulmentPreview, reason: str, now: datetime.datetime
) -> None:
    if not preview.button:
        messages.error(request, preview.sentence)
        return
    games = f"{preview.games} game{pluralize(preview.games)}"
    is_annulment = preview.action == ANNUL
    deed = f"annulled {games}: {reason}" if is_annulment else f"took the annulment of {games} back"
    path = preview.selection.game.get_absolute_url() if preview.selection.game else ""
    record_act(request.user, deed, str(preview.selection), path)
    if is_annulment:
        done = annul(preview.selection.games(), reason, now)
    else:
        done = count_again(preview.selection.games(), now)
    what = "annulled" if is_annulment else "counted again"
    messages.success(
        request, f"{done} game{pluralize(done)} {what}. Ratings are computed again in the background."
    )


@require_safe
def corrections(request: HttpRequest, kind: str) -> HttpResponse:
    """The list of annulled games as ``csv`` or ``json``, with the repeats that count in their place."""
    return served_table(kind, LIST, COLUMNS, published_corrections(), file="annulled")
