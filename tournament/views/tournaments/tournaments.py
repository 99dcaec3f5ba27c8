"""The list of tournaments, and the page of one with its tables and games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.base import Result
from engines.rules.registry import GAMES
from tournament import access
from tournament.formats import kinds
from tournament.formats.base import MAX_ROUNDS, StandingsTable, Winners
from tournament.forms import ControlForm, EnterForm
from tournament.models import Bot, BotVersion, Correction, Game, Seat, Tournament
from tournament.models.games import Drawn, Forfeited, GameQuerySet
from tournament.queues import tournament_topic
from tournament.sentences import isolated
from tournament.services.evidence.tournaments import has_evidence
from tournament.services.schedule import tournaments as services
from tournament.services.schedule.own_ratings import rated_tables
from tournament.services.schedule.terms import find_off_terms
from tournament.views.downloads import TEXT_TYPE, attached
from tournament.views.exports import table_links
from tournament.views.feeds import feed_link
from tournament.views.games.record_files import served_records, tournament_file
from tournament.views.links import FilterChoice, games_address
from tournament.views.paging import LAST_ID, Page, by_finish, by_id, whole_number
from tournament.views.polling import PART, LivePart, given_parameters, is_part, reload, shows_other
from tournament.views.requests import fresh_buttons
from tournament.views.sorting import read_sorting
from tournament.views.tournaments.costs import Cost, cost_of, describe_progress
from tournament.views.tournaments.lists import SORTED, listed_page
from tournament.views.tournaments.standings import CROSS_SORTED, crosses

PAGE_SIZE = 50
GAMES_A_PAGE = 50
MANY_GAMES = 20_000
"""The most games of a tournament that its page reads to find those of one bot."""
MAX_CROSSED = 40
"""Most bots for which all meetings are shown by default; with 200 bots the page has 3 MB."""
WAITING, CLAIMED, DONE, HALTED = Game.State.WAITING, Game.State.CLAIMED, Game.State.DONE, Game.State.HALTED
FILTERS = {
    "white": ("White won", [DONE], Q(result=Result.WHITE_WINS)),
    "black": ("Black won", [DONE], Q(result=Result.BLACK_WINS)),
    "draw": ("drawn", [DONE], Q(Drawn())),
    "forfeit": ("forfeited", [DONE], Q(Forfeited())),
    "all": ("all", list(Game.State), Q()),
    "open": ("not yet played", [WAITING, CLAIMED], Q()),
    "halted": ("given up", [HALTED], Q()),
}
"""Values of ``?result=``: the label, the states of the games, and a further condition."""
BEGUN = [CLAIMED, DONE, HALTED]


PLAYER = ("number", "games", "state", "bot__name", "bot__slug", "bot__owner")
"""Columns of a version that the page shows; a ladder has hundreds."""
SHOWN_BY = ("ladder", "bot", "result", "before", "after", "round", "sort")
"""The parameters that decide about the part that follows."""
State, Effect = Tournament.State, Correction.Effect


@require_safe
def tournaments(request: HttpRequest) -> HttpResponse:
    """All tournaments this user may see, newest first."""
    rows = access.visible_tournaments(request.user).filter(~Q(kind__in=kinds(lambda one: one.is_endless)))
    sorting = read_sorting(request, SORTED)
    context = {
        "page": listed_page(request, rows, PAGE_SIZE, sorting),
        "sorting": sorting,
        "files": [table_links("Tournaments", "tournaments-files")],
    }
    return render(request, "tournaments/tournaments.html", context)


@require_safe
@fresh_buttons
@vary_on_headers(PART)
def tournament(request: HttpRequest, slug: str) -> HttpResponse:
    """Progress, tables and games; the games are filtered by ``ladder``, ``bot`` and ``result``.

    ``?round=n`` shows that round of a Swiss instead of the latest. With more than ``MAX_CROSSED`` bots the
    meetings are shown only with ``?table=full``; such a page does not follow. A script gets the part
    that changes during play, or 204. A version test has a page of its own. The address of a draft still
    leads to the tournament once it is started.
    """
    tournament = find_tournament(request, slug)
    if tournament.format.is_sequential or tournament.slug != slug:
        return redirect(tournament)
    seen = _seen(tournament)
    is_full = request.GET.get("table") == "full" and len(players_of(tournament)) > MAX_CROSSED
    polls = not (tournament.is_over or tournament.state == State.DRAFT or is_full)
    topics = (tournament_topic(tournament.pk),) if polls else ()
    part = LivePart(request, seen, topics, parameters=given_parameters(request, *SHOWN_BY))
    if part.is_shown:
        return part.unchanged()
    if shows_other(request, tournament.state):
        return reload()
    versions = players_of(tournament)
    context = _live_context(request, tournament, versions, is_full=is_full)
    context["latest"] = tournament.games.latest_result() if polls else None
    if is_part(request):
        return part.render("tournaments/pieces/tournament_live.html", context)
    context |= _terms_context(request, tournament, [version.bot for version in versions])
    return part.render("tournaments/tournament.html", context)


def _live_context(
    request: HttpRequest, tournament: Tournament, versions: Sequence[BotVersion], *, is_full: bool
) -> dict[str, Any]:
    """What changes during play."""
    filters, page = _filtered(request, tournament)
    is_large = len(versions) > MAX_CROSSED
    tables = [] if tournament.format.is_endless else rated_tables(tournament, versions)
    return {
        "tournament": tournament,
        "progress": describe_progress(tournament),
        "winners": list(_winners(tournament, tables)),
        "is_large": is_large and tournament.format.has_cycles,
        "is_full": is_full,
        "ladders": [GAMES[code] for code in tournament.ladders if code in GAMES],
        "bots": [FilterChoice(version.pk, isolated(version)) for version in versions],
        "crosses": crosses(
            tournament,
            tables,
            read_sorting(request, CROSS_SORTED),
            with_meetings=is_full or not is_large,
            round_number=whole_number(request, "round", 0, most=MAX_ROUNDS),
        ),
        "all_games": games_address(tournament=tournament.slug),
        "filters": filters,
        "nothing": "No games match." if any(filters.values()) else "",
        "results": [(value, label) for value, (label, *_) in FILTERS.items()],
        "page": page,
    }


def _terms_context(request: HttpRequest, tournament: Tournament, bots: list[Bot]) -> dict[str, Any]:
    """How it is played, and what the user may do with it."""
    if tournament.state in {State.DRAFT, State.ANNOUNCED}:
        tournament.off_terms = find_off_terms(tournament)  # the ladders' terms may have changed
    context = {
        **_controls(request, tournament, bots),
        "meetings": tournament.format.describe_meetings(tournament),
        "rated": tournament.format.describe_rated(bots, tournament),
        "openings": tournament.format.describe_openings(tournament),
        "annulled": count_annulled(tournament),
        "has_evidence": tournament.is_over and has_evidence(tournament),
    }
    if access.may_see_tournament(access.PUBLIC, tournament) and not tournament.format.is_endless:
        context["feed"] = feed_link(tournament, request.user)
    return context


def _winners(
    tournament: Tournament, tables: Sequence[StandingsTable]
) -> Iterator[tuple[str, Winners, list[BotVersion]]]:
    """Whom the page of a finished tournament names, with the name of each ladder."""
    if tournament.state == State.FINISHED and tournament.format.has_places:
        for table in tables:
            won = tournament.format.winners(table) if table.crosstable.games else None
            if won is not None and table.ladder in GAMES:
                yield GAMES[table.ladder].name, won, [table.versions[player] for player in won.players]


def _seen(tournament: Tournament) -> str:
    """Changes with the games and with the stored ratings, which may lag behind them."""
    shown = [tournament.state, tournament.games_done, tournament.games_total, tournament.revision]
    if tournament.games_to_make:
        shown.append(f"{tournament.games_to_make}-unmade")
    if stored := getattr(tournament, "own_ratings", None):
        shown.append(f"{stored.games_done}-{stored.revision}-rated")
    return "-".join(map(str, shown))


def count_annulled(tournament: Tournament) -> int:
    """How many of its games are annulled; a query only if some were."""
    return tournament.games.filter(correction__effect=Effect.ANNULLED).count() if tournament.revision else 0


def players_of(tournament: Tournament) -> list[BotVersion]:
    """The versions that take part, in the order of the tables; for a ladder, those active on it."""
    if tournament.format.is_endless:
        active = BotVersion.objects.valid().filter(
            activities__ladder__in=tournament.ladders, activities__enabled=True
        )
        return list(active.select_related("bot").only(*PLAYER).order_by("bot__name_key"))
    entries = tournament.entries.select_related("version__bot")
    columns = (f"version__{name}" for name in PLAYER)
    return [entry.version for entry in entries.only("tournament", *columns).order_by("number")]


def _controls(request: HttpRequest, tournament: Tournament, entered: list[Bot]) -> dict[str, Any]:
    """The buttons and forms that the page offers this user."""
    user = request.user
    controls: dict[str, Any] = {"takes_entries": tournament.takes_entries()}
    if tournament.takes_entries() and user.is_authenticated:
        controls["own_entries"] = [bot for bot in entered if access.may_edit_bot(user, bot)]
        form = EnterForm(user=user, without=[bot.pk for bot in entered])
        controls["enter_form"] = form if form.fields["bot"].queryset else None  # type: ignore[attr-defined]
    if not access.may_edit_tournament(user, tournament):
        return controls
    waits = tournament.state in {State.DRAFT, State.ANNOUNCED}
    alive = tournament.state in {State.RUNNING, State.PAUSED}
    began = alive or tournament.state in {State.FINISHED, State.HALTED}
    is_timed = tournament.starts_at is not None or tournament.entry_until is not None
    announces = tournament.state == State.DRAFT and is_timed
    controls |= {
        "starts": waits,
        "changes": waits and tournament.format.choice,
        "removable": entered[tournament.format.has_challenger :] if waits else [],
        "start_button": "Start now" if announces or tournament.state == State.ANNOUNCED else "Start",
        "announces": announces,
        "pauses": tournament.state == State.RUNNING,
        "resumes": tournament.state == State.PAUSED,
        "cancels": not (tournament.is_over or tournament.format.is_endless),
        "cancel_says": _cancel_says(tournament),
        "continues": services.may_continue(tournament, timezone.now()),
        "extends": began and tournament.format.extends,
        "prioritizes": access.may_set_priority(user) and not tournament.is_over,
        "control_form": ControlForm(
            initial={
                "priority": tournament.priority,
                "more": 1,
                "shown": getattr(tournament, tournament.format.extends or "pairs"),
            }
        ),
    }
    if waits and entered:
        cost: Cost = cost_of(tournament, [entry.version for entry in tournament.entries.all()])
        controls["estimate"] = cost
    return controls


def _cancel_says(tournament: Tournament) -> str:
    """What follows if it is cancelled now."""
    if tournament.state == State.DRAFT:
        return "The draft can then not be started any more. Nobody else has seen it."
    if tournament.state == State.ANNOUNCED:
        return "Everybody sees that it is cancelled. It cannot be started any more."
    return (
        "No more games are played, and those under way are stopped. Recorded games are kept. For "
        f"{services.CONTINUES.days * 24} hours you can continue it."
    )


@require_safe
def tournament_records(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All recorded games of a tournament, in the order of its schedule."""
    tournament = find_tournament(request, slug)
    return served_records(request, lambda: tournament_file(tournament), f"{slug}.pgn")


@require_safe
def tournament_book(request: HttpRequest, slug: str) -> HttpResponse:
    """The openings of a tournament that has its own, as a book for the match runner."""
    tournament = find_tournament(request, slug)
    if not tournament.book:
        raise Http404(f"tournament {slug!r} has no book")
    lines = [line for code, openings in tournament.book.items() for line in (f"[{code}]", *openings)]
    return attached("".join(f"{line}\n" for line in lines), f"{slug}-book.txt", TEXT_TYPE)


def find_tournament(request: HttpRequest, slug: str) -> Tournament:
    """The tournament with this slug, now or as a draft, if it exists and this user may see it."""
    known = Tournament.objects.select_related("owner", "own_ratings")
    published = known.exclude(draft_slug="")
    tournament = known.filter(slug=slug).first() or get_object_or_404(published, draft_slug=slug)
    if not access.may_see_tournament(request.user, tournament):
        raise Http404(f"no tournament {slug!r}")
    return tournament


def _filtered(request: HttpRequest, tournament: Tournament) -> tuple[dict[str, Any], Page]:
    """The requested filters, and the page of games. An unknown value of a filter selects no games."""
    ladder, result = request.GET.get("ladder", ""), request.GET.get("result", "")
    bot = whole_number(request, "bot", 0, most=LAST_ID)
    usual = "all" if tournament.state == Tournament.State.DRAFT else ""
    _, states, condition = FILTERS.get(result or usual, ("", [] if result else BEGUN, Q()))
    games = Game.objects.filter(condition)
    if ladder:
        games = games.filter(ladder=ladder) if ladder in GAMES else games.none()
    if bot and tournament.games_done > MANY_GAMES and DONE in states and set(states) <= set(BEGUN):
        page = _page_of_bot(request, tournament, games, bot, [state for state in states if state != DONE])
    else:
        shown = games.filter(tournament=tournament)
        if bot:
            shown = shown.filter(Q(white=bot) | Q(black=bot))
        # The index orders the games of each state by id, but not the games of all states.
        parts = [shown.filter(state=state) for state in states]
        page = by_id(request, shown.filter(state__in=states).listed(), GAMES_A_PAGE, parts)
    return {"ladder": ladder, "bot": bot, "result": result}, page


def _page_of_bot(
    request: HttpRequest, tournament: Tournament, games: GameQuerySet, bot: int, others: list[Game.State]
) -> Page:
    """The few games that a version has of very many, by their ends; before them those in ``others``."""
    of_filters = Exists(games.filter(pk=OuterRef("game")))
    seats = Seat.objects.filter(of_filters, version=bot, tournament=tournament)
    page = by_finish(request, seats, GAMES_A_PAGE)
    if page.previous or not others:
        return page
    is_player = Q(white=bot) | Q(black=bot)
    begun = games.filter(is_player, tournament=tournament, state__in=others).listed().order_by("-pk")
    return replace(page, rows=[*begun[:GAMES_A_PAGE], *page.rows])
