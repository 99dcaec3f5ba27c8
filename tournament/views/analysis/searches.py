"""What bots say of positions when people ask them: of one on the analysis board, or of all of a game."""

from __future__ import annotations

import hashlib
import json
import uuid

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.records import MoveTree
from engines.rules.registry import find_game
from tournament.models import BotSearch, Game
from tournament.queues import search_topic
from tournament.services.searches.asking import SearchRefused, request_analysis, request_position
from tournament.services.work.analyses import evaluations, positions_of
from tournament.views.analysis.board import draw_line, find_ladder, show_page
from tournament.views.analysis.choosing import chosen_time, chosen_version
from tournament.views.analysis.trees import BadLine, Line, analysis_query, read_tree, show_tree
from tournament.views.downloads import TEXT_TYPE
from tournament.views.games.analysis import analysis_context, find_analysis
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.logged_in import takes_form_of_anybody
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import takes_get_and_post

PAUSE_SECONDS = 0.3
"""The shortest time between two events of a search."""


@takes_form_of_anybody
def search_request(request: HttpRequest, code: str) -> HttpResponse:
    """Have a bot search the position that the form of the analysis board shows."""
    game = find_ladder(code)
    shown = show_tree(game, "", MoveTree())
    try:
        shown = read_tree(request.POST, game)
        search = request_position(
            code,
            chosen_version(request, code),
            shown.line.positions,
            shown.line.moves,
            chosen_time(request, "seconds"),
            user=request.user if request.user.is_authenticated else None,
            address=get_adapter().get_client_ip(request),
            now=timezone.now(),
        )
    except (BadLine, SearchRefused) as refused:
        if is_part(request):
            return HttpResponse(str(refused), status=400, content_type=TEXT_TYPE)
        return show_page(request, shown, None, trouble=str(refused), status=400)
    return redirect(search)


@require_safe
@vary_on_headers(PART)
def search(request: HttpRequest, pk: str) -> HttpResponse:
    """A search, alone on a page; a script gets its part of the analysis board."""
    shown = get_object_or_404(BotSearch.objects.select_related("version__bot", "ladder", "job"), pk=pk)
    state = json.dumps([shown.found, shown.why, shown.ended_at is None, shown.is_held])
    topics = () if shown.ended_at else (search_topic(shown.pk),)
    part = LivePart(request, hashlib.sha256(state.encode()).hexdigest()[:12], topics, PAUSE_SECONDS)
    if part.is_shown:
        return part.unchanged()
    positions, game = positions_of(shown), find_game(shown.ladder_id)
    line = Line(game, tuple(shown.moves.split()), tuple(positions))
    context = {
        "search": shown,
        "game": game,
        "evaluated": evaluations(shown, positions),
        "query": analysis_query(shown.start, line.moves, line.positions, len(line.moves)),
        "spoken": svg.summarize(line.position, line.moves[-1] if line.moves else ""),
        "position": line.position,
    }
    if is_part(request):
        return part.render("analysis/pieces/search.html", context)
    return part.render("analysis/search.html", {**context, "board": draw_line(line)})


@takes_get_and_post
def game_analysis(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of a game's page requests an analysis."""
    game = find_game_for(request, pk)
    replay, _, recorded = load_replay(game)
    if request.method != "POST":
        return redirect(_panel(game))
    if not recorded:
        raise Http404(f"game {game.pk} is not recorded")
    try:
        asked = request_analysis(
            game,
            chosen_version(request, game.ladder_id),
            replay.positions,
            [move.token for move in replay.moves],
            chosen_time(request, "ms"),
            user=request.user if request.user.is_authenticated else None,
            now=timezone.now(),
        )
    except SearchRefused as refused:
        if is_part(request):
            return HttpResponse(str(refused), status=400, content_type=TEXT_TYPE)
        messages.error(request, str(refused))
        return redirect(_panel(game))
    return redirect("game-analysis-state", pk, asked.pk)


@require_safe
@vary_on_headers(PART)
def game_analysis_state(request: HttpRequest, pk: int, key: uuid.UUID) -> HttpResponse:
    """How far a requested analysis is, for the script of the game's page; at its end also what it found."""
    game = find_game_for(request, pk)
    if not is_part(request):
        return redirect(_panel(game))
    asked = get_object_or_404(game.searches.select_related("version__bot"), pk=key)
    state = f"{asked.done}-{asked.why}-{asked.ended_at is None}-{asked.is_held}"
    part = LivePart(request, state, () if asked.ended_at else (search_topic(asked.pk),))
    if part.is_shown:
        return part.unchanged()
    replay, *_ = load_replay(game)
    shown = find_analysis(game, request.user)
    context = {"game": game, "asked": asked, **analysis_context(game, shown, replay)}
    context["sent"] = context["found"] if asked.ended_at else None
    return part.render("pieces/game_analysis.html", context)


def _panel(game: Game) -> str:
    return f"{game.get_absolute_url()}#computer"
