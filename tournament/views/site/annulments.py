"""Annulled games: the form for staff that annuls games or takes annulments back, and the published list."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_safe

from engines.visible import visible
from tournament import access
from tournament.forms import moment_field
from tournament.models import Game, WorkerName
from tournament.models.games import MAX_REASON
from tournament.services.accounts.acts import record_act
from tournament.services.annulments import Selection, annul, count_again
from tournament.services.results.corrections import COLUMNS, LIST, published_corrections
from tournament.views.exports import served_table
from tournament.views.logged_in import login_required
from tournament.views.paging import LAST_ID
from tournament.views.requests import AuthenticatedRequest, takes_get_and_post

MAX_AT_ONCE = 20_000
"""Games that the page changes at once; about ten seconds."""
ANNUL, TAKE_BACK = "annul", "take-back"


class AnnulmentForm(forms.Form):
    """One game or the games of a worker, and what to do with them."""

    action = forms.ChoiceField(
        choices=[(ANNUL, "Annul the games"), (TAKE_BACK, "Take their annulment back")], label="What"
    )
    game = forms.IntegerField(
        required=False, min_value=1, max_value=LAST_ID, label="Game", help_text="The number in its address."
    )
    worker = forms.ModelChoiceField(
        WorkerName.objects.all(),
        required=False,
        label="Or all games of the worker",
        empty_label="",
    )
    since = moment_field("That ended from")
    until = moment_field("Until before")
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

    @cached_property
    def selection(self) -> Selection:
        """The games of a valid form."""
        values = self.cleaned_data
        if values["game"]:
            return Selection(self._find(values["game"]))
        return Selection(None, values["worker"], values["since"], values["until"])

    @property
    def is_annulment(self) -> bool:
        return bool(self.cleaned_data["action"] == ANNUL)

    @property
    def chosen(self) -> QuerySet[Game]:
        """The games that the form will change."""
        return self.selection.to_annul() if self.is_annulment else self.selection.to_count_again()


@takes_get_and_post
@login_required
def annulments(request: AuthenticatedRequest) -> HttpResponse:
    """The form; a first POST shows how many games it concerns, a second one with that number does it."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    initial = {name: request.GET.get(name) for name in ("game", "worker", "action")}
    form = AnnulmentForm(request.POST if request.method == "POST" else None, initial=initial)
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        count = form.chosen.count()
        if request.POST.get("games") == str(count):
            _do(request, form, count)
            game = form.selection.game
            return redirect(game.get_absolute_url() if game else "annulments")
        context |= {"preview": _preview(form, count), "games": count, "button": _button(form, count)}
    return render(request, "site/annulments.html", context)


def _counted(games: int) -> str:
    return f"{games} game{pluralize(games)}"


def _preview(form: AnnulmentForm, count: int) -> str:
    """What the form will do, with the number of games that change, or why it does nothing."""
    if not count:
        state = "annulled already" if form.is_annulment else "not annulled"
        return f"Nothing to do: of {form.selection} there are none, or they are {state}."
    if count > MAX_AT_ONCE:
        return f"{_counted(count)} are more than this page changes at once: choose a shorter period."
    return (
        f"{_counted(count)} will {'be annulled' if form.is_annulment else 'count again'}: {form.selection}."
    )


def _button(form: AnnulmentForm, count: int) -> str:
    """Empty if there is nothing to do."""
    if not 0 < count <= MAX_AT_ONCE:
        return ""
    return f"Annul {_counted(count)}" if form.is_annulment else f"Let {_counted(count)} count again"


def _do(request: AuthenticatedRequest, form: AnnulmentForm, count: int) -> None:
    if not _button(form, count):
        messages.error(request, _preview(form, count))
        return
    selection, reason = form.selection, form.cleaned_data["reason"]
    path = selection.game.get_absolute_url() if selection.game else ""
    if form.is_annulment:
        record_act(request.user, f"annulled {_counted(count)}: {reason}", str(selection), path)
        done = f"{_counted(annul(selection.games(), reason, timezone.now()))} annulled"
    else:
        record_act(request.user, f"took the annulment of {_counted(count)} back", str(selection), path)
        done = f"{_counted(count_again(selection.games(), timezone.now()))} counted again"
    messages.success(request, f"{done}. Ratings are computed again in the background.")


@require_safe
def corrections(request: HttpRequest, kind: str) -> HttpResponse:
    """The list of annulled games as ``csv`` or ``json``, with the repeats that count in their place."""
    return served_table(kind, LIST, COLUMNS, published_corrections(), file="annulled")
