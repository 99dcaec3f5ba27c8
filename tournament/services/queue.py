"""The queue as it stands: what is played, what waits, and when it will likely be its turn.

All of it is read in a number of queries that depends on the running tournaments alone, not on how many
games wait: of those only the first few are looked at, the others are counted as a whole.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from operator import itemgetter

from django.conf import settings

from tournament import broker
from tournament.matchmaker import Candidate, draw_pairs, most_pairs_between
from tournament.models import Attempt, Game, Keeper, Matchmaking, Tournament, Worker
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.outlook import Forecast, LadderPairs, QueuedPair, forecast
from tournament.services.candidates import candidates_of
from tournament.services.dispatch import of_queue
from tournament.services.durations import guess_seconds, seconds_a_game
from tournament.services.matchmaking import find_matchmakers, seed_of
from tournament.services.slots import slots_of

LISTED = 600
"""Waiting games of a tournament that are looked at one by one."""
DRAWS_AHEAD = 10_000
"""Pairs times bots of a ladder that are drawn ahead of their time: a hundredth of a second or two."""
LEAST_AHEAD = 20
"""Pairs that are, however many bots there are."""
SILENCE = datetime.timedelta(seconds=60)
"""For so long a job may wait for a worker to take it, and the keeper may rest, before anything is wrong."""


@dataclass(frozen=True, slots=True)
class Event:
    """A running tournament in the queue."""

    tournament: Tournament
    playing: int
    sent: int
    """Games on their way to a worker."""
    waiting: int
    """Games that are not sent yet."""
    seconds: float
    """Of a game."""


@dataclass(frozen=True, slots=True)
class Queue:
    """How it stands at a moment."""

    playing: list[Game]
    """With their players and how far they have come."""
    events: list[Event]
    """In the order in which they are played; not those of ladders."""
    matchmakers: list[Matchmaking]
    candidates: Mapping[str, list[Candidate]]
    slots: int
    """Games that are played at once."""
    forecast: Forecast
    trouble: str
    """What keeps games from being played, the end of a sentence; empty if nothing does."""


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A game with the attempt that holds it."""

    game: Game
    attempt: Attempt

    @property
    def is_played(self) -> bool:
        return hasattr(self.game, "live")


def look(now: datetime.datetime) -> Queue:
    """All about the queue of games; validations have a queue of their own."""
    running = Tournament.objects.running().exclude(kind=Tournament.Kind.VALIDATION)
    claimed = _claimed()
    events = [_event(one, claimed) for one in running.order_by("-priority", "started_at", "id")]
    paces = {event.tournament.pk: event.seconds for event in events}
    matchmakers = find_matchmakers()
    candidates = candidates_of([row.ladder_id for row in matchmakers])
    waiting, unlisted_s = _waiting(events)
    workers = list(Worker.objects.up().filter(queue=broker.GAMES))
    slots = slots_of(workers) or settings.SLOTS
    found = forecast(
        slots,
        [_left_s(one, paces, now) for one in claimed if one.is_played],
        chain(_sent(claimed, paces), waiting),
        unlisted_s,
        [_to_come(row, candidates[row.ladder_id], paces, now) for row in matchmakers if row.is_at_work],
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
    games = Game.objects.filter(of_queue(broker.GAMES, "tournament"), state=Game.State.CLAIMED)
    by_attempt = {game.attempt: game for game in games.with_players().select_related("live")}
    attempts = Attempt.objects.filter(pk__in=games.values("attempt")).order_by("sent_at", "game")
    return [_Claimed(by_attempt[attempt.pk], attempt) for attempt in attempts if attempt.pk in by_attempt]


def _event(tournament: Tournament, claimed: Sequence[_Claimed]) -> Event:
    mine = [one for one in claimed if one.game.tournament_id == tournament.pk]
    playing = sum(one.is_played for one in mine)
    waiting = max(0, tournament.games_total - tournament.games_done - len(mine))
    return Event(tournament, playing, len(mine) - playing, waiting, seconds_a_game(tournament))


def _left_s(one: _Claimed, paces: Mapping[int, float], now: datetime.datetime) -> float:
    """What a game will still take; one that lasts long already may end at any moment."""
    begun = one.attempt.started_at or now
    return max(1.0, _pace(one.game, paces) - (now - begun).total_seconds())


def _pace(game: Game, paces: Mapping[int, float]) -> float:
    """Seconds of such a game; its tournament may have been paused meanwhile."""
    known = paces.get(game.tournament_id)
    return known or guess_seconds([game.ladder_id], game.tournament.time_control)


def _sent(claimed: Sequence[_Claimed], paces: Mapping[int, float]) -> list[QueuedPair]:
    games = [one.game for one in claimed if not one.is_played]
    return _pairs([(g.pairing_id, g.ladder_id, g.white_id, g.black_id, _pace(g, paces)) for g in games])


def _waiting(events: Sequence[Event]) -> tuple[list[QueuedPair], float]:
    """Pairs in the order in which they will be sent, and the seconds of what is not listed."""
    waiting: list[QueuedPair] = []
    unlisted_s = 0.0
    for _, rank in groupby(events, key=lambda event: event.tournament.priority):
        lists = []
        for event in rank:
            games = event.tournament.games.filter(state=Game.State.WAITING).order_by("id")
            rows = list(games.values_list("pairing", "ladder", "white", "black")[:LISTED])
            unlisted_s += max(0, event.waiting - len(rows)) * event.seconds
            lists.append(_pairs([(*row, event.seconds) for row in rows]))
        # Equals take turns, a pair each.
        waiting += (pair for pair in chain.from_iterable(zip_longest(*lists)) if pair)
    return waiting, unlisted_s


def _pairs(games: Sequence[tuple[int, str, int, int, float]]) -> list[QueuedPair]:
    """Games (pairing, ladder, white, black, seconds) that follow one another in a pairing are one pair."""
    pairs = []
    for _, rows in groupby(games, key=itemgetter(0)):
        together = list(rows)
        _, ladder, white, black, seconds = together[0]
        pairs.append(QueuedPair(ladder, (white, black), len(together), len(together) * seconds))
    return pairs


def _to_come(
    row: Matchmaking, candidates: Sequence[Candidate], paces: Mapping[int, float], now: datetime.datetime
) -> LadderPairs:
    """What a matchmaker would make if nothing were learnt from the games until then."""
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


def _unable(conditions: set[str]) -> str:
    """Why no worker takes games where each is in one of these conditions."""
    if not conditions:
        return "no worker is running"
    if conditions == {"held"}:
        return "no worker finds itself able to play"
    if conditions == {"quarantined"}:
        return "every worker is quarantined"
    return "no worker is given games or able to play them"


def _trouble(workers: Sequence[Worker], attempts: Sequence[Attempt], now: datetime.datetime) -> str:
    keeper = Keeper.objects.first()
    if keeper is None or now - keeper.seen_at > SILENCE:
        return "the record keeper, which gives games out, is not running"
    conditions = {worker.condition for worker in workers}
    if conditions <= {"quarantined", "set aside", "held"}:
        return _unable(conditions)
    leases = [attempt.lease_until for attempt in attempts if attempt.lease_until]
    waits_long = any(attempt.lease_until is None and now - attempt.sent_at > SILENCE for attempt in attempts)
    if waits_long and not any(lease >= now for lease in leases):
        return "no worker takes games"
    return ""
