"""The queue: the games being played, the tournaments that wait, and which game of each bot comes next.

The number of queries depends only on the number of running tournaments, not on how many games wait: only
the first few waiting games of each are read, the others are counted as a whole.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, product, zip_longest
from typing import NamedTuple

from django.template.defaultfilters import pluralize

from tournament.caches import cache
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
from tournament.services.fair_share import played_by
from tournament.services.ladders.candidates import with_opponents
from workers.jobs import Work

LISTED = 600
"""Waiting games of a tournament that are read one by one."""
SILENCE = datetime.timedelta(seconds=60)
"""How long a job may wait for a worker, and the keeper may be silent, before the page reports a problem."""
KEPT_SECONDS = 3
"""Seconds for which a process keeps the state."""
SWITCHED_OFF = "none: its owner has switched it off on this ladder"
_UNABLE = {
    frozenset[str](): "no worker is running",
    frozenset({"held"}): "no worker is able to play",
    frozenset({"quarantined"}): "every worker is quarantined",
}
"""Why no worker takes games, by the conditions of all workers; other sets have one sentence."""
_Player = tuple[str, int]
"""A ladder's code and a version's id."""


class NextGame(NamedTuple):
    """What an active version plays next on a ladder."""

    text: str
    owner: int | None = None
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
    """The events in the order in which they are played; without those of ladders."""
    ladders: dict[str, dict[int, NextGame]]
    """The active versions of each ladder: those that play, then by ``ahead``, then those with no game."""


def queue_state(now: datetime.datetime) -> QueueState:
    """The queue as it was at most ``KEPT_SECONDS`` seconds ago."""
    known: QueueState | None = cache.get("queue-state")
    if known is None:
        known = read_queue(now)
        cache.set("queue-state", known, KEPT_SECONDS)
    return known


def read_queue(now: datetime.datetime) -> QueueState:
    claimed = Game.objects.filter(played_by(Work.GAMES, "tournament__"), state=Game.State.CLAIMED)
    attempts = Attempt.objects.filter(pk__in=claimed.values("attempt")).order_by("sent_at", "game")
    games = {game.attempt: game for game in claimed.select_related("live")}
    in_order = [games[attempt.pk] for attempt in attempts if attempt.pk in games]
    playing = [game for game in in_order if hasattr(game, "live")]
    events, ahead = _find_waiting([game for game in in_order if not hasattr(game, "live")], playing)
    now_played = {(g.ladder_id, version): g.pk for g in playing for version in (g.white_id, g.black_id)}
    return QueueState(
        _find_trouble(now), [game.pk for game in playing], events, _next_games(now_played, ahead)
    )


def next_game_of(state: QueueState, active: ActiveVersion) -> NextGame:
    """The next game of an active version, whose row may be newer than the state."""
    if not active.enabled:
        return NextGame(SWITCHED_OFF)
    known = state.ladders[active.ladder_id].get(active.version_id)
    return NextGame("not known yet") if known is None or known.text == SWITCHED_OFF else known


def _find_waiting(
    taken: Sequence[Game], playing: Sequence[Game]
) -> tuple[list[QueuedEvent], dict[_Player, int]]:
    """The tournaments, and how many games start before the next one of each player in them."""
    begin, played = (Counter(game.tournament_id for game in games) for games in (taken, playing))
    running = Tournament.objects.running().filter(played_by(Work.GAMES))
    in_order = sorted(running.order_by("-priority", "started_at", "id"), key=_rank)
    events: list[QueuedEvent] = []
    ahead: dict[_Player, int] = {}
    _count_ahead(ahead, ((game.ladder_id, game.white_id, game.black_id) for game in taken), 0)
    begun = len(taken)
    for _, together in groupby(in_order, key=_rank):
        rows: defaultdict[int | None, list[Iterable[tuple[str, int, int]]]] = defaultdict(list)
        waiting = 0
        for tournament in together:
            left = max(0, tournament.games_total - tournament.games_done - played[tournament.pk])
            waiting += max(0, left - begin[tournament.pk])
            listed = tournament.games.filter(state=Game.State.WAITING).order_by("id")
            rows[tournament.owner_id].append(listed.values_list("ladder", "white", "black")[:LISTED])
            if not tournament.format.is_endless:
                events.append(QueuedEvent(tournament.pk, played[tournament.pk], left, begun))
        # Of equal priority owners take turns, and an owner's tournaments his.
        _count_ahead(ahead, _in_turn(_in_turn(own) for own in rows.values()), begun)
        begun += waiting
    return events, ahead


def _rank(tournament: Tournament) -> tuple[bool, int]:
    """Version tests come after all others."""
    return tournament.format.is_sequential, -tournament.priority


def _in_turn(rows: Iterable[Iterable[tuple[str, int, int]]]) -> Iterator[tuple[str, int, int]]:
    return filter(None, chain.from_iterable(zip_longest(*rows)))


def _count_ahead(ahead: dict[_Player, int], games: Iterable[tuple[str, int, int]], begun: int) -> None:
    """Add the players that are not in ``ahead`` yet; ``begun`` games start before the first of these."""
    for before, (ladder, *players) in enumerate(games, begun):
        for version in players:
            ahead.setdefault((ladder, version), before)


def _next_games(
    playing: Mapping[_Player, int], ahead: Mapping[_Player, int]
) -> dict[str, dict[int, NextGame]]:
    rows = {row.ladder_id: row for row in Matchmaking.objects.of_ladders()}
    active = ActiveVersion.objects.filter(ladder__in=rows).order_by("-enabled", "bot__name_key")
    columns = ("ladder", "version", "bot__owner", "enabled", "version__state")
    in_order = list(active.values_list(*columns))
    playable = _with_opponents(in_order)
    cases = list(product((False, True), repeat=2))
    prospects = {code: {case: _prospect(row, *case) for case in cases} for code, row in rows.items()}
    found: dict[str, list[tuple[int, NextGame]]] = {code: [] for code in rows}
    for code, version, owner, enabled, _ in in_order:
        game, before = playing.get((code, version)), ahead.get((code, version))
        if game is not None:
            one = NextGame("playing now", owner, 0, game)
        elif before is not None:
            text = f"after {before} more game{pluralize(before)}" if before else "it is next"
            one = NextGame(text, owner, before)
        else:
            one = NextGame(prospects[code][enabled, version in playable[code]], owner)
        found[code].append((version, one))
    return {code: dict(sorted(games, key=_order)) for code, games in found.items()}


def _with_opponents(active: Iterable[tuple[str, int, int | None, bool, str]]) -> dict[str, Collection[int]]:
    """By ladder the versions that have an opponent."""
    owners: dict[str, dict[int, int | None]] = {}
    for code, version, owner, enabled, state in active:
        playing = owners.setdefault(code, {})
        if enabled and state == BotVersion.State.VALID:
            playing[version] = owner
    return with_opponents(owners)


def _order(row: tuple[int, NextGame]) -> tuple[bool, bool, int]:
    _, one = row
    return one.game is None, one.ahead is None, one.ahead or 0


def _prospect(row: Matchmaking, enabled: bool, has_opponent: bool) -> str:
    """When a bot plays for which no game waits, or why it will not."""
    if not enabled:
        return SWITCHED_OFF
    if row.rate == 0:
        return "only in tournaments (matchmaker off)"
    if row.is_paused:
        return "only in tournaments (matchmaker paused)"
    if has_opponent:
        return "as soon as the matchmaker chooses it"
    return "none: no bot of another owner is active here"


def _find_trouble(now: datetime.datetime) -> str:
    keeper = Keeper.objects.first()
    if keeper is None or now - keeper.seen_at > SILENCE:
        return "the record keeper, which stores results, is not running"
    conditions = frozenset(worker.condition for worker in Worker.objects.up().taking(Work.GAMES))
    if conditions <= {"quarantined", "barred", "held"}:
        return _UNABLE.get(conditions, "no worker gets games or is able to play them")
    return ""
