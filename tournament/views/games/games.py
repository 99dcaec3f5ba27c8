"""A game: its replay (recorded or live), its record and its logs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.rules.base import Outcome, Reason, Result, Side
from engines.rules.registry import find_game
from tournament import access
from tournament.models import (
    BotSearch,
    Game,
    GameLog,
    GameRecord,
    LiveGame,
    RatingEvent,
)
from tournament.models.compressed import days_kept, is_kept_long
from tournament.queues import game_topic
from tournament.security import FRAMABLE_POLICY
from tournament.services.halted import is_open
from tournament.views.bots.engines import engine_values
from tournament.views.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.games.analysis import (
    analysis_context,
    find_analysis,
    request_context,
    with_analysis,
)
from tournament.views.games.board import (
    board_context,
    drawn_size,
    find_followed,
    find_game_for,
    is_flipped,
    load_replay,
)
from tournament.views.games.chart import chart_values
from tournament.views.games.endings import ended_by_rules, ending_sentence, fault_sentence
from tournament.views.games.replay import Replay
from tournament.views.games.turning_points import find_turning_points
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.polling import PART, LivePart, is_part, reload

GAME_PAUSE_SECONDS = 0.2
"""The shortest time between two events of a live game."""
EMBED_WIDTH = 640
"""Pixels of a frame that other sites show; its page is no wider."""
EMBED_TEXTS = 240
"""Pixels of the texts and buttons above and below its board; the board gets smaller if they need more."""


@require_safe
@vary_on_headers(PART)
def game(request: HttpRequest, pk: int) -> HttpResponse:
    """The replay at ``?ply=n`` (default: the last), with the board turned by ``flip=1``.

    A script gets the board alone. With the parameters ``seen`` and ``since`` it gets the moves after ply
    ``since`` and the newest board, 204 if nothing has changed; at the end of the game also its facts, and if
    the game was begun again, a request to reload the page.
    """
    game = find_followed(request, pk) if is_part(request) else find_game_for(request, pk)
    replay, live, recorded = load_replay(game)
    analysis = find_analysis(game, request.user) if recorded else None
    replay = with_analysis(replay, analysis) if analysis else replay
    attempt = str(game.attempt or "")[:8]
    begun = "-begun" if live is not None and live.is_begun else ""
    seen = f"{game.state}-{attempt}-{replay.plies}{begun}"
    is_running = _is_running(game)
    topics = (game_topic(pk),) if is_running else ()
    parameters = {"since": replay.plies, "flip": int(is_flipped(request))}
    part = LivePart(request, seen, topics, GAME_PAUSE_SECONDS, parameters=parameters)
    if part.is_shown:
        return part.unchanged()
    is_fragment, polls = is_part(request), "seen" in request.GET
    since = whole_number(request, "since", 0, most=LAST_ID) if is_fragment and polls else 0
    if is_fragment and polls and _is_another(request, attempt, since, replay):
        return reload()
    context = board_context(request, game, replay, live)
    if is_fragment and not polls:
        return render(request, "games/pieces/board.html", context)
    context |= {
        "game": game,
        "headline": _headline(game, replay, live),
        "chart": chart_values(replay, since),
        "rows": replay.rows(since),
    }
    if is_fragment and is_running:
        return part.render("games/pieces/moves_new.html", context)
    context |= _facts(request, game, replay, analysis, recorded=recorded)
    context["chart"]["points"] = context["point_plies"]
    context["chart"]["analysis"] = context["found"] and context["found"]["curve"]
    context["snippet"] = _snippet(request, game, context["board"])
    return part.render("games/pieces/moves_new.html" if is_fragment else "games/game.html", context)


def _facts(
    request: HttpRequest, game: Game, replay: Replay, analysis: BotSearch | None, *, recorded: bool
) -> dict[str, Any]:
    """What the page shows beside the board and the moves."""
    winner = Outcome(Result(game.result or Result.UNDECIDED), Reason.NONE).winner
    points = find_turning_points(replay, winner) if recorded else []
    may_run = access.may_run_site(request.user)
    return {
        **analysis_context(game, analysis, replay),
        **(request_context(request, game) if recorded else {}),
        "turning_points": points,
        "point_plies": [point.ply for point in points],
        "twin": _find_twin(game),
        "white_score": _score(game, game.white_score),
        "black_score": _score(game, game.black_score),
        "count": svg.final_count(replay.positions[-1]) if recorded else "",
        "fault": fault_sentence(game),
        "rating_changes": rating_changes(game),
        "ended_by_rules": ended_by_rules(game),
        "recorded": recorded,
        "logs": _logs(request, game),
        "logs_kept": _logs_kept(request, game),
        "correction": getattr(game, "correction", None),
        "outdated": [game.ladder] if game.ladder.is_outdated else [],
        "settles": may_run and is_open(game),
        "annuls": may_run and game.result is not None and game.tournament.format.is_public,
    }


@require_safe
@vary_on_headers(PART)
def games_beside(request: HttpRequest, pk: int, other: int) -> HttpResponse:
    """Two replays next to each other at ``?ply=n`` of both; a game with fewer plies shows its end.

    The response to a script is the boards alone, as of ``game``.
    """
    shown = []
    for number in (pk, other):
        game = find_game_for(request, number)
        replay, live, _ = load_replay(game)
        context = board_context(request, game, replay, live)
        shown.append(context | {"game": game, "headline": _headline(game, replay, live)})
    plies = max(one["replay"].plies for one in shown)
    ply = min(whole_number(request, "ply", plies, most=LAST_ID), plies)
    context = {
        "shown": shown,
        "spoken": f"First game: {shown[0]['spoken']} Second game: {shown[1]['spoken']}",
        "plies": plies,
        "ply": ply,
        "previous": max(0, ply - 1),
        "next": min(plies, ply + 1),
        "flip": shown[0]["flip"],
        "flipped": shown[0]["flipped"],
    }
    return render(
        request, "games/pieces/boards.html" if is_part(request) else "games/games_beside.html", context
    )


@require_safe
@xframe_options_exempt
def game_embed(request: HttpRequest, pk: int) -> HttpResponse:
    """Only the board with its buttons, for frames on other sites."""
    game = find_game_for(request, pk)
    replay, live, _ = load_replay(game)
    context = board_context(request, game, replay, live)
    context |= {"game": game, "headline": _headline(game, replay, live), "embedded": True}
    response = render(request, "games/game_embed.html", context)
    response["Content-Security-Policy"] = FRAMABLE_POLICY
    return response


def _snippet(request: HttpRequest, game: Game, board: str) -> SafeString:
    """The element with which other sites show the game, of a size at which its page need not scroll."""
    address = request.build_absolute_uri(reverse("game-embed", args=[game.pk]))
    title = f"{game.white.bot.name} – {game.black.bot.name}, {game.ladder.name}"
    width, height = drawn_size(board)
    return format_html(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy"></iframe>',
        address,
        EMBED_WIDTH,
        round(EMBED_WIDTH * height / width) + EMBED_TEXTS,
        title,
    )


@require_safe
def game_record(request: HttpRequest, pk: int) -> HttpResponse:
    """The game's record as PGN."""
    record = get_object_or_404(GameRecord, game=find_game_for(request, pk))
    return attached(record.text, f"game-{pk}.pgn", PGN_TYPE)


@require_safe
def game_log(request: HttpRequest, pk: int, side: str) -> HttpResponse:
    """One engine's standard error and lines as text, for its owner and staff."""
    text = log_text(request, find_game_for(request, pk), side)
    return attached(text, f"game-{pk}-{side}.txt", TEXT_TYPE)


def log_text(request: HttpRequest, game: Game, side: str) -> str:
    """The whole log of a side; raises ``Http404`` if there is none that this user may see."""
    log = next((log for log in _logs(request, game) if log.side == side), None)
    if log is None:
        raise Http404(f"no log of {side!r} for this user")
    return f"# standard error\n{log.stderr}\n# lines exchanged\n{log.lines}\n"


@require_safe
def game_engines(request: HttpRequest) -> JsonResponse:
    """The engines of the game with this ``id``, a record's GameId, for ``python -m workers replay --site``.

    ``bundle`` is null if this user may not download it.
    """
    key = request.GET.get("id", "")
    game = Game.objects.with_players().filter(key=key).first() if key.isprintable() else None
    if game is None or not access.may_see_tournament(request.user, game.tournament):
        raise Http404(f"no game {key!r}")
    versions = {"white": game.white, "black": game.black}
    return JsonResponse({side: engine_values(request, version) for side, version in versions.items()})


def rating_changes(game: Game) -> dict[str, RatingEvent]:
    """By side, how the game changed the players' ratings; empty if it is not rated."""
    if not game.rated:
        return {}
    events = {event.version_id: event for event in game.rating_events.all()}
    players = {"white": game.white_id, "black": game.black_id}
    return {side: events[version] for side, version in players.items() if version in events}


def _find_twin(game: Game) -> int | None:
    """The id of the pair's other game, with the colours reversed, once it is recorded."""
    pair = Game.objects.filter(pairing=game.pairing_id, number=3 - game.number)
    return dict(pair.values_list("state", "pk")).get(Game.State.DONE)


def _is_running(game: Game) -> bool:
    """Whether moves may still come."""
    return game.state in {Game.State.WAITING, Game.State.CLAIMED}


def _is_another(request: HttpRequest, attempt: str, since: int, replay: Replay) -> bool:
    """Whether the page shows moves of an earlier attempt, which the game no longer has."""
    _, shown, *_ = (*request.GET.get("seen", "").split("-"), "", "")
    return since > replay.plies or (shown != attempt and since > replay.opening_plies)


def _headline(game: Game, replay: Replay, live: LiveGame | None) -> str:
    """How the game ended, or who is to move."""
    if live is None:
        return ending_sentence(game)
    side = replay.positions[-1].side
    version = game.white if side is Side.WHITE else game.black
    return f"{version.bot.name} ({side.name.title()}) is to move."


def _score(game: Game, score: int | None) -> str:
    """A player's score with its unit, as ``24 seeds``; empty if the game has none."""
    if score is None:
        return ""
    unit = find_game(game.ladder_id).score_unit
    return f"{score} {unit}{pluralize(score)}" if unit else str(score)


def _logs(request: HttpRequest, game: Game) -> list[GameLog]:
    """The logs this user may see; no others are read."""
    sides = _visible_sides(request, game)
    return list(GameLog.objects.filter(game=game, side__in=sides).order_by("-side")) if sides else []


def _visible_sides(request: HttpRequest, game: Game) -> list[str]:
    return [side for side in GameLog.Side.values if access.may_see_log(request.user, game, side)]


def _logs_kept(request: HttpRequest, game: Game) -> int:
    """For how many days the logs of a recorded game are kept; 0 if this user may see none."""
    if game.result is None or not _visible_sides(request, game):
        return 0
    return days_kept(kept_long=is_kept_long(game.fault, game.tournament))
