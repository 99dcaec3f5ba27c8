"""A game: its replay (recorded or live), its record and its logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.rules.base import Side
from engines.timecontrol import parse_time_control
from tournament import access
from tournament.models import BotVersion, Game, GameLog, GameRecord, LiveGame
from tournament.views.bots.verdict import fault_sentence, verdict
from tournament.views.games.downloads import PGN_TYPE, TEXT_TYPE, attached
from tournament.views.games.replay import Replay, replay_of
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.polling import unchanged


@dataclass(frozen=True, slots=True)
class PlayerPanel:
    """One player beside the board."""

    side: str
    version: BotVersion
    clock: str
    clock_label: str
    to_move: bool


@require_safe
@vary_on_headers("HX-Request")
def game(request: HttpRequest, pk: int) -> HttpResponse:
    """The replay at ``?ply=n`` (default: the last), with the board turned by ``flip=1``.

    The response to htmx is the board alone. With the parameter ``seen`` it is the list of moves, 204 if
    nothing has changed, or a request to reload the page if the game is over.
    """
    game = _find(request, pk)
    record = GameRecord.objects.filter(game=game).values_list("text", flat=True).first()
    live = None if record is not None else LiveGame.objects.filter(game=game).first()
    replay = replay_of(game, record, live)
    seen = f"{game.state}-{replay.plies}"
    if unchanged(request, seen):
        return HttpResponse(status=204)
    htmx, lists = "HX-Request" in request.headers, "seen" in request.GET
    if htmx and lists and not _polls(game):
        return HttpResponse(headers={"HX-Refresh": "true"})
    context = _board(request, game, replay)
    if htmx and not lists:
        return render(request, "pieces/board.html", context)
    context |= {
        "game": game,
        "rows": replay.rows(),
        "verdict": verdict(game),
        "polls": _polls(game),
        "seen": seen,
    }
    if htmx:
        return render(request, "pieces/moves.html", context)
    context |= {"fault": fault_sentence(game), "recorded": record is not None, "logs": _logs(request, game)}
    return render(request, "game.html", context)


@require_safe
def game_record(request: HttpRequest, pk: int) -> HttpResponse:
    """The game's record as PGN."""
    record = get_object_or_404(GameRecord, game=_find(request, pk))
    return attached(record.text, f"game-{pk}.pgn", PGN_TYPE)


@require_safe
def game_log(request: HttpRequest, pk: int, side: str) -> HttpResponse:
    """One engine's standard error and exchanged lines as text, for its owner and staff."""
    game = _find(request, pk)
    log = next((log for log in _logs(request, game) if log.side == side), None)
    if log is None:
        raise Http404(f"no log of {side!r} for this user")
    text = f"# standard error\n{log.stderr}\n# lines exchanged\n{log.lines}\n"
    return attached(text, f"game-{pk}-{side}.txt", TEXT_TYPE)


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
    return JsonResponse({side: _engine_values(request, version) for side, version in versions.items()})


def _engine_values(request: HttpRequest, version: BotVersion) -> dict[str, str | None]:
    bundle = reverse("bundle", args=[version.bot.slug, version.number])
    return {
        "name": version.bot.name,
        "version": str(version.number),
        "sha256": version.bundle_id,
        "page": version.get_absolute_url(),
        "bundle": bundle if access.may_download_bundle(request.user, version) else None,
    }


def _find(request: HttpRequest, pk: int) -> Game:
    """The game, if it exists and this user may see it."""
    if pk > LAST_ID:
        raise Http404(f"no game {pk}")
    game = get_object_or_404(Game.objects.with_players().select_related("pairing"), pk=pk)
    if not access.may_see_tournament(request.user, game.tournament):
        raise Http404(f"no game {pk}")
    return game


def _polls(game: Game) -> bool:
    """Whether the game is not over yet."""
    return game.state in {Game.State.WAITING, Game.State.CLAIMED}


def _logs(request: HttpRequest, game: Game) -> list[GameLog]:
    """The logs this user may see; no others are read."""
    sides = [side for side in GameLog.Side.values if access.may_see_log(request.user, game, side)]
    return list(GameLog.objects.filter(game=game, side__in=sides).order_by("-side")) if sides else []


def _board(request: HttpRequest, game: Game, replay: Replay) -> dict[str, Any]:
    """The context of the board's fragment at the requested ply; a ply beyond the end shows the end."""
    ply = min(whole_number(request, "ply", replay.plies, most=LAST_ID), replay.plies)
    flip = request.GET.get("flip") == "1"
    position = replay.positions[ply]
    move = replay.moves[ply - 1] if ply else None
    drawn = svg.draw(position, last_move=move.token if move else "", flip=flip)
    players = _players(game, replay, ply)
    return {
        "replay": replay,
        "ply": ply,
        "previous": max(0, ply - 1),
        "next": min(replay.plies, ply + 1),
        "over": _over(game, replay, ply),
        "move": move,
        "flip": flip,
        "flipped": "&flip=1" if flip else "",
        "position": str(position),
        "board": mark_safe(drawn),  # drawn from a position that was parsed; svg escapes
        "top": players[Side.WHITE if flip else Side.BLACK],
        "bottom": players[Side.BLACK if flip else Side.WHITE],
    }


def _over(game: Game, replay: Replay, ply: int) -> bool:
    """Whether neither side is to move; the game may have ended by a limit or a forfeit, not by the rules."""
    return ply == replay.plies and game.result is not None


def _players(game: Game, replay: Replay, ply: int) -> dict[Side, PlayerPanel]:
    control = parse_time_control(game.tournament.time_control)
    clocks = replay.clocks(ply, control)
    shows = "clock" if control.base_ms is not None else "time of the last move"
    versions = {Side.WHITE: game.white, Side.BLACK: game.black}
    to_move = None if _over(game, replay, ply) else replay.positions[ply].side
    return {
        side: PlayerPanel(
            side.name.lower(), version, clocks[side], f"{side.name.title()}'s {shows}", side is to_move
        )
        for side, version in versions.items()
    }
