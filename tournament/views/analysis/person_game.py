"""A game of a person against a bot: the page on which it is played and watched, and its record."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.records import format_record, played_headers
from engines.rules.base import IllegalMove, Reason
from engines.rules.history import History
from engines.rules.registry import ENDINGS
from tournament.models import PersonGame
from tournament.queues import search_topic
from tournament.sentences import as_sentence
from tournament.services import playing
from tournament.services.results.records import person_record
from tournament.services.searching import SearchRefused, answering
from tournament.views.analysis.board import draw_line
from tournament.views.analysis.persons import plays
from tournament.views.analysis.searches import PAUSE_S
from tournament.views.analysis.trees import Line, analysis_query
from tournament.views.games.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.paging import LAST_ID, is_whole
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import fresh_buttons, takes_get_and_post

ACTIONS = {"resign": playing.resign, "take back": playing.take_back}
"""Of the form on the page of a game, beside a move."""


@fresh_buttons
@takes_get_and_post
@vary_on_headers(PART)
def person_game(request: HttpRequest, pk: str) -> HttpResponse:
    """The game; its person plays on it, everybody who has the address looks on."""
    rows = PersonGame.objects.select_related("version__bot", "person", "ladder")
    now, game = timezone.now(), get_object_or_404(rows, pk=pk)
    is_own = plays(request, game)
    if request.method == "POST":
        if game.person and not request.user.is_authenticated:
            sentence = "You are logged out: log in to play on."
            return HttpResponse(sentence, status=400, content_type=TEXT_TYPE)
        if not is_own:
            raise Http404(f"no game {pk} of this user")
        return _answer_form(request, game)
    game = playing.take_over(game, now)
    search = playing.open_search(game)
    topics = () if game.ended_at else (search_topic(game.pk), *([search_topic(search.pk)] if search else []))
    seen = f"{game.plies}-{game.taken_back}-{game.end}"
    part = LivePart(request, seen, topics, PAUSE_S, is_personal=is_own)
    if part.is_shown:
        return part.unchanged()
    template = "pieces/person_game.html" if is_part(request) else "person_game.html"
    context = _context(game, playing.history_of(game), is_own=is_own)
    if is_own and game.ended_at:
        answers = answering(game.ladder_id, request.user)
        context["rematch"] = next((one for one in answers if one.bot_id == game.version.bot_id), None)
    return part.render(template, context)


def _answer_form(request: HttpRequest, game: PersonGame) -> HttpResponse:
    now, ply = timezone.now(), request.POST.get("ply", "")
    shown = int(ply) if is_whole(ply, LAST_ID) else -1
    try:
        action = request.POST.get("action", "")
        if action in ACTIONS:
            ACTIONS[action](game, now, shown=shown)
        else:
            token = request.POST.get("token", "").strip()
            playing.play(playing.take_over(game, now), token, now, shown=shown)
    except (IllegalMove, SearchRefused) as error:
        if is_part(request):
            return HttpResponse(as_sentence(str(error)), status=400, content_type=TEXT_TYPE)
        messages.error(request, as_sentence(str(error)))
    return redirect(game)


def _context(game: PersonGame, history: History, *, is_own: bool) -> dict[str, object]:
    line = Line.of(history.game, history.start, history.moves)
    is_turn = is_own and not game.ended_at and line.position.side is game.person_side
    flip = not game.is_white
    played = played_headers(person_record(game)) if game.ended_at else ()
    return {
        "played": game,
        "game": history.game,
        "is_own": is_own,
        "is_turn": is_turn,
        "board": draw_line(line, flip=flip),
        "targets": draw_line(line, flip=flip, targets=True) if is_turn else "",
        "moves": " ".join(line.position.legal_moves()) if is_turn else "",
        "tokens": history.moves,
        "spoken": svg.summarize(line.position, history.moves[-1] if history.moves else ""),
        "takes_back": is_own and not game.ended_at and playing.last_own(game) is not None,
        "state": _state(game, is_own=is_own, is_turn=is_turn),
        "query": analysis_query("", history.moves, line.positions, len(history.moves), played=played),
        "other_colour": "black" if game.is_white else "white",
    }


def _state(game: PersonGame, *, is_own: bool, is_turn: bool) -> str:
    """Whose turn it is, or how the game ended, in a sentence."""
    person = "You" if is_own else game.person_name
    if not game.ended_at:
        return "Your move." if is_turn else f"{game.version} thinks …" if is_own else "The game goes on."
    winner = {"1-0": game.is_white, "0-1": not game.is_white}.get(game.result)
    ending = ENDINGS.get(Reason(game.why), "") if game.end == PersonGame.End.RULES else ""
    if game.end == PersonGame.End.VOID:
        return f"The game is void. {game.why}"
    if game.end == PersonGame.End.RESIGNED:
        loser = game.version if winner else "you" if is_own else person
        ending = f"{loser} resigned"
    elif game.end == PersonGame.End.FAILED:
        ending = f"the bot failed: {game.why}"
    if winner is None:
        return f"Draw: {ending}."
    return f"{person if winner else game.version} won: {ending}."


@require_safe
def person_game_record(request: HttpRequest, pk: str) -> HttpResponse:
    """The record, marked as unrated and as a person's game."""
    game = get_object_or_404(PersonGame.objects.select_related("version__bot", "person"), pk=pk)
    return attached(format_record(person_record(game)), f"game-{game.pk}.pgn", PGN_TYPE)
