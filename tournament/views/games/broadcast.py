"""The broadcast: of each ladder the game most worth watching, for a wall or a projector.

The page shows the game with both engines, what the strongest other bot says of it, and the event that it
belongs to. Some seconds after the end of a game the page goes on to the next.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.rules.base import Side
from engines.rules.registry import GAMES
from tournament import access
from tournament.models import BotSearch, BotVersion, Game, LadderRating, LiveGame, Tournament
from tournament.queues import ANY_GAME, game_topic, search_topic, tournament_topic
from tournament.services.schedule.own_ratings import rated_tables
from tournament.services.searches.watching import is_due, request_voice, voice_of
from tournament.services.work.analyses import evaluations
from tournament.views.games.board import PlayerPanel, board_context, find_game_for, load_replay
from tournament.views.games.chart import draw_scores
from tournament.views.games.endings import ending_sentence
from tournament.views.games.replay import Replay, ShownMove, replay_of
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.polling import PART, LivePart, is_part, reload
from tournament.views.site.featured import list_running, ratings_of
from tournament.views.sorting import read_sorting
from tournament.views.tournaments.standings import Cross, crosses
from tournament.views.tournaments.tournaments import players_of

END_SECONDS = 12.0
"""How long the end of a game stays on the page."""
TURN_SECONDS = 120
"""The page of all ladders begins with another ladder after so long."""
PAUSE_SECONDS, AGAIN_SECONDS = 0.4, 3.0
EVENT_SECONDS = 3
"""The shortest time between two states of the event, whose tables take many more queries than the board."""
MINUTE = datetime.timedelta(minutes=1)
EVENTS, WAITING = 20, 600
"""Events, and waiting games of each, among which the next game is looked for."""
EMPTY = "none"
"""The state of the page without any game."""
TOP, MAX_CROSSED, COMING = 10, 16, 4
"""Rows of a ladder, most bots with all their meetings, and games that come next."""


@dataclass(frozen=True, slots=True)
class EngineReport:
    """One engine: its latest move, and the line that it expected then with the board at the end of it."""

    panel: PlayerPanel
    move: ShownMove | None
    line: str
    board: SafeString
    draws: bool
    """Whether a line of this game could be drawn; only then the page keeps room for a board."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What another bot says of a position of the game: the move that it would play, and the line."""

    version: BotVersion
    move: ShownMove
    line: str


@require_safe
@vary_on_headers(PART)
def broadcast(request: HttpRequest, code: str = "") -> HttpResponse:
    """The game most worth watching, on one ladder or on any.

    A script gets the game and, if that has changed, its event. There ``game`` is the one on the page.
    """
    if code and code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    running = list_running()
    known = whole_number(request, "game", 0, most=LAST_ID) if is_part(request) else 0
    game = find_shown(request, code, running, known)
    if game is None:
        empty = LivePart(request, EMPTY, (ANY_GAME,), again_s=AGAIN_SECONDS, parameters={})
        if is_part(request):
            return reload() if known else empty.unchanged()
        context = {"code": code, "channels": _channels(running), **_next_context(code)}
        return empty.render("games/broadcast.html", context)
    if is_part(request) and request.GET.get("seen") == EMPTY:
        return reload()
    live, event = getattr(game, "live", None), game.tournament
    known_event = request.GET.get("seen", "").partition(".")[2] if is_part(request) else ""
    event_seen = _event_seen(event, known_event)
    ended = _ended(game)
    plies = f"{len(live.moves)}{'-begun' if live.is_begun else ''}" if live else f"{game.plies}-{ended}"
    voice = _ask(request, game, live) if live and not event.own_workers else None
    seen = f"{game.state}-{game.attempt}-{plies}-{voice.last_ply if voice else ''}.{event_seen}"
    voices = [search_topic(voice.pk)] if voice else []
    topics = (game_topic(game.pk), tournament_topic(event.pk), ANY_GAME, *voices)
    part = LivePart(request, seen, topics, PAUSE_SECONDS, AGAIN_SECONDS, {"game": game.pk})
    if part.is_shown:
        return part.unchanged()
    context = _game_context(request, game, voice) | {"ended": ended}
    if live is None and not _of_ladder(code, running):
        context |= _next_context(code)
    if event_seen != known_event:
        context |= _event_context(request, game)
    if is_part(request):
        return part.render("games/pieces/broadcast.html", context)
    return part.render("games/broadcast.html", {**context, "code": code, "channels": _channels(running)})


def _ask(request: HttpRequest, game: Game, live: LiveGame) -> BotSearch | None:
    """What the strongest other bot says of the game; a page that is being looked at has it say more."""
    voice = voice_of(game)
    if not is_part(request) or not is_due(voice, len(live.moves), timezone.now()):
        return voice
    replay = replay_of(game, None, live)
    moves = [move.token for move in replay.moves]
    return request_voice(game, replay.positions, moves, timezone.now())


def find_shown(request: HttpRequest, code: str, games: Sequence[Game], known: int = 0) -> Game | None:
    """The game to show, of the running ``games``; ``known`` is the one that the page shows, if it shows one.

    None if the page must go on to another, or there is none at all.
    """
    now = timezone.now()
    running = _of_ladder(code, games)
    if known:
        try:
            game = find_game_for(request, known)
        except Http404:
            return None
        is_over = game.finished_at is not None and (now - game.finished_at).total_seconds() > END_SECONDS
        goes_on = hasattr(game, "live") or not running or (game.finished_at is not None and not is_over)
        return game if goes_on else None
    if running:
        return find_game_for(request, choose(running, now).pk)
    ended = Game.objects.filter(finished_at__isnull=False, **({"ladder": code} if code else {}))
    last = access.visible_games(access.PUBLIC, ended).order_by("-finished_at", "-pk").only("pk").first()
    return find_game_for(request, last.pk) if last else None


def _of_ladder(code: str, games: Sequence[Game]) -> list[Game]:
    return [game for game in games if code in {"", game.ladder_id}]


def _ended(game: Game) -> str:
    """When the game ended, as ``ended 12 minutes ago``; empty while it is played."""
    if game.finished_at is None:
        return ""
    now = timezone.now()
    if now - game.finished_at < MINUTE:
        return "ended just now"
    return f"ended {timesince(game.finished_at, now, depth=1)} ago"


def choose(running: Sequence[Game], now: datetime.datetime) -> Game:
    """The game most worth watching of the ladder whose turn it is.

    Those of tournaments come before those of ladders; then the strongest players, the closer the better.
    """
    ladders = sorted({game.ladder_id for game in running})
    ladder = ladders[int(now.timestamp()) // TURN_SECONDS % len(ladders)]
    games = [game for game in running if game.ladder_id == ladder]
    ratings = ratings_of(games)
    events = Tournament.objects.in_bulk({game.tournament_id for game in games})

    def value(game: Game) -> tuple[bool, float, int]:
        one, other = (ratings.get((ladder, version), 0.0) for version in (game.white_id, game.black_id))
        return not events[game.tournament_id].format.is_endless, min(one, other), -game.pk

    return max(games, key=value)


def _channels(running: Sequence[Game]) -> list[tuple[str, str, int]]:
    """Each ladder with its name and the number of its games that are being played."""
    count = Counter(game.ladder_id for game in running)
    return [(code, rules.name, count[code]) for code, rules in GAMES.items()]


def _next_context(code: str) -> dict[str, Any]:
    """What comes when nothing is played on the ladder, or on any: a game that waits, or else an event."""
    visible = access.visible_tournaments(access.PUBLIC).filter(own_workers=False)
    is_idle = {"is_idle": True, "idle_ladder": GAMES.get(code)}
    for event in _with_ladder(visible.running().order_by("-priority", "started_at", "pk"), code):
        waiting = event.games.filter(state=Game.State.WAITING).order_by("pk").values_list("pk", "ladder")
        found = [pk for pk, ladder in waiting[: WAITING if code else 1] if code in {"", ladder}]
        if found:
            return {**is_idle, "next_game": Game.objects.with_players().get(pk=found[0])}
    announced = visible.announced().filter(starts_at__isnull=False).order_by("starts_at", "pk")
    return {**is_idle, "next_event": next(_with_ladder(announced, code), None)}


def _with_ladder(events: QuerySet[Tournament], code: str) -> Iterator[Tournament]:
    """The first ``EVENTS`` of these events that have the ladder, or of all if it is empty."""
    found = (event for event in events.defer("book") if not code or code in event.ladders)
    return islice(found, EVENTS)


def _game_context(request: HttpRequest, game: Game, voice: BotSearch | None) -> dict[str, Any]:
    replay, live, _ = load_replay(game)
    context = board_context(request, game, replay, live)
    panels = {context[end].side: context[end] for end in ("top", "bottom")}
    return {
        **context,
        "game": game,
        "ending": "" if live else ending_sentence(game),
        "engines": [_report(replay, side, panels[side.name.lower()]) for side in Side],
        "voice": _heard(replay, voice) if voice else None,
        "scores": draw_scores(replay),
    }


def _report(replay: Replay, side: Side, panel: PlayerPanel) -> EngineReport:
    move = replay.last_move(side, replay.plies)
    steps = replay.line(move.ply) if move else ()
    board = svg.draw_small(steps[-1].after, last_move=steps[-1].token) if len(steps) > 1 else ""
    draws = any(len(one.note.pv) > 1 for one in replay.moves if one.side is side)
    line = " ".join(step.token for step in steps)
    return EngineReport(panel, move, line, mark_safe(board), draws)  # safe: drawn


def _heard(replay: Replay, voice: BotSearch) -> Voice | None:
    """The last evaluation of a position of this game; None before the first one."""
    ply = voice.last_ply
    if ply is None or ply > replay.plies:
        return None
    said = next(one for one in evaluations(voice, replay.positions[: ply + 1]) if one.ply == ply)
    move = ShownMove(ply, said.side, said.move, said.note, book=False)
    return Voice(voice.version, move, "It resigns." if said.resigns else " ".join(said.line))


def _event_seen(event: Tournament, known: str) -> str:
    """A text that changes with the event, at most once in ``EVENT_SECONDS``; ``known`` is the page's."""
    state = f"{event.pk}-{event.state}-{event.games_done}-{event.games_total}-{event.revision}"
    turn = str(int(timezone.now().timestamp()) // EVENT_SECONDS)
    known_state, _, known_turn = known.rpartition(".")
    is_recent = known_state.startswith(f"{event.pk}-") and known_turn == turn
    return known if is_recent or known_state == state else f"{state}.{turn}"


def _event_context(request: HttpRequest, game: Game) -> dict[str, Any]:
    event = game.tournament
    table: Cross | None = None
    leaders: list[LadderRating] = []
    if event.format.is_endless:
        leaders = LadderRating.objects.placed(islice(LadderRating.objects.places(game.ladder_id), TOP))
    else:
        versions = players_of(event)
        with_meetings = len(versions) <= MAX_CROSSED
        tables = [one for one in rated_tables(event, versions) if one.ladder == game.ladder_id]
        table = next(
            iter(crosses(event, tables, read_sorting(request, {}), with_meetings=with_meetings)), None
        )
    waiting = event.games.filter(state=Game.State.WAITING, ladder=game.ladder_id).order_by("pk")
    return {
        "event": event,
        "tournament": event,
        "cross": table,
        "leaders": leaders,
        "coming": waiting.with_players().select_related("pairing")[:COMING],
        "latest": event.games.latest_result(),
    }
