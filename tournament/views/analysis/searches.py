"""What bots say of positions when people ask them: of one on the analysis board, or of all of a game."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.protocol import RESIGN
from engines.records import MoveNote, MoveTree, format_score, parse_note
from engines.rules.base import Position, Side
from engines.rules.registry import find_game
from tournament.access import Visitor
from tournament.models import BotSearch, Game
from tournament.queues import search_topic
from tournament.services.searching import (
    SECONDS,
    SearchRefused,
    everybody_may_ask,
    request_search,
)
from tournament.views.analysis.board import draw_line, find_ladder, show_page
from tournament.views.analysis.choosing import chosen_time, chosen_version, offered_bots
from tournament.views.analysis.losses import Judged, find_losses
from tournament.views.analysis.trees import BadLine, Line, analysis_query, read_tree, show_tree
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.games.chart import draw_heights
from tournament.views.games.downloads import TEXT_TYPE
from tournament.views.games.replay import Replay
from tournament.views.logged_in import takes_form_of_anybody
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import takes_get_and_post

TIMES_MS = (100, 300, 1_000)
"""To choose from, for each position of a game."""
PAUSE_S = 0.3
"""The shortest time between two events of a search."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a bot says of the position after ``ply`` moves; its move is empty while it searches."""

    ply: int
    side: Side
    move: str
    note: MoveNote

    @property
    def score(self) -> str:
        """As a record has it, of the side to move."""
        return format_score(self.note.score)

    @property
    def line(self) -> Sequence[str]:
        """The expected moves."""
        if not self.move:
            return self.note.pv
        if self.resigns:
            return ()
        return self.note.pv if self.note.pv[:1] == (self.move,) else (self.move,)

    @property
    def resigns(self) -> bool:
        return self.move == RESIGN


def read_line(search: BotSearch) -> Line:
    """The positions of a search."""
    rules = find_game(search.ladder_id)
    start: Position = rules.position.parse(search.start) if search.start else rules.position.initial()
    return Line.of(rules, start, search.moves.split())


def evaluations(search: BotSearch, line: Line) -> list[Evaluated]:
    """What is known so far, in the order of the plies."""
    found = sorted((int(ply), *said) for ply, said in search.found.items())
    return [
        Evaluated(ply, line.positions[ply].side, move, parse_note(comment) or MoveNote())
        for ply, move, comment in found
    ]


@takes_form_of_anybody
def search_request(request: HttpRequest, code: str) -> HttpResponse:
    """Have a bot search the position that the form of the analysis board shows."""
    game = find_ladder(code)
    shown = show_tree(game, "", MoveTree())
    try:
        shown = read_tree(request.POST, game)
        if shown.line.position.outcome().decided:
            raise SearchRefused("The game is over in this position.")
        search = request_search(
            code,
            chosen_version(request, code),
            shown.positions[0],
            shown.line.moves,
            [len(shown.line.moves)],
            1_000 * chosen_time(request, "seconds", SECONDS, "Choose how long the bot searches."),
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
    shown = get_object_or_404(BotSearch.objects.select_related("version__bot", "ladder"), pk=pk)
    state = json.dumps([shown.found, shown.why, shown.ended_at is None, bool(shown.assigned)])
    topics = () if shown.ended_at else (search_topic(shown.pk),)
    part = LivePart(request, hashlib.sha256(state.encode()).hexdigest()[:12], topics, PAUSE_S)
    if part.is_shown:
        return part.unchanged()
    line = read_line(shown)
    context = {
        "search": shown,
        "game": line.game,
        "evaluated": evaluations(shown, line),
        "query": analysis_query(shown.start, line.moves, line.positions, len(line.moves)),
        "spoken": svg.summarize(line.position, line.moves[-1] if line.moves else ""),
        "position": line.position,
    }
    if is_part(request):
        return part.render("pieces/search.html", context)
    return part.render("search.html", {**context, "board": draw_line(line)})


@takes_get_and_post
@vary_on_headers(PART)
def game_analysis(request: HttpRequest, pk: int) -> HttpResponse:
    """A bot's evaluations of all positions of a game, and the moves that lost most; a form requests them."""
    game = find_game_for(request, pk)
    shown, part = _latest_analysis(game, request.user, request.GET.get("search", "")), None
    if shown is not None:
        state = f"{shown.pk}-{len(shown.missing)}-{shown.why}-{shown.ended_at is None}"
        topics = () if shown.ended_at else (search_topic(shown.pk),)
        part = LivePart(request, state, topics, parameters={"search": shown.pk})
        if part.is_shown:
            return part.unchanged()
    replay, _, recorded = load_replay(game)
    if not recorded:
        raise Http404(f"game {pk} is not recorded")
    if request.method == "POST":
        return _request_analysis(request, game, replay)
    if shown is None or part is None:
        return render(request, "game_analysis.html", _analysis_context(request, game, None, {}, replay))
    line = Line(replay.rules, tuple(move.token for move in replay.moves), replay.positions)
    judged = {
        one.ply: Judged(one.ply, one.side, one.note.score, "" if one.resigns else one.move)
        for one in evaluations(shown, line)
        if one.move and one.note.score is not None
    }
    context = _analysis_context(request, game, shown, judged, replay)
    return part.render("pieces/game_analysis.html" if is_part(request) else "game_analysis.html", context)


def _analysis_context(
    request: HttpRequest, game: Game, shown: BotSearch | None, judged: Mapping[int, Judged], replay: Replay
) -> dict[str, object]:
    return {
        "game": game,
        "search": shown,
        "done": len(shown.plies) - len(shown.missing) if shown else 0,
        "chart": draw_heights([(ply, one.height) for ply, one in sorted(judged.items())], replay.plies),
        "losses": find_losses(judged, tuple(move.token for move in replay.moves), replay.opening_plies),
        "bots": offered_bots(request, game.ladder_id),
        "times": TIMES_MS,
    }


def _latest_analysis(game: Game, user: Visitor, key: str) -> BotSearch | None:
    """The search of this key, or else the latest complete one by a bot that all may ask, or of the user."""
    analyses = game.searches.select_related("version__bot").order_by("-asked_at")
    if key:
        with suppress(ValidationError):
            return analyses.filter(pk=key).first()
    is_shown = Q(ended_at__isnull=False) & everybody_may_ask("version__bot__")
    if user.is_authenticated:
        is_shown |= Q(owner=user)
    return analyses.filter(is_shown, why="").first()


def _request_analysis(request: HttpRequest, game: Game, replay: Replay) -> HttpResponse:
    page = reverse("game-analysis", args=[game.pk])
    decided = replay.positions[-1].outcome().decided
    try:
        if not request.user.is_authenticated:
            raise SearchRefused("Log in to request the analysis of a game.")
        ms = chosen_time(request, "ms", TIMES_MS, "Choose how long the bot searches for each position.")
        found = request_search(
            game.ladder_id,
            chosen_version(request, game.ladder_id),
            replay.positions[0],
            [move.token for move in replay.moves],
            range(replay.plies + (not decided)),
            ms,
            user=request.user,
            address="",
            now=timezone.now(),
            game=game,
        )
    except SearchRefused as refused:
        messages.error(request, str(refused))
        return redirect(page)
    return redirect(f"{page}?search={found.pk}")
