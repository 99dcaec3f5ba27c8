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
from tournament.formats import PARAMETERS
from tournament.forms import ControlForm, EnterForm, TournamentForm
from tournament.models import Bot, BotVersion, Matchmaking, Tournament
from tournament.sentences import as_sentence
from tournament.services.accounts.acts import record_act
from tournament.services.schedule import entries
from tournament.services.schedule import tournaments as services
from tournament.services.schedule.entries import successors
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
        return _handle(request, form, lambda: services.create(request.user, _terms(form)))
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
        return services.create(request.user, replace(_terms(form), ply_limit=liked.ply_limit))

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
        terms = replace(_terms(form), ply_limit=stored.ply_limit)
        return replace(terms, versions=stored.versions) if has_entries else terms

    def change() -> Tournament:
        services.change(tournament, edit)
        if tournament.owner_id != request.user.pk:
            record_act(request.user, "changed it", f"tournament {tournament}", tournament.get_absolute_url())
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
    return _run_own(
        request,
        slug,
        lambda t: services.remove(t, bot),
        f"{bot.name} is no longer entered.",
        f"removed the bot {bot}",
    )


def _estimates(form: TournamentForm) -> dict[str, Any]:
    """What the form says before it is stored: which games are rated and why others are not, and the cost.

    Nothing if the form is not valid, and no cost if its entries are still open.
    """
    if not form.is_valid():
        return {}
    terms = _terms(form)
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
    entering = BotVersion.objects.entering().filter(bot__in=[own, opponent]).order_by("number")
    playing = {version.bot_id: version for version in entering}  # the newest of each
    try:
        if len(playing) < 2:
            raise TournamentError("an active version of both bots is needed")
        match = services.start_match(request.user, playing[own.pk], playing[opponent.pk])
    except TournamentError as refused:
        messages.error(request, as_sentence(str(refused)))
        return redirect(opponent)
    messages.success(request, "The match has begun. A notice will tell you its result.")
    return redirect(match)


@takes_form
def tournament_start(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Start a draft or an announced tournament."""
    return _run_own(request, slug, services.start, "The tournament is started.", "started it")


@takes_form
def tournament_announce(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show the tournament to everybody until it starts at its time."""
    return _run_own(request, slug, services.announce, "The tournament is announced.", "announced it")


@takes_form
def tournament_pause(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Start no more games for now."""
    return _run_own(
        request,
        slug,
        services.pause,
        "The tournament is paused. Games under way are stopped and played again later.",
        "paused it",
    )


@takes_form
def tournament_resume(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    return _run_own(request, slug, services.resume, "The tournament continues.", "resumed it")


@takes_form
def tournament_cancel(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Play no more games; recorded games are kept."""
    done = "The tournament is cancelled. The recorded games are kept."
    return _run_own(request, slug, services.cancel, done, "cancelled it")


@takes_form
def tournament_continue(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Play on what was cancelled."""
    return _run_own(request, slug, services.continue_cancelled, "The tournament continues.", "continued it")


@takes_form
def tournament_extend(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Add pairs of games, or rounds to a Swiss."""
    form = ControlForm(request.POST)
    chosen = form.cleaned_data if form.is_valid() else {}
    more, shown = chosen.get("more"), chosen.get("shown")
    return _run_own(
        request,
        slug,
        lambda t: services.extend(t, more or 0, shown=shown),
        "The tournament is extended.",
        f"extended it by {more}",
    )


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
    return _run_own(
        request,
        slug,
        lambda t: services.set_priority(t, priority),
        f"The priority is now {priority}.",
        f"set the priority to {priority}",
        is_for_staff=True,
    )


@takes_form
def tournament_enter(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Enter one of the user's bots."""
    tournament = find_tournament(request, slug)
    form = EnterForm(request.POST, user=request.user)
    if not form.is_valid():
        messages.error(request, "Choose one of your bots.")
        return redirect(tournament)
    bot = form.cleaned_data["bot"]
    deed = f"entered the bot {bot}" if bot.owner_id != request.user.pk else ""
    return _run(
        request, tournament, lambda t: entries.enter(t, bot, request.user), f"{bot.name} is entered.", deed
    )


@takes_form
def tournament_leave(request: AuthenticatedRequest, slug: str, bot_slug: str) -> HttpResponse:
    """Withdraw one of the user's bots."""
    tournament = find_tournament(request, slug)
    bot = get_object_or_404(Bot, slug=bot_slug)
    if not access.may_edit_bot(request.user, bot):
        raise Http404(f"no bot {bot_slug!r} of this user")
    deed = f"withdrew the bot {bot}" if bot.owner_id != request.user.pk else ""
    return _run(
        request, tournament, lambda t: entries.leave(t, bot), f"{bot.name} is no longer entered.", deed
    )


def _find_own(request: HttpRequest, slug: str) -> Tournament:
    tournament = find_tournament(request, slug)
    if not access.may_edit_tournament(request.user, tournament):
        raise Http404(f"no tournament {slug!r} of this user")
    return tournament


def _run_own(
    request: AuthenticatedRequest,
    slug: str,
    action: Callable[[Tournament], object],
    done: str,
    deed: str,
    *,
    is_for_staff: bool = False,
) -> HttpResponse:
    """Run an action of the organizer; ``deed`` is logged if staff does it in the organizer's place."""
    tournament = _find_own(request, slug)
    by_staff = is_for_staff or tournament.owner_id != request.user.pk
    return _run(request, tournament, action, done, deed if by_staff else "")


def _run(
    request: AuthenticatedRequest,
    tournament: Tournament,
    action: Callable[[Tournament], object],
    done: str,
    deed: str = "",
) -> HttpResponse:
    """Run the action and redirect to the tournament with the message ``done``, or with the error.

    A ``deed`` is an act of staff and logged.
    """
    try:
        action(tournament)
    except TournamentError as refused:
        messages.error(request, as_sentence(str(refused).partition(": ")[2]))
    else:
        if deed:
            record_act(request.user, deed, f"tournament {tournament}", tournament.get_absolute_url())
        messages.success(request, done)
    return redirect(tournament)


def _terms(form: TournamentForm) -> TournamentTerms:
    data = form.cleaned_data
    return TournamentTerms(
        kind=data["kind"],
        name=data["name"],
        versions=data["versions"],
        ladders=data["ladders"],
        pairs=data["pairs"],
        time_control=data["time_control"],
        seed=data["seed"],
        opening_plies=data["opening_plies"],
        book=data["book"],
        rated=data["rated"],
        rated_off_terms=data.get("rated_off_terms", False),
        own_workers=data["own_workers"],
        starts_at=data["starts_at"],
        entry_until=data["entry_until"],
        **{name: data[name] for name in PARAMETERS},
    )


def _add_error(form: TournamentForm, refused: TournamentError) -> None:
    """Show the service's message beside the field that it names first; otherwise above the form."""
    field, _, sentence = str(refused).partition(": ")
    name = field.replace(" ", "_")
    if name in form.fields and sentence:
        form.add_error(name, as_sentence(sentence))
    else:
        form.add_error(None, as_sentence(str(refused)))
