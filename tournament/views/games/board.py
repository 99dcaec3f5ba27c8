"""The board of a game at a ply, drawn by ``engines.svg``: for the replay, as SVG, PNG and embedded."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import resvg_py
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from engines import svg
from engines.records import BOOK
from engines.rules.base import Result, Side
from engines.timecontrol import TimeControl, parse_time_control
from tournament import access
from tournament.models import BotVersion, Game, GameRecord, LiveGame
from tournament.views.analysis.trees import analysis_query
from tournament.views.games.endings import ending_sentence
from tournament.views.games.replay import BoardStep, Replay, format_clock, format_seconds, replay_of
from tournament.views.paging import LAST_ID, whole_number
from workers.jobs import UNTIMED_SECONDS

KEPT_SECONDS = 5.0
PICTURE_SECONDS = 24 * 3600
"""How long caches may keep the picture of a recorded game."""
PNG_WIDTH = 600
"""The width in pixels; enough for previews of links. The time grows with the area."""
_SIZE = re.compile(r' width="(\d+)" height="(\d+)"')


@dataclass(frozen=True, slots=True)
class ShownTime:
    """The time beside a player: its clock, and in games without clocks what ``label`` says."""

    text: str
    label: str = ""
    tick_ms: int | None = None
    """The same in milliseconds while it runs; None if it stands."""
    counts_up: bool = False


@dataclass(frozen=True, slots=True)
class PlayerPanel:
    """One player beside the board."""

    side: str
    version: BotVersion
    time: ShownTime
    to_move: bool
    rating: float | None
    """The published rating, where it is shown."""
    report: str = ""
    """What its engine reported with its latest move."""


def find_game_for(request: HttpRequest, pk: int) -> Game:
    """The game, if it exists and this user may see it; raises ``Http404``."""
    games = Game.objects.with_players().select_related("pairing", "correction", "live")
    return _shown_to(request, get_object_or_404(games, pk=pk))


def find_followed(request: HttpRequest, pk: int) -> Game:
    """As ``find_game_for``, for the next state of a page; what it reads may be ``KEPT_SECONDS`` old."""
    try:
        kept = _read(pk, time.monotonic() // KEPT_SECONDS)
        game = Game.objects.select_related("correction", "live").get(pk=pk)
    except Game.DoesNotExist:
        raise Http404(f"no game {pk}") from None
    for name in ("white", "black", "tournament", "ladder", "pairing"):
        setattr(game, name, getattr(kept, name))
    return _shown_to(request, game)


def _shown_to(request: HttpRequest, game: Game) -> Game:
    if not access.may_see_tournament(request.user, game.tournament):
        raise Http404(f"no game {game.pk}")
    return game


@lru_cache(maxsize=256)
def _read(pk: int, _: float) -> Game:
    return Game.objects.with_players().select_related("pairing").get(pk=pk)


def load_replay(game: Game) -> tuple[Replay, LiveGame | None, bool]:
    """The replay, the live state if the game is being played, and whether the game has a record."""
    records = GameRecord.objects.filter(game=game).values_list("text", flat=True)
    record = records.first() if game.result is not None else None
    live: LiveGame | None = None if record is not None else getattr(game, "live", None)
    return replay_of(game, record, live), live, record is not None


@require_safe
def game_svg(request: HttpRequest, pk: int, ply: int) -> HttpResponse:
    """The board after ``ply`` moves as an SVG file; a ply beyond the end shows the end.

    With ``?small=1`` it is the picture of about 120 pixels for lists.
    """
    game, step, over = _step(request, pk, ply)
    if request.GET.get("small") == "1":
        drawn = svg.draw_small(step.after, last_move=step.token, alone=True)
    else:
        drawn = draw_board(step, flip=is_flipped(request), over=over, style=svg.STYLE)
    return _picture(game, drawn, "image/svg+xml")


@require_safe
def game_png(request: HttpRequest, pk: int, ply: int) -> HttpResponse:
    """The same as PNG, in the light colours, for link previews."""
    game, step, over = _step(request, pk, ply)
    drawn = draw_board(step, flip=is_flipped(request), over=over, style=svg.flat_style())
    png = resvg_py.svg_to_bytes(svg_string=drawn, width=PNG_WIDTH, background="#f3f1ec")
    return _picture(game, bytes(png), "image/png")


def _step(request: HttpRequest, pk: int, ply: int) -> tuple[Game, BoardStep, bool]:
    """The game, the step that leads to the position, and whether the game ended there."""
    game = find_game_for(request, pk)
    replay, *_ = load_replay(game)
    return game, replay.step(min(ply, replay.plies)), ply >= replay.plies and game.result is not None


def _picture(game: Game, content: str | bytes, content_type: str) -> HttpResponse:
    """Caches may keep that of a recorded game which everybody may see."""
    response = HttpResponse(content, content_type=content_type)
    if game.state == Game.State.DONE and access.may_see_tournament(access.PUBLIC, game.tournament):
        patch_cache_control(response, public=True, max_age=PICTURE_SECONDS)
    return response


def board_context(request: HttpRequest, game: Game, replay: Replay, live: LiveGame | None) -> dict[str, Any]:
    """The context of the board at ``?ply=n``; with ``&line=k``, after k moves of the expected line.

    With ``&better=k``, after k moves of the line that was better than a mistake.
    """
    ply = min(whole_number(request, "ply", replay.plies, most=LAST_ID), replay.plies)
    lines = {"line": replay.line(ply), "better": replay.better(ply)}
    line_of = "better" if "better" in request.GET else "line"
    step = min(whole_number(request, line_of, 0, most=LAST_ID), len(lines[line_of]))
    flip = is_flipped(request)
    shown = lines[line_of][step - 1] if step else replay.step(ply)
    is_last = ply == replay.plies
    # The game may have ended by a limit or a forfeit, not by the rules.
    over = is_last and game.result is not None
    to_move = None if over else replay.positions[ply].side
    # The rules do not tell the end by a limit or a forfeit.
    tells_end = over and not shown.after.outcome().decided
    end = f" {ending_sentence(game)}" if tells_end else ""
    summary = svg.summarize(shown.after, shown.token, over=over and not step)
    clocks = replay.clocks(ply, parse_time_control(game.tournament.time_control))
    panels = player_panels(game, clocks, to_move, live if is_last else None, reports=replay.reports(ply))
    return {
        "replay": replay,
        "ply": ply,
        "previous": max(0, ply - 1),
        "next": min(replay.plies, ply + 1),
        "move": replay.moves[ply - 1] if ply else None,
        **lines,
        "line_of": line_of,
        "line_step": step,
        "mistake": replay.mistakes.get(ply),
        "flip": flip,
        "flipped": "&flip=1" if flip else "",
        "position": str(shown.after),
        "to_analysis": _analysis_address(
            "analysis", replay, ply, len(replay.moves), game if game.result is not None else None
        ),
        "to_explorer": _analysis_address("explorer", replay, ply, ply),
        "spoken": f"{_where(replay, ply, step)}. {summary}{end}",
        "board": draw_board(shown, flip=flip, players=False, over=over and not step),
        "top": panels[Side.WHITE if flip else Side.BLACK],
        "bottom": panels[Side.BLACK if flip else Side.WHITE],
        "is_wide": svg.is_wide(shown.after),
    }


def _analysis_address(page: str, replay: Replay, ply: int, plies: int, game: Game | None = None) -> str:
    """The page of this name with the first ``plies``; with ``game`` also its players, result and scores."""
    first, initial = replay.positions[0], replay.rules.position.initial()
    moves = replay.moves[:plies]
    query = analysis_query(
        "" if first == initial else str(first),
        [move.token for move in moves],
        replay.positions,
        ply,
        notes=[BOOK if move.book else move.assessment for move in moves] if game else (),
        played=_played(game) if game else (),
    )
    return f"{reverse(page, args=[replay.rules.code])}?{query}"


def _played(game: Game) -> list[tuple[str, str]]:
    """What the analysis of a game keeps of the headers of its record."""
    white, black = game.white, game.black
    return [
        ("Event", game.tournament.name),
        ("White", white.bot.name),
        ("Black", black.bot.name),
        ("Result", game.result or Result.UNDECIDED),
        ("WhiteVersion", str(white.number)),
        ("BlackVersion", str(black.number)),
        ("GameId", game.key),
    ]


def _where(replay: Replay, ply: int, step: int) -> str:
    """Where in the game a position is, for screen readers."""
    return f"Expected move {step} at ply {ply}" if step else f"Ply {ply} of {replay.plies}"


def draw_board(
    step: BoardStep, *, flip: bool = False, players: bool = True, over: bool = False, style: str = ""
) -> SafeString:
    """The position with the move that led to it; see ``svg.draw`` for ``players``, ``over`` and ``style``."""
    drawn = svg.draw(
        step.after,
        last_move=step.token,
        before=step.before,
        flip=flip,
        players=players,
        over=over,
        style=style,
    )
    return mark_safe(drawn)  # safe: drawn from a parsed position, and svg escapes all texts


def drawn_size(board: str) -> tuple[int, int]:
    """The width and the height of a drawn board."""
    width, height = _SIZE.findall(board)[0]
    return int(width), int(height)


def is_flipped(request: HttpRequest) -> bool:
    return request.GET.get("flip") == "1"


def player_panels(
    game: Game,
    clocks: Mapping[Side, str],
    to_move: Side | None,
    live: LiveGame | None,
    ratings: Mapping[tuple[str, int], float] | None = None,
    reports: Mapping[Side, str] | None = None,
) -> dict[Side, PlayerPanel]:
    """Both players with these clocks. With ``live`` the time of the side to move runs on from its values.

    ``ratings`` to show are by ladder and version.
    """
    control = parse_time_control(game.tournament.time_control)
    panels = {}
    for side, version in ((Side.WHITE, game.white), (Side.BLACK, game.black)):
        panels[side] = PlayerPanel(
            side=side.name.lower(),
            version=version,
            time=_shown_time(control, clocks[side], live, side, to_move),
            to_move=side is to_move,
            rating=(ratings or {}).get((game.ladder_id, version.pk)),
            report=(reports or {}).get(side, ""),
        )
    return panels


def _shown_time(
    control: TimeControl, clock: str, live: LiveGame | None, side: Side, to_move: Side | None
) -> ShownTime:
    left_ms = _left_ms(live, side) if live is not None and side is to_move else None
    if control.base_ms is not None:
        if left_ms is None:
            return ShownTime(clock)
        left_ms = max(0, left_ms)
        return ShownTime(format_clock(left_ms), tick_ms=left_ms)
    if left_ms is not None:
        thought_ms = max(0, (control.move_ms or UNTIMED_SECONDS * 1000) - left_ms)
        return ShownTime(format_clock(thought_ms), "thinking for", thought_ms, counts_up=True)
    if live is not None and control.move_ms is not None:
        return ShownTime(f"{format_seconds(control.move_ms)} s", "per move")
    return ShownTime(clock, "last move")


def _left_ms(live: LiveGame, side: Side) -> int | None:
    """The worker's last value minus the time since; None if the time does not run yet."""
    left_ms = live.white_ms if side is Side.WHITE else live.black_ms
    if left_ms is None:
        return None
    return left_ms - (timezone.now() - live.updated_at) // datetime.timedelta(milliseconds=1)
