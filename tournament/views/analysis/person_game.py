"""A game of a person against a bot: the page on which it is played and watched, and its record."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.records import RecordMove, format_record, played_headers
from engines.rules.base import IllegalMove, Reason, Side
from engines.rules.registry import ENDINGS, find_game
from tournament.models import PersonGame
from tournament.queues import search_topic
from tournament.sentences import as_sentence
from tournament.services.results.records import person_record
from tournament.services.searches import playing
from tournament.services.searches.asking import SearchRefused, answering
from tournament.views.analysis.board import draw_line
from tournament.views.analysis.entry import entry_of, spell_moves
from tournament.views.analysis.persons import plays
from tournament.views.analysis.searches import PAUSE_SECONDS
from tournament.views.analysis.trees import Line, analysis_query
from tournament.views.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.games.replay import Replay, build_replay
from tournament.views.paging import LAST_ID, is_whole, whole_number
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import fresh_buttons, takes_get_and_post

ACTIONS = {"resign": playing.resign, "take back": playing.take_back}
"""The actions of the form on the page of a game, beside a move."""


@fresh_buttons
@takes_get_and_post
@vary_on_headers(PART)
def person_game(request: HttpRequest, pk: str) -> HttpResponse:
    """The game at ``?ply=n``; its person plays on it, everybody who has the address looks on."""
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
    part = LivePart(request, seen, topics, PAUSE_SECONDS, is_personal=is_own)
    if part.is_shown:
        return part.unchanged()
    template = "analysis/pieces/person_game.html" if is_part(request) else "analysis/person_game.html"
    replay = build_replay(find_game(game.ladder_id), "", map(RecordMove, game.moves.split()))
    ply = min(whole_number(request, "ply", replay.plies, most=LAST_ID), replay.plies)
    context = {**_context(game, replay, is_own=is_own), **_position(game, replay, ply)}
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


def _context(game: PersonGame, replay: Replay, *, is_own: bool) -> dict[str, object]:
    """What the page shows of the game as it stands, whichever position is looked at."""
    tokens, position = [move.token for move in replay.moves], replay.positions[-1]
    is_turn = is_own and not game.ended_at and position.side is game.person_side
    played = played_headers(person_record(game)) if game.ended_at else ()
    return {
        "played": game,
        "game": replay.rules,
        "is_own": is_own,
        "is_turn": is_turn,
        "plies": replay.plies,
        "rows": replay.rows(),
        "targets": _draw(game, replay, replay.plies, targets=True) if is_turn else "",
        "moves": spell_moves(position) if is_turn else "",
        "entry": entry_of(replay.rules),
        "takes_back": is_own and not game.ended_at and playing.last_own(game) is not None,
        "state": _state(game, is_own=is_own, is_turn=is_turn),
        "query": analysis_query("", tokens, replay.positions, replay.plies, played=played),
        "other_colour": "black" if game.is_white else "white",
    }


def _position(game: PersonGame, replay: Replay, ply: int) -> dict[str, object]:
    """What the page shows of the position after ``ply`` moves."""
    step, over = replay.step(ply), ply == replay.plies and game.ended_at is not None
    to_move = None if over else step.after.side
    sides = [(side, side is game.person_side, side is to_move) for side in Side]
    where = "" if ply == replay.plies else f"Position after move {ply} of {replay.plies}. "
    return {
        "ply": ply,
        "previous": max(0, ply - 1),
        "next": min(replay.plies, ply + 1),
        "board": _draw(game, replay, ply, over=over),
        "top": sides[game.person_side.other],
        "bottom": sides[game.person_side],
        "count": svg.final_count(step.after) if over else "",
        "spoken": where + svg.summarize(step.after, step.token, over=over),
    }


def _draw(game: PersonGame, replay: Replay, ply: int, **options: bool) -> SafeString:
    """The board after ``ply`` moves, with the person's side below; see ``draw_line``."""
    moves = tuple(move.token for move in replay.moves[:ply])
    line = Line(replay.rules, moves, replay.positions[: ply + 1])
    return draw_line(line, flip=not game.is_white, players=False, **options)


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
