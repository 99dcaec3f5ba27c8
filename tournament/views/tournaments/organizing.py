"""The forms of organizers, and those of owners who enter their bots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES
from tournament import access
from tournament.forms import ControlForm, EnterForm, TournamentForm
from tournament.models import Bot, BotVersion, Matchmaking, Tournament
from tournament.sentences import as_sentence
from tournament.services.schedule import changing
from tournament.services.schedule import tournaments as services
from tournament.services.schedule.entries import successors
from tournament.services.schedule.organizing import (
    CONTROLS,
    Control,
    challenge,
    enter_bot,
    log_act,
    run_control,
    withdraw_bot,
)
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.terms import find_off_terms, stored_terms
from tournament.services.schedule.tournaments import TournamentError, TournamentTerms
from tournament.views.bots.bots import find_bot
from tournament.views.logged_in import login_required, takes_form
from tournament.views.polling import PART, is_part
from tournament.views.requests import AuthenticatedRequest
from tournament.views.tournaments.costs import cost_of
from tournament.views.tournaments.tournaments import find_tournament


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@vary_on_headers(PART)
def tournament_new(request: AuthenticatedRequest) -> HttpResponse:
    """Create a draft; a script gets the estimate for the tournament in the form.

    With ``?like=`` and a slug the form is filled as that tournament was, with other openings and no times.
    """
    data = request.POST if request.method == "POST" else None
    if "like" not in request.GET:
        form = TournamentForm(data, user=request.user, organizer=request.user)
        return _handle(request, form, lambda: services.create(request.user, form.terms))
    if not (slug := request.GET["like"]).isprintable():
        raise Http404("no slug has invisible characters")
    liked = find_tournament(request, slug)
    if not liked.format.choice:
        raise Http404(f"a {liked.format.label} is not made with this form")
    versions, gone = successors(entered_versions(liked), request.user)
    terms = replace(stored_terms(liked, versions), starts_at=None, entry_until=None)
    form = TournamentForm(data, terms, user=request.user, organizer=request.user)
    form.initial["seed"] = None
    if liked.format.has_challenger and entered_versions(liked)[0] in gone:
        form.initial["challenger"] = None

    def store() -> Tournament:
        return services.create(request.user, replace(form.terms, ply_limit=liked.ply_limit))

    return _handle(request, form, store, gone=gone)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@vary_on_headers(PART)
def tournament_change(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Change a draft or an announced tournament, with the form of a new one."""
    tournament = _find_own(request, slug)
    is_announced = tournament.state == Tournament.State.ANNOUNCED
    if not (is_announced or tournament.state == Tournament.State.DRAFT) or not tournament.format.choice:
        messages.error(request, "Only before its start can a tournament be changed.")
        return redirect(tournament)
    versions = entered_versions(tournament)
    entered = [one for one in versions if one.state == BotVersion.State.VALID]
    has_entries = is_announced and tournament.entry_until is not None
    form = TournamentForm(
        request.POST if request.method == "POST" else None,
        stored_terms(tournament, entered),
        user=request.user,
        organizer=tournament.owner,
        has_entries=has_entries,
    )
    form.fields["entry_until"].disabled = tournament.entry_closed
    if tournament.format.has_challenger and versions[0] not in entered:
        form.fields.pop("challenger", None)  # it stays, and cannot be chosen

    def edit(stored: TournamentTerms) -> TournamentTerms:
        terms = replace(form.terms, ply_limit=stored.ply_limit)
        return replace(terms, versions=stored.versions) if has_entries else terms

    def change() -> Tournament:
        changing.change(tournament, edit)
        if tournament.owner_id != request.user.pk:
            log_act(request.user, tournament, "changed it")
        messages.success(request, "The tournament is changed.")
        return tournament

    return _handle(request, form, change, tournament)


def _handle(
    request: AuthenticatedRequest,
    form: TournamentForm,
    store: Callable[[], Tournament],
    tournament: Tournament | None = None,
    gone: Sequence[BotVersion] = (),
) -> HttpResponse:
    """Store what is in a valid form and redirect to the tournament; otherwise show the form again.

    The form says of the bots of the versions in ``gone`` that they cannot be chosen.
    """
    if is_part(request):
        return render(request, "tournaments/pieces/estimate.html", _estimates(form))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(store())
        except TournamentError as refused:
            _add_error(form, refused)
    context = {"form": form, "tournament": tournament, "gone": gone} | _estimates(form)
    return render(request, "tournaments/tournament_new.html", context)


@takes_form
def tournament_remove(request: AuthenticatedRequest, slug: str, bot_slug: str) -> HttpResponse:
    """Remove an entry before the start."""
    bot = get_object_or_404(Bot, slug=bot_slug)
    removal = Control(
        lambda t: changing.remove(t, bot), f"{bot.name} is no longer entered.", f"removed the bot {bot}"
    )
    return _run_own(request, slug, removal)


def _estimates(form: TournamentForm) -> dict[str, Any]:
    """What the form says before it is stored: which games are rated and why others are not, and the cost.

    Nothing if the form is not valid, and no cost if its entries are still open.
    """
    if not form.is_valid():
        return {}
    terms = form.terms
    off_terms = find_off_terms(terms)
    event = Tournament(
        rated=terms.rated, rated_off_terms=terms.rated_off_terms, ladders=terms.ladders, off_terms=off_terms
    )
    said = {
        "rated": terms.format.describe_rated([one.bot for one in terms.versions], event),
        "terms": [(GAMES[row.pk].name, row.terms) for row in Matchmaking.objects.of_ladders(off_terms)],
    }
    return said if terms.entry_until else said | {"estimate": cost_of(terms, terms.versions)}


@takes_form
def match_start(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Start a short match of the user's bot ``bot`` against this one; its result comes as a notice."""
    opponent = find_bot(request, slug)
    mine = {bot.slug: bot for bot in access.enterable_bots(request.user)}
    own = mine.get(request.POST.get("bot", ""))
    if own is None:
        raise Http404("no bot of the user that may play")
    try:
        match = challenge(request.user, own, opponent)
    except TournamentError as refused:
        messages.error(request, as_sentence(str(refused).partition(": ")[2]))
        return redirect(opponent)
    messages.success(request, "The match has begun. A notice will tell you its result.")
    return redirect(match)


def _button(name: str) -> Callable[..., HttpResponse]:
    """The view of an organizer's button."""

    @takes_form
    def press(request: AuthenticatedRequest, slug: str) -> HttpResponse:
        return _run_own(request, slug, CONTROLS[name])

    return press


tournament_start = _button("start")
tournament_announce = _button("announce")
tournament_pause = _button("pause")
tournament_resume = _button("resume")
tournament_cancel = _button("cancel")
tournament_continue = _button("continue")


@takes_form
def tournament_extend(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Add pairs of games, or rounds to a Swiss."""
    form = ControlForm(request.POST)
    chosen = form.cleaned_data if form.is_valid() else {}
    more, shown = chosen.get("more"), chosen.get("shown")
    extension = Control(
        lambda t: services.extend(t, more or 0, shown=shown),
        "The tournament is extended.",
        f"extended it by {more}",
    )
    return _run_own(request, slug, extension)


@takes_form
def tournament_priority(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Set the priority; only for staff."""
    if not access.may_set_priority(request.user):
        raise Http404("priorities are for staff")
    form = ControlForm(request.POST)
    priority = form.cleaned_data.get("priority") if form.is_valid() else None
    if priority is None:
        messages.error(request, "The priority must be a whole number.")
        return redirect(_find_own(request, slug))
    setting = Control(
        lambda t: services.set_priority(t, priority),
        f"The priority is now {priority}.",
        f"set the priority to {priority}",
    )
    return _run_own(request, slug, setting, is_for_staff=True)


@takes_form
def tournament_enter(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Enter one of the user's bots."""
    tournament = find_tournament(request, slug)
    form = EnterForm(request.POST, user=request.user)
    if not form.is_valid():
        messages.error(request, "Choose one of your bots.")
        return redirect(tournament)
    bot = form.cleaned_data["bot"]
    return _run(
        request, tournament, lambda: enter_bot(request.user, tournament, bot), f"{bot.name} is entered."
    )


@takes_form
def tournament_leave(request: AuthenticatedRequest, slug: str, bot_slug: str) -> HttpResponse:
    """Withdraw one of the user's bots."""
    tournament = find_tournament(request, slug)
    bot = get_object_or_404(Bot, slug=bot_slug)
    if not access.may_edit_bot(request.user, bot):
        raise Http404(f"no bot {bot_slug!r} of this user")
    done = f"{bot.name} is no longer entered."
    return _run(request, tournament, lambda: withdraw_bot(request.user, tournament, bot), done)


def _find_own(request: HttpRequest, slug: str) -> Tournament:
    tournament = find_tournament(request, slug)
    if not access.may_edit_tournament(request.user, tournament):
        raise Http404(f"no tournament {slug!r} of this user")
    return tournament


def _run_own(
    request: AuthenticatedRequest, slug: str, control: Control, *, is_for_staff: bool = False
) -> HttpResponse:
    """Run an action of the organizer."""
    tournament = _find_own(request, slug)

    def act() -> None:
        run_control(request.user, tournament, control, is_for_staff=is_for_staff)

    return _run(request, tournament, act, control.done)


def _run(
    request: AuthenticatedRequest, tournament: Tournament, action: Callable[[], object], done: str
) -> HttpResponse:
    """Run the action and redirect to the tournament with the message ``done``, or with the error."""
    try:
        action()
    except TournamentError as refused:
        messages.error(request, as_sentence(str(refused).partition(": ")[2]))
    else:
        messages.success(request, done)
    return redirect(tournament)


def _add_error(form: TournamentForm, refused: TournamentError) -> None:
    """Show the service's message beside the field that it names first; otherwise above the form."""
    field, _, sentence = str(refused).partition(": ")
    name = field.replace(" ", "_")
    if name in form.fields and sentence:
        form.add_error(name, as_sentence(sentence))
    else:
        form.add_error(None, as_sentence(str(refused)))
