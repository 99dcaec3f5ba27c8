"""Games of people against bots: a page to begin one, and the board to play it."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.records import format_record, played_headers
from engines.rules.base import IllegalMove, Reason
from engines.rules.history import History
from engines.rules.registry import ENDINGS, GAMES
from tournament.models import PersonGame
from tournament.queues import search_topic
from tournament.sentences import as_sentence
from tournament.services import playing
from tournament.services.results.records import person_record
from tournament.services.searching import SearchRefused, answering
from tournament.views.analysis.board import draw_line, find_ladder
from tournament.views.analysis.choosing import chosen_time, chosen_version, offered_bots
from tournament.views.analysis.searches import PAUSE_S
from tournament.views.analysis.trees import Line, analysis_query
from tournament.views.games.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.ladders.drawings import draw_picture
from tournament.views.logged_in import login_required
from tournament.views.paging import LAST_ID, is_whole
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import AuthenticatedRequest, fresh_buttons, takes_get_and_post

COLOURS = {"white": "White", "black": "Black"}
CHOICES = {
    "times": [(ms, f"{ms / 1000:g} s a move") for ms in playing.TIMES_MS],
    "colours": COLOURS.items(),
}
"""Of the form that begins a game."""


def open_count(request: HttpRequest) -> dict[str, object]:
    """A context processor: ``open_games`` is the number of the visitor's games that are not over."""

    def count() -> int:
        user = getattr(request, "user", None)  # an early error has none
        return playing.open_games(user).count() if user is not None and user.is_authenticated else 0

    return {"open_games": count}


@require_safe
def play_home(request: HttpRequest) -> HttpResponse:
    """The visitor's open games, and a form for each ladder that begins one."""
    ladders = [(game, draw_picture(code), offered_bots(request, code)) for code, game in GAMES.items()]
    context = {
        "mine": playing.list_open(request.user),
        "ladders": ladders,
        **CHOICES,
    }
    return render(request, "play.html", context)


@takes_get_and_post
@login_required
def play_new(request: AuthenticatedRequest, code: str) -> HttpResponse:
    """Choose a bot, a colour and a time, and begin."""
    game = find_ladder(code)
    if request.method == "POST":
        colour = request.POST.get("colour", "")
        try:
            chosen = chosen_version(request, code)
            ms = chosen_time(request, "ms", playing.TIMES_MS, "Choose how long the bot thinks.")
            if colour not in COLOURS:
                raise SearchRefused("Choose a colour.")
            is_white, now = colour == "white", timezone.now()
            return redirect(playing.start(request.user, chosen, code, is_white=is_white, ms=ms, now=now))
        except playing.TooManyOpen as refused:
            text = '{} <a href="{}#open-games">See your open games</a>'
            messages.error(request, format_html(text, refused, reverse("play-home")))
        except SearchRefused as refused:
            messages.error(request, str(refused))
    mine: QuerySet[PersonGame] = request.user.person_games.filter(ladder=code).select_related("version__bot")
    context = {
        "game": game,
        "bots": offered_bots(request, code),
        **CHOICES,
        "games": mine.order_by("-started_at")[:20],
    }
    return render(request, "play_new.html", context)


@fresh_buttons
@takes_get_and_post
@vary_on_headers(PART)
def person_game(request: HttpRequest, pk: str) -> HttpResponse:
    """The game; its person plays on it, everybody who has the address looks on."""
    rows = PersonGame.objects.select_related("version__bot", "person", "ladder")
    now, game = timezone.now(), get_object_or_404(rows, pk=pk)
    is_own = game.person == request.user
    if request.method == "POST":
        if not request.user.is_authenticated:
            sentence = "You are logged out: log in to play on."
            return HttpResponse(sentence, status=400, content_type=TEXT_TYPE)
        if not is_own:
            raise Http404(f"no game {pk} of this user")
        return _answer_form(request, game)
    game = playing.take_over(game, now)
    search = playing.open_search(game)
    topics = () if game.ended_at else (search_topic(game.pk), *([search_topic(search.pk)] if search else []))
    part = LivePart(request, f"{game.plies}-{game.end}", topics, PAUSE_S)
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
        if request.POST.get("action") == "resign":
            playing.resign(game, now, shown=shown)
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
        "state": _state(game, is_own=is_own, is_turn=is_turn),
        "query": analysis_query("", history.moves, line.positions, len(history.moves), played=played),
        "other_colour": "black" if game.is_white else "white",
    }


def _state(game: PersonGame, *, is_own: bool, is_turn: bool) -> str:
    """Whose turn it is, or how the game ended, in a sentence."""
    person = "You" if is_own else game.person.username
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
