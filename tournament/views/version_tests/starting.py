"""The form that starts a version test, and the button that stops one."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from engines.arithmetic.statistics import FARTHEST_ELO, Model
from engines.rules.registry import GAMES
from tournament import access
from tournament.formats.base import TournamentError
from tournament.forms import MAX_SEED, TimeControlField, VersionChoice, own_workers_field
from tournament.models import BotVersion, User
from tournament.models.version_tests import QUESTIONS, format_elo
from tournament.sentences import as_sentence
from tournament.services.version_tests.progress import stop_for
from tournament.services.version_tests.starting import VersionTestTerms, start_test
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.requests import AuthenticatedRequest
from tournament.views.version_tests.version_tests import find_version_test
from workers.jobs import MAX_OPENING_PLIES
from workers.sequential import Sprt

OWN = "own"
PRESETS = {
    name: (question, Sprt(*hypotheses))
    for name, (hypotheses, question) in zip(("gain", "small-gain", "no-loss"), QUESTIONS.items(), strict=True)
}
"""Values of the field ``bounds``: the question and its hypotheses."""
FIELDS = {"bots": "candidate", "ladders": "ladder"}
"""The fields that the services' messages name differently."""
ELO_LIMIT = FARTHEST_ELO[Model.NORMALIZED]


def _rounded(number: float) -> str:
    """With two significant digits, for a number from 100 to 999,999."""
    digits = len(str(int(number))) - 2
    return f"{round(number / 10**digits) * 10**digits:,}"


def _bounds_choices() -> list[tuple[str, str]]:
    listed = [(name, f"{question} {_describe(sprt)}") for name, (question, sprt) in PRESETS.items()]
    return [*listed, (OWN, "Other bounds")]


def _describe(sprt: Sprt) -> str:
    games = _rounded(sprt.expected_games())
    return f"H0 {format_elo(sprt.elo0)}, H1 {format_elo(sprt.elo1)}, about {games} games"


class VersionTestForm(forms.Form):
    """A new version test; ``cleaned_data`` holds the values that the service takes."""

    candidate = VersionChoice(
        BotVersion.objects.none(), label="Candidate", help_text="The version with the change."
    )
    baseline = VersionChoice(
        BotVersion.objects.none(), label="Baseline", help_text="The version it is compared with."
    )
    ladder = forms.ChoiceField(label="Ladder", choices=[(code, game.name) for code, game in GAMES.items()])
    bounds = forms.ChoiceField(
        label="Question",
        choices=_bounds_choices(),
        help_text="Differences in normalized Elo. The number of games is a mean, and a test can take more.",
    )
    elo0 = forms.FloatField(
        label="H0: Elo", required=False, min_value=-ELO_LIMIT, max_value=ELO_LIMIT, help_text="Below H1."
    )
    elo1 = forms.FloatField(label="H1: Elo", required=False, min_value=-ELO_LIMIT, max_value=ELO_LIMIT)
    most_games = forms.IntegerField(
        label="Largest number of games", min_value=2, help_text="After these the test ends undecided."
    )
    time_control = TimeControlField()
    opening_plies = forms.IntegerField(
        label="Opening plies",
        min_value=0,
        max_value=MAX_OPENING_PLIES,
        help_text="Drawn at random for each pair of games.",
    )
    own_workers = own_workers_field()

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("candidate", "baseline"):
            field: Any = self.fields[name]
            field.queryset = access.testable_versions(user)
        self.fields["most_games"].initial = settings.MAX_TEST_GAMES
        self.fields["time_control"].initial = settings.LADDER_TIME_CONTROL
        self.fields["opening_plies"].initial = settings.LADDER_OPENING_PLIES

    def clean_most_games(self) -> int:
        games: int = self.cleaned_data["most_games"]
        if games > settings.MAX_TEST_GAMES:
            raise forms.ValidationError(
                f"A version test has at most {settings.MAX_TEST_GAMES} games on this site, not {games}."
            )
        return games

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        candidate, baseline, ladder = (data.get(name) for name in ("candidate", "baseline", "ladder"))
        if candidate is not None and candidate == baseline:
            self.add_error("baseline", "Choose two different versions.")
        for name, version in (("candidate", candidate), ("baseline", baseline)):
            if version is not None and ladder is not None and not version.plays(ladder):
                self.add_error(name, f"This version does not play {GAMES[ladder].name}.")
        if data.get("bounds") in PRESETS:
            sprt = PRESETS[data["bounds"]][1]
            data |= {"elo0": sprt.elo0, "elo1": sprt.elo1}
        elif not self.errors.keys() & {"elo0", "elo1"}:
            self._check_own_bounds(data.get("elo0"), data.get("elo1"))
        return data

    @property
    def terms(self) -> VersionTestTerms:
        """The values of a valid form."""
        data = {name: value for name, value in self.cleaned_data.items() if name != "bounds"}
        return VersionTestTerms(**data, seed=secrets.randbelow(MAX_SEED))

    def _check_own_bounds(self, elo0: float | None, elo1: float | None) -> None:
        for name, value in (("elo0", elo0), ("elo1", elo1)):
            if value is None:
                self.add_error(name, "Enter a difference in normalized Elo.")
        if elo0 is not None and elo1 is not None and not elo0 < elo1:
            self.add_error("elo1", "H1 must be above H0.")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def version_test_new(request: AuthenticatedRequest) -> HttpResponse:
    """Start a test between two versions of the user; ``?candidate=id`` suggests the first."""
    form = VersionTestForm(
        request.POST if request.method == "POST" else None, user=request.user, initial=_suggested(request)
    )
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(start_test(request.user, form.terms))
        except TournamentError as refused:
            _add_error(form, refused)
    has_two = access.testable_versions(request.user)[1:2].exists()
    context = {"form": form, "most": settings.MAX_TESTS, "has_two": has_two}
    return render(request, "version_tests/version_test_new.html", context)


@takes_form
def version_test_stop(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """End a running test without a verdict; recorded games are kept."""
    tournament = find_version_test(request, slug)
    if not access.may_edit_tournament(request.user, tournament):
        raise Http404(f"no version test {slug!r} of this user")
    try:
        stop_for(request.user, tournament)
    except TournamentError as refused:
        messages.error(request, as_sentence(str(refused).partition(": ")[2]))
    else:
        messages.success(request, "The test is stopped. The recorded games are kept.")
    return redirect(tournament)


def _suggested(request: HttpRequest) -> dict[str, Any]:
    """The candidate, the version of its bot before it, and a ladder that both play."""
    pk = whole_number(request, "candidate", 0, most=LAST_ID)
    candidate = access.testable_versions(request.user).filter(pk=pk).first() if pk else None  # type: ignore[arg-type]
    if candidate is None:
        return {}
    earlier = candidate.bot.versions.valid().filter(number__lt=candidate.number).order_by("-number").first()
    both = [code for code in GAMES if candidate.plays(code) and (earlier is None or earlier.plays(code))]
    return {"candidate": candidate, "baseline": earlier, "ladder": next(iter(both), None)}


def _add_error(form: VersionTestForm, refused: TournamentError) -> None:
    """Show the service's message beside the field that it names; otherwise above the form."""
    field, _, sentence = str(refused).partition(": ")
    name = FIELDS.get(field, field.replace(" ", "_"))
    form.add_error(name if name in form.fields else None, as_sentence(sentence))
