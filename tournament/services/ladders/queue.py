"""The state of the queue: games being played, games that wait, and when they are likely to start.

The number of queries depends only on the number of running tournaments, not on how many games wait: only
the first few waiting games are read, the others are counted as a whole.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, zip_longest
from operator import itemgetter

from django.conf import settings

from tournament import queues
from tournament.arithmetic.forecast import Forecast, LadderPairs, QueuedPair, forecast
from tournament.arithmetic.matchmaker import Candidate, count_early, draw_pairs, most_pairs_between
from tournament.models import Attempt, Game, Keeper, Matchmaking, Tournament, Worker
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.dispatch.dispatch import of_queue
from tournament.services.dispatch.durations import guess_seconds, seconds_a_game
from tournament.services.dispatch.slots import slots_of
from tournament.services.ladders.candidates import candidates_of
from tournament.services.ladders.matchmaking import find_matchmakers, ladders_with_provisional, seed_of

LISTED = 600
"""Waiting games of a tournament that are read one by one."""
DRAWS_AHEAD = 10_000
"""Pairs times bots of a ladder that are drawn in advance: takes 10 to 20 milliseconds."""
LEAST_AHEAD = 20
"""Pairs that are drawn in advance for any number of bots."""
SILENCE = datetime.timedelta(seconds=60)
"""How long a job may wait for a worker, and the keeper may be silent, before the page reports a problem."""


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """A running tournament in the queue."""

    tournament: Tournament
    playing: int
    sent: int
    """Games queued for a worker."""
    waiting: int
    """Games that are not queued yet."""
    seconds: float
    """Expected duration of a game."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The state of the queue at one time."""

    playing: list[Game]
    """With their players and live moves."""
    events: list[QueuedEvent]
    """In the order in which they are played; without those of ladders."""
    matchmakers: list[Matchmaking]
    candidates: Mapping[str, list[Candidate]]
    slots: int
    """Games that are played at once."""
    forecast: Forecast
    trouble: str
    """What keeps games from being played, as the end of a sentence; empty if nothing does."""


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A claimed game with its attempt."""

    game: Game
    attempt: Attempt

    @property
    def is_played(self) -> bool:
        return hasattr(self.game, "live")


def look(now: datetime.datetime) -> Queue:
    """Everything about the queue of games; validations have a queue of their own."""
    running = Tournament.objects.running().exclude(kind=Tournament.Kind.VALIDATION)
    claimed = _claimed()
    events = [_event(one, claimed) for one in running.order_by("-priority", "started_at", "id")]
    paces = {event.tournament.pk: event.seconds for event in events}
    matchmakers = find_matchmakers()
    candidates = candidates_of([row.ladder_id for row in matchmakers])
    waiting, unlisted_s = _waiting([event for event in events if not event.tournament.is_version_test])
    workers = list(Worker.objects.up().filter(queue=queues.GAMES))
    slots = slots_of(workers) or settings.SLOTS
    ladders = [_to_come(row, candidates[row.ladder_id], paces, now) for row in matchmakers if row.is_at_work]
    found = forecast(
        slots,
        [_left_s(one, paces, now) for one in claimed if one.is_played],
        chain(_sent(claimed, paces), waiting),
        unlisted_s,
        _with_early(ladders, candidates),
    )
    return Queue(
        [one.game for one in claimed if one.is_played],
        [event for event in events if not event.tournament.is_endless],
        matchmakers,
        candidates,
        slots,
        found,
        _trouble(workers, [one.attempt for one in claimed], now),
    )


def _claimed() -> list[_Claimed]:
    """In the order in which they were sent."""
    games = Game.objects.filter(of_queue(queues.GAMES, "tournament"), state=Game.State.CLAIMED)
    by_attempt = {game.attempt: game for game in games.with_players().select_related("live")}
    attempts = Attempt.objects.filter(pk__in=games.values("attempt")).order_by("sent_at", "game")
    return [_Claimed(by_attempt[attempt.pk], attempt) for attempt in attempts if attempt.pk in by_attempt]


def _event(tournament: Tournament, claimed: Sequence[_Claimed]) -> QueuedEvent:
    mine = [one for one in claimed if one.game.tournament_id == tournament.pk]
    playing = sum(one.is_played for one in mine)
    waiting = max(0, tournament.games_total - tournament.games_done - len(mine))
    return QueuedEvent(tournament, playing, len(mine) - playing, waiting, seconds_a_game(tournament))


def _left_s(one: _Claimed, paces: Mapping[int, float], now: datetime.datetime) -> float:
    """Seconds until a game ends; at least one, because a game that is overdue may end at any moment."""
    begun = one.attempt.started_at or now
    return max(1.0, _pace(one.game, paces) - (now - begun).total_seconds())


def _pace(game: Game, paces: Mapping[int, float]) -> float:
    """Expected seconds of such a game; a guess if its tournament was paused in the meantime."""
    known = paces.get(game.tournament_id)
    return known or guess_seconds([game.ladder_id], game.tournament.time_control)


def _sent(claimed: Sequence[_Claimed], paces: Mapping[int, float]) -> list[QueuedPair]:
    games = [one.game for one in claimed if not one.is_played]
    return _pairs([(g.pairing_id, g.ladder_id, g.white_id, g.black_id, _pace(g, paces)) for g in games])


def _waiting(events: Sequence[QueuedEvent]) -> tuple[list[QueuedPair], float]:
    """Pairs in the order in which they will be sent, and the total seconds of the games not listed."""
    waiting: list[QueuedPair] = []
    unlisted_s = 0.0
    for _, rank in groupby(events, key=lambda event: event.tournament.priority):
        lists = []
        for event in rank:
            games = event.tournament.games.filter(state=Game.State.WAITING).order_by("id")
            rows = list(games.values_list("pairing", "ladder", "white", "black")[:LISTED])
            unlisted_s += max(0, event.waiting - len(rows)) * event.seconds
            lists.append(_pairs([(*row, event.seconds) for row in rows]))
        # Tournaments of equal priority take turns, a pair each.
        waiting += (pair for pair in chain.from_iterable(zip_longest(*lists)) if pair)
    return waiting, unlisted_s


def _pairs(games: Sequence[tuple[int, str, int, int, float]]) -> list[QueuedPair]:
    """Consecutive games (pairing, ladder, white, black, seconds) of one pairing as one pair."""
    pairs = []
    for _, rows in groupby(games, key=itemgetter(0)):
        together = list(rows)
        _, ladder, white, black, seconds = together[0]
        pairs.append(QueuedPair(ladder, (white, black), len(together), len(together) * seconds))
    return pairs


def _to_come(
    row: Matchmaking, candidates: Sequence[Candidate], paces: Mapping[int, float], now: datetime.datetime
) -> LadderPairs:
    """The pairs that a matchmaker would make if no new result changed the ratings."""
    bots = max(1, len(candidates))
    count = min(most_pairs_between(bots), max(LEAST_AHEAD, DRAWS_AHEAD // bots))
    due_s = (row.next_at - now).total_seconds() if row.next_at else 0.0
    known = paces.get(row.tournament_id or 0)
    pace = known or guess_seconds([row.ladder_id], row.terms.time_control)
    return LadderPairs(
        row.ladder_id,
        min(max(0.0, due_s), row.interval_s),
        row.interval_s,
        draw_pairs(candidates, row.pairs_made + 1, count, seed_of(row.ladder_id)),
        GAMES_A_PAIR,
        GAMES_A_PAIR * pace,
    )


def _with_early(
    ladders: Sequence[LadderPairs], candidates: Mapping[str, Sequence[Candidate]]
) -> list[LadderPairs]:
    """With the number of pairs that idle workers get before they are due."""
    provisional = ladders_with_provisional([one.ladder for one in ladders])
    return [
        replace(one, early=count_early(candidates[one.ladder], one.pairs, one.games))
        if one.ladder in provisional
        else one
        for one in ladders
    ]


def _unable(conditions: set[str]) -> str:
    """Why no worker takes games, given the conditions of all workers."""
    if not conditions:
        return "no worker is running"
    if conditions == {"held"}:
        return "no worker is able to play"
    if conditions == {"quarantined"}:
        return "every worker is quarantined"
    return "no worker gets games or is able to play them"


def _trouble(workers: Sequence[Worker], attempts: Sequence[Attempt], now: datetime.datetime) -> str:
    keeper = Keeper.objects.first()
    if keeper is None or now - keeper.seen_at > SILENCE:
        return "the record keeper, which sends games to workers, is not running"
    conditions = {worker.condition for worker in workers}
    if conditions <= {"quarantined", "set aside", "held"}:
        return _unable(conditions)
    leases = [attempt.lease_until for attempt in attempts if attempt.lease_until]
    waits_long = any(attempt.lease_until is None and now - attempt.sent_at > SILENCE for attempt in attempts)
    if waits_long and not any(lease >= now for lease in leases):
        return "no worker takes games"
    return ""
