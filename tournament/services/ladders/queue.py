"""The queue: the games being played, the tournaments that wait, and which game of each bot comes next.

The number of queries depends only on the number of running tournaments, not on how many games wait: only
the first few waiting games of each are read, the others are counted as a whole.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby, zip_longest
from operator import itemgetter
from typing import NamedTuple

from django.core.cache import cache
from django.template.defaultfilters import pluralize

from tournament.arithmetic.matchmaker import can_play, most_pairs_between
from tournament.models import (
    ActiveVersion,
    Attempt,
    BotVersion,
    Game,
    Keeper,
    Matchmaking,
    Tournament,
    Worker,
)
from tournament.services.fair_share import of_work
from tournament.services.ladders.candidates import candidates_of
from workers.jobs import Work

LISTED = 600
"""Waiting games of a tournament that are read one by one."""
SILENCE = datetime.timedelta(seconds=60)
"""How long a job may wait for a worker, and the keeper may be silent, before the page reports a problem."""
KEPT_S = 3
"""Seconds for which a process keeps the state."""
SWITCHED_OFF = "none: its owner has switched it off on this ladder"
_Player = tuple[str, int]
"""A ladder's code and a version's id."""


class NextGame(NamedTuple):
    """What an active version plays next on a ladder."""

    version: int
    bot: int
    owner: int | None
    text: str
    ahead: int | None = None
    """Games that start before its next one; None if no game of it waits."""
    game: int | None = None
    """The game it is playing now."""


class QueuedEvent(NamedTuple):
    """A running tournament; its games that have not begun wait."""

    tournament: int
    playing: int
    waiting: int
    ahead: int
    """Waiting games of tournaments that come before it."""


class QueueState(NamedTuple):
    """The queue of games; validations have another."""

    trouble: str
    """What keeps games from being played, as the end of a sentence; empty if nothing does."""
    playing: list[int]
    """The games being played."""
    events: list[QueuedEvent]
    """In the order in which they are played; without those of ladders."""
    ladders: dict[str, list[NextGame]]
    """All active versions of each ladder: those that play, then by ``ahead``, then by the longest wait."""


def queue_state(now: datetime.datetime) -> QueueState:
    """The queue as it was at most ``KEPT_S`` seconds ago."""
    known: QueueState | None = cache.get("queue-state")
    if known is None:
        known = look(now)
        cache.set("queue-state", known, KEPT_S)
    return known


def look(now: datetime.datetime) -> QueueState:
    claimed = Game.objects.filter(of_work(Work.GAMES, "tournament__"), state=Game.State.CLAIMED)
    attempts = Attempt.objects.filter(pk__in=claimed.values("attempt")).order_by("sent_at", "game")
    games = {game.attempt: game for game in claimed.select_related("live")}
    in_order = [games[attempt.pk] for attempt in attempts if attempt.pk in games]
    playing = [game for game in in_order if hasattr(game, "live")]
    events, ahead = _find_waiting([game for game in in_order if not hasattr(game, "live")], playing)
    now_played = {(g.ladder_id, version): g.pk for g in playing for version in (g.white_id, g.black_id)}
    return QueueState(
        _find_trouble(now),
        [game.pk for game in playing],
        events,
        _next_games(now_played, ahead),
    )


def _find_waiting(
    taken: Sequence[Game], playing: Sequence[Game]
) -> tuple[list[QueuedEvent], dict[_Player, int]]:
    """The tournaments, and how many games start before the next one of each player in them."""
    running = Tournament.objects.running().filter(of_work(Work.GAMES))
    in_order = sorted(running.order_by("-priority", "started_at", "id"), key=_rank)
    events: list[QueuedEvent] = []
    ahead: dict[_Player, int] = {}
    begun = _count_ahead(ahead, ((g.ladder_id, g.white_id, g.black_id) for g in taken), 0)
    for _, together in groupby(in_order, key=_rank):
        rows, waiting = [], 0
        for tournament in together:
            games_playing = sum(game.tournament_id == tournament.pk for game in playing)
            begin = sum(game.tournament_id == tournament.pk for game in taken)
            left = max(0, tournament.games_total - tournament.games_done - games_playing)
            waiting += max(0, left - begin)
            listed = tournament.games.filter(state=Game.State.WAITING).order_by("id")
            rows.append(listed.values_list("ladder", "white", "black")[:LISTED])
            if not tournament.format.is_endless:
                events.append(QueuedEvent(tournament.pk, games_playing, left, begun))
        # Tournaments of equal priority take turns.
        _count_ahead(ahead, filter(None, chain.from_iterable(zip_longest(*rows))), begun)
        begun += waiting
    return events, ahead


def _rank(tournament: Tournament) -> tuple[bool, int]:
    """Version tests come after all others."""
    return tournament.format.is_background, -tournament.priority


def _count_ahead(ahead: dict[_Player, int], games: Iterable[tuple[str, int, int]], begun: int) -> int:
    """Adds the players that are not in ``ahead`` yet; returns how many games start before a further one."""
    for ladder, *players in games:
        for version in players:
            ahead.setdefault((ladder, version), begun)
        begun += 1
    return begun


def _next_games(playing: Mapping[_Player, int], ahead: Mapping[_Player, int]) -> dict[str, list[NextGame]]:
    rows = {row.ladder_id: row for row in Matchmaking.objects.of_ladders()}
    candidates = candidates_of(list(rows))
    last = {(code, one.version): one.last or 0 for code in rows for one in candidates[code]}
    playable = {(code, version) for code in rows for version in can_play(candidates[code])}
    columns = ("ladder", "version", "bot", "bot__owner", "enabled")
    active = ActiveVersion.objects.filter(ladder__in=rows).order_by("bot__name_key").values_list(*columns)
    found: dict[str, list[tuple[tuple[int, int], NextGame]]] = {code: [] for code in rows}
    for code, version, bot, owner, enabled in active:
        who, player = (version, bot, owner), (code, version)
        if player in playing:
            place, one = (0, 0), NextGame(*who, "playing now", 0, playing[player])
        elif player in ahead:
            place, one = (1, ahead[player]), NextGame(*who, _describe_ahead(ahead[player]), ahead[player])
        elif enabled and rows[code].is_at_work and player in playable:
            pairs = most_pairs_between(len(candidates[code]))
            place, one = (2, last[player]), NextGame(*who, f"within the next {pairs} pairs of this ladder")
        else:
            place, one = (3, 0), NextGame(*who, _why_none(rows[code], enabled))
        found[code].append((place, one))
    return {code: [one for _, one in sorted(games, key=itemgetter(0))] for code, games in found.items()}


def _describe_ahead(games: int) -> str:
    return f"after {games} more game{pluralize(games)}" if games else "it is next"


def _why_none(row: Matchmaking, enabled: bool) -> str:
    """Why the matchmaker will not choose a bot."""
    if not enabled:
        return SWITCHED_OFF
    if row.rate == 0:
        return "only in tournaments (matchmaker off)"
    if row.is_paused:
        return "only in tournaments (matchmaker paused)"
    return "none: no bot of another owner is active here"


def _find_trouble(now: datetime.datetime) -> str:
    keeper = Keeper.objects.first()
    if keeper is None or now - keeper.seen_at > SILENCE:
        return "the record keeper, which stores results, is not running"
    conditions = {worker.condition for worker in Worker.objects.up().taking(Work.GAMES)}
    if conditions <= {"quarantined", "barred", "held"}:
        return _why_unable(conditions)
    return ""


def _why_unable(conditions: set[str]) -> str:
    """Why no worker takes games, given the conditions of all workers."""
    if not conditions:
        return "no worker is running"
    if conditions == {"held"}:
        return "no worker is able to play"
    if conditions == {"quarantined"}:
        return "every worker is quarantined"
    return "no worker gets games or is able to play them"


def next_games_of(
    state: QueueState, rows: Iterable[ActiveVersion], validating: Iterable[BotVersion] = ()
) -> dict[str, NextGame]:
    """The next games of a bot by ladder, from the rows of its active versions.

    Where it has none, those of its versions in ``validating`` come after their validation.
    """
    rows = [row for row in rows if row.ladder_id in state.ladders]
    bots = {row.bot_id for row in rows}
    known = {
        (code, one.version): one for code, games in state.ladders.items() for one in games if one.bot in bots
    }
    found = {}
    for row in rows:
        one = known.get((row.ladder_id, row.version_id))
        if not row.enabled:
            found[row.ladder_id] = NextGame(row.version_id, row.bot_id, None, SWITCHED_OFF)
        elif one is None or one.text == SWITCHED_OFF:  # changed since
            found[row.ladder_id] = NextGame(row.version_id, row.bot_id, None, "not known yet")
        else:
            found[row.ladder_id] = one
    for version in validating:
        for code in version.games:
            if code in state.ladders:
                found.setdefault(code, after_validation(version))
    return found


def after_validation(version: BotVersion) -> NextGame:
    return NextGame(version.pk, version.bot_id, version.bot.owner_id, "after it has passed its validation")
