"""Tournaments: the list, one with its crosstables and games, a new one, start and cancel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.base import Result
from engines.rules.registry import GAMES
from tournament import access
from tournament.forms import TournamentForm, as_sentence, isolated
from tournament.models import BotVersion, Entry, Game, GameRecord, Tournament
from tournament.models.games import GameQuerySet
from tournament.services.durations import count_games, estimate_seconds
from tournament.services.ratings import tournament_table
from tournament.services.tournaments import TournamentError, cancel, create_round_robin, start
from tournament.standings import Crosstable, Score, Tally, crosstable
from tournament.views.downloads import streamed_records
from tournament.views.paging import LAST_ID, by_id, whole_number
from tournament.views.polling import here, unchanged
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 50
GAMES_A_PAGE = 50
MOST_FOLDED = 10_000
"""Games of a tournament whose ratings are computed while its page is asked for."""
MOST_CROSSED = 40
"""Bots whose meetings are shown unasked; those of 200 are a page of 3 MB."""
FORFEITS = Q(fault__in=["white", "black"])
FILTERS = {
    "white": ("White won", Q(result=Result.WHITE_WINS)),
    "black": ("Black won", Q(result=Result.BLACK_WINS)),
    "draw": ("drawn", Q(result=Result.DRAW)),
    "forfeit": ("forfeited", FORFEITS),
    "all": ("all", Q()),
    "open": ("not yet played", Q(state__in=[Game.State.WAITING, Game.State.CLAIMED])),
    "halted": ("given up", Q(state=Game.State.HALTED)),
}
"""What ``?result=`` may be, in words and as a condition."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One player against another; ``tone`` is the class that colours it."""

    points: str
    games: int
    tone: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a menu."""

    value: int
    name: str


@dataclass(frozen=True, slots=True)
class CrossRow:
    """One line of a crosstable; the cell against oneself is None."""

    version: BotVersion
    points: str
    score: Score
    performance: int | None
    rating: float | None
    cells: list[Cell | None]

    @property
    def name(self) -> str:
        return isolated(self.version)


@dataclass(frozen=True, slots=True)
class Cross:
    """A ladder's crosstable; without its meetings only the standings are shown."""

    code: str
    name: str
    rows: list[CrossRow]
    with_meetings: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament would cost; ``duration`` in words."""

    games: int
    duration: str
    at_once: int


@require_safe
def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments this user may see, newest first."""
    rows = access.visible_tournaments(request.user).select_related("owner")
    return render(request, "tournaments.html", {"page": by_id(request, rows, PAGE_SIZE)})


@require_safe
@vary_on_headers("HX-Request")
def tournament(request: HttpRequest, slug: str) -> HttpResponse:
    """Progress, crosstables and games, the games filtered by ``ladder``, ``bot`` and ``result``.

    A crosstable of very many shows its meetings to ``?table=full`` alone, and then does not follow the
    play. To htmx only what changes while it is played, or 204.
    """
    tournament = _find(request, slug)
    seen = f"{tournament.state}-{tournament.games_done}"
    if unchanged(request, seen):
        return HttpResponse(status=204)
    if "HX-Request" in request.headers and tournament.is_over:
        return HttpResponse(headers={"HX-Refresh": "true"})
    entries = list(tournament.entries.select_related("version__bot").order_by("number"))
    filters, games = _filtered(request, tournament)
    is_large, is_full = len(entries) > MOST_CROSSED, request.GET.get("table") == "full"
    context = {
        "tournament": tournament,
        "is_large": is_large,
        "is_full": is_full,
        "polls": tournament.state == Tournament.State.RUNNING and not (is_large and is_full),
        "here": here(request),
        "seen": seen,
        "ladders": [GAMES[code] for code in tournament.ladders if code in GAMES],
        "bots": [Choice(entry.version_id, isolated(entry.version)) for entry in entries],
        "crosses": _crosses(tournament, entries, with_meetings=is_full or not is_large),
        "filters": filters,
        "results": [(value, words) for value, (words, _) in FILTERS.items()],
        "page": by_id(request, games.with_players().select_related("live"), GAMES_A_PAGE),
    }
    if "HX-Request" in request.headers:
        return render(request, "pieces/tournament_live.html", context)
    manages = access.may_edit_tournament(request.user, tournament)
    context["starts"] = manages and tournament.state == Tournament.State.DRAFT
    context["cancels"] = manages and not tournament.is_over
    if context["starts"]:
        context["estimate"] = _plan_of(tournament, entries)
    return render(request, "tournament.html", context)


@require_safe
def tournament_records(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Every recorded game of a tournament in the order of its schedule."""
    tournament = _find(request, slug)
    return streamed_records(
        GameRecord.objects.filter(game__tournament=tournament).order_by("game"), f"{slug}.pgn"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@vary_on_headers("HX-Request")
def tournament_new(request: AuthenticatedRequest) -> HttpResponse:
    """Make a draft; to htmx, what the tournament in the form would cost."""
    form = TournamentForm(request.POST) if request.method == "POST" else TournamentForm()
    if "HX-Request" in request.headers:
        return render(request, "pieces/estimate.html", {"estimate": _plan(form) if form.is_valid() else None})
    if request.method == "POST" and form.is_valid():
        try:
            draft = _create(request, form)
        except TournamentError as refused:
            _put(form, refused)
        else:
            return redirect(draft)
    plan = _plan(form) if form.is_bound and form.is_valid() else None
    return render(request, "tournament_new.html", {"form": form, "estimate": plan})


@require_POST
@login_required
def tournament_start(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Let a draft be played."""
    tournament = _find_own(request, slug)
    try:
        start(tournament)
    except TournamentError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The tournament is started.")
    return redirect(tournament)


@require_POST
@login_required
def tournament_cancel(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Play no further game; what was recorded stays."""
    tournament = _find_own(request, slug)
    try:
        cancel(tournament)
    except TournamentError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The tournament is cancelled. Games recorded so far stay.")
    return redirect(tournament)


def _find(request: HttpRequest, slug: str) -> Tournament:
    """The tournament, if it exists and this user may see it."""
    tournament = get_object_or_404(Tournament.objects.select_related("owner"), slug=slug)
    if not access.may_see_tournament(request.user, tournament):
        raise Http404(f"no tournament {slug!r}")
    return tournament


def _find_own(request: HttpRequest, slug: str) -> Tournament:
    tournament = _find(request, slug)
    if not access.may_edit_tournament(request.user, tournament):
        raise Http404(f"no tournament {slug!r} of one's own")
    return tournament


def _filtered(request: HttpRequest, tournament: Tournament) -> tuple[dict[str, Any], GameQuerySet]:
    """The filters as asked for and the games they leave; an unknown value leaves none."""
    ladder, result = request.GET.get("ladder", ""), request.GET.get("result", "")
    bot = whole_number(request, "bot", 0, most=LAST_ID)
    games = Game.objects.filter(tournament=tournament)
    if ladder:
        games = games.filter(ladder=ladder) if ladder in GAMES else games.none()
    if not result and tournament.state != Tournament.State.DRAFT:
        games = games.exclude(state__in=[Game.State.WAITING, Game.State.CANCELLED])
    elif result:
        games = games.filter(FILTERS[result][1]) if result in FILTERS else games.none()
    if bot:
        games = games.filter(Q(white=bot) | Q(black=bot))
    return {"ladder": ladder, "bot": bot, "result": result}, games


def _crosses(tournament: Tournament, entries: Sequence[Entry], *, with_meetings: bool) -> list[Cross]:
    """A crosstable for each ladder, from one grouped query, with the tournament's own ratings beside it."""
    versions = {entry.version_id: entry.version for entry in entries}
    tallies: dict[str, list[Tally]] = {}
    grouped = (
        tournament.games.filter(result__isnull=False)
        .order_by()
        .values_list("ladder", "white", "black", "result")
    )
    for ladder, white, black, result, count in grouped.annotate(Count("id")):
        tallies.setdefault(ladder, []).append(Tally(white, black, Result(result), count))
    return [
        _cross(
            code,
            [v for v in versions.values() if v.plays(code)],
            tallies.get(code, []),
            _ratings(tournament, code),
            with_meetings=with_meetings,
        )
        for code in tournament.ladders
        if code in GAMES
    ]


def _ratings(tournament: Tournament, code: str) -> dict[int, float]:
    """mu - 3 sigma over this tournament's games alone, by version; none for a huge one."""
    if tournament.games_total > MOST_FOLDED:
        return {}
    return {pk: standing.rating.conservative for pk, standing in tournament_table(tournament, code).items()}


def _cross(
    code: str,
    versions: Sequence[BotVersion],
    tallies: Iterable[Tally],
    ratings: dict[int, float],
    *,
    with_meetings: bool,
) -> Cross:
    by_id = {version.pk: version for version in versions}
    table: Crosstable = crosstable(list(by_id), tallies)
    order = [row.player for row in table.rows] if with_meetings else []
    rows = [
        CrossRow(
            by_id[row.player],
            format_points(row.score.points),
            row.score,
            row.performance,
            ratings.get(row.player),
            [None if other == row.player else _cell(row.versus.get(other)) for other in order],
        )
        for row in table.rows
    ]
    return Cross(code, GAMES[code].name, rows, with_meetings)


def _cell(score: Score | None) -> Cell:
    if score is None or not score.games:
        return Cell("", 0, "")
    tone = "draw" if score.share == 0.5 else "win" if score.share > 0.5 else "loss"
    return Cell(format_points(score.points), score.games, tone)


def format_points(points: float) -> str:
    """``3``, ``3½``, ``½``."""
    whole, half = divmod(round(points * 2), 2)
    return f"{whole or ''}½" if half else str(whole)


def _put(form: TournamentForm, refused: TournamentError) -> None:
    """Show the service's sentence, which begins with the name of a field, beside that field."""
    field, _, sentence = str(refused).partition(": ")
    name = field.replace(" ", "_")
    if name in form.fields and sentence:
        form.add_error(name, as_sentence(sentence))
    else:
        form.add_error(None, as_sentence(str(refused)))


def _create(request: AuthenticatedRequest, form: TournamentForm) -> Tournament:
    data = form.cleaned_data
    return create_round_robin(
        request.user,
        name=data["name"],
        versions=list(data["bots"]),
        ladders=data["ladders"],
        pairs=data["pairs"],
        time_control=data["time_control"],
        seed=data["seed"],
        opening_plies=data["opening_plies"],
        rated=data["rated"],
    )


def _plan(form: TournamentForm) -> Plan:
    data = form.cleaned_data
    return _cost(list(data["bots"]), data["ladders"], data["pairs"], data["time_control"])


def _plan_of(draft: Tournament, entries: Sequence[Entry]) -> Plan:
    """What it would cost to start a draft."""
    return _cost([entry.version for entry in entries], draft.ladders, draft.pairs, draft.time_control)


def _cost(versions: Sequence[BotVersion], ladders: Sequence[str], pairs: int, time_control: str) -> Plan:
    games = count_games(versions=versions, ladders=ladders, pairs=pairs)
    return Plan(sum(games.values()), format_duration(estimate_seconds(games, time_control)), settings.SLOTS)


def format_duration(seconds: float) -> str:
    """A duration as people say it, two units at most."""
    if seconds < 90:
        return f"{max(2, round(seconds))} seconds"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} minutes"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h"
