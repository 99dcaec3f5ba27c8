"""Cuts waiting games into batches, claims them and sends each to one worker, as a message of ``GameJob``s.

A batch is some pairs of games of one tournament; one worker plays them one after another, as one job.

Sending a message takes about a millisecond, starting two engines several. So a message must hold many pairs
if games take milliseconds. If games take minutes it must hold one, so that other workers can play the rest.
The size of a batch therefore follows from the recent game durations of its players; a pair with a player
without recent games is a batch of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from engines.timecontrol import parse_time_control
from tournament import queues
from tournament.models import Attempt, BotVersion, Game, Pairing, Tournament
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.dispatch.durations import guess_game_seconds, seconds_by_version
from tournament.services.locks import lock
from workers.jobs import EngineSpec, GameJob, JobGame
from workers.service.messaging.signing import own_queue

BATCH_SECONDS = 2.0
"""Target duration of a batch: short, so that a worker soon gets another and a pause soon takes effect."""
LONG_SECONDS = 10.0
"""A batch that takes longer is sent only to a free slot: no other batch shall wait behind it."""
MOST_WAIT_SECONDS = 30.0
"""Batches that take longer leave slots free (``turns``): no owner shall wait longer for a slot."""
UNTIMED_GAME_SECONDS = 60.0
"""What a game without a clock is expected to take between players without recent games."""
PREEMPTED_FACTOR = 2.0
"""A game that was preempted is expected to take so many times the seconds that it had been played."""
MAX_PAIRS = 64
FIRST_READ, MOST_READ = 64, 8192
"""How many waiting games of a tournament are read at once: each time twice as many, up to the second."""


@dataclass(frozen=True, slots=True)
class GameBatch:
    """Pairing ids of one tournament, in the order in which they are played."""

    tournament: int
    pairings: tuple[int, ...]
    seconds: float = 0.0
    """How long its games are expected to take."""

    @property
    def is_long(self) -> bool:
        return self.seconds > LONG_SECONDS


@dataclass(frozen=True, slots=True)
class WaitingPair:
    """A pairing with its ladder and both players, the lower id first."""

    pairing: int
    ladder: str
    players: tuple[int, int]


def cut_batches(
    tournament: int,
    time_control: str,
    preempted: Mapping[int, float] | None = None,
    first: WaitingPair | None = None,
) -> Iterator[GameBatch]:
    """Cut a running tournament's waiting pairings, in order, into batches; reads only what is taken.

    Within a batch, pairings of the same players follow each other, so that their engines keep running.
    ``preempted`` has the seconds that preempted games had been played, by pairing. ``first`` is the first
    pairing, if it is known: if it is a batch alone, nothing is read for it.
    """
    expect = _expectation(time_control, preempted or {})
    pairs: list[WaitingPair] = []
    taken = 0.0
    if first is not None and (seconds := expect(first)[0]) > BATCH_SECONDS:
        yield _batch(tournament, [first], seconds)
    else:
        first = None
    for meeting in _waiting_pairs(tournament):
        if meeting == first:
            continue
        seconds, is_alone = expect(meeting)
        if pairs and (is_alone or taken + seconds > BATCH_SECONDS or len(pairs) == MAX_PAIRS):
            yield _batch(tournament, pairs, taken)
            pairs, taken = [], 0.0
        pairs.append(meeting)
        taken += seconds
    if pairs:
        yield _batch(tournament, pairs, taken)


def first_pairs(games: Collection[int]) -> dict[int, WaitingPair]:
    """The pairings of these games, by tournament."""
    rows = Game.objects.filter(pk__in=games).values_list("tournament_id", *_PAIR)
    return {tournament: _pair_of(*row) for tournament, *row in rows}


def _batch(tournament: int, pairs: Sequence[WaitingPair], seconds: float) -> GameBatch:
    ordered = sorted(pairs, key=lambda meeting: (meeting.ladder, meeting.players))
    return GameBatch(tournament, tuple(meeting.pairing for meeting in ordered), seconds)


def _expectation(
    time_control: str, preempted: Mapping[int, float]
) -> Callable[[WaitingPair], tuple[float, bool]]:
    """The seconds that a pairing is expected to take, and whether it is a batch alone."""
    known = cache(lambda ladder: seconds_by_version(ladder, time_control))
    guess = cache(lambda ladder: _guess(ladder, time_control))

    def expect(pair: WaitingPair) -> tuple[float, bool]:
        durations = known(pair.ladder)
        is_known = all(player in durations for player in pair.players)
        a_game = max(durations[player] for player in pair.players) if is_known else guess(pair.ladder)
        if pair.pairing in preempted:
            a_game = max(a_game, PREEMPTED_FACTOR * preempted[pair.pairing])
            is_known = False
        return GAMES_A_PAIR * a_game, not is_known

    return expect


def _guess(ladder: str, time_control: str) -> float:
    """Seconds of a game between players without recent games.

    Limits of nodes or depth do not count, because a bot may take any time for them: games without a clock
    are expected to be long.
    """
    control = parse_time_control(time_control)
    if not control.is_timed:
        return UNTIMED_GAME_SECONDS
    return guess_game_seconds([ladder], replace(control, nodes=None, depth=None))


_PAIR = ("pairing_id", "ladder_id", "white_id", "black_id")


def _pair_of(pairing: int, ladder: str, white: int, black: int) -> WaitingPair:
    return WaitingPair(pairing, ladder, (min(white, black), max(white, black)))


def _waiting_pairs(tournament: int) -> Iterator[WaitingPair]:
    """Pairings with waiting games, in order."""
    waiting = Game.objects.filter(tournament_id=tournament, state=Game.State.WAITING).order_by("id")
    rows = waiting.values_list("id", *_PAIR)
    seen: set[int] = set()
    last, size = 0, FIRST_READ
    while found := list(rows.filter(id__gt=last)[:size]):
        for _, *row in found:
            if row[0] not in seen:
                seen.add(row[0])
                yield _pair_of(*row)
        if len(found) < size:
            return
        last, size = found[-1][0], min(2 * size, MOST_READ)


@transaction.atomic
def claim(assigned: Sequence[tuple[GameBatch, str]], kind: str) -> int:
    """Claim the waiting games of batches and send each on commit to its worker; returns how many games.

    Each batch comes with the name of its worker; ``kind`` is that of the workers' queues. A batch that cannot
    be sent is logged and stops no other: its games wait again when the sweep finds that no worker has them.
    """
    tournaments = {batch.tournament for batch, _ in assigned}
    locked = lock(Tournament.objects.running().filter(pk__in=tournaments))
    running = {tournament.pk: tournament for tournament in locked}
    assigned = [(batch, worker) for batch, worker in assigned if batch.tournament in running]
    pairings = Pairing.objects.in_bulk([pk for batch, _ in assigned for pk in batch.pairings])
    engines = _engines(pairings.values())
    waiting = _waiting_games(pairings)
    attempts: list[dict[str, Any]] = []
    for batch, worker in assigned:
        job, tournament, jobs = uuid.uuid4(), running[batch.tournament], []
        sent: dict[str, Any] = {
            "job": job,
            "assigned": worker,
            "is_long": batch.is_long,
            "sent_at": timezone.now(),  # one for each batch: the sweep compares which of two was sent first
        }
        each = batch.seconds / max(1, sum(len(waiting.get(pk, ())) for pk in batch.pairings))
        for pk in batch.pairings:
            if games := waiting.get(pk):
                tries = [
                    {"id": uuid.uuid4(), "game_id": game, "expected_s": each, **sent} for game, _, _ in games
                ]
                job_games = (
                    JobGame(key, str(one["id"]), 1 - number % 2)
                    for one, (_, key, number) in zip(tries, games, strict=True)
                )
                jobs.append(_job(job, pairings[pk], tournament, engines, tuple(job_games)))
                attempts += tries
        if jobs:
            queues.send_on_commit(queues.send_jobs, jobs, own_queue(kind, worker))
    _store_claims(attempts)
    return len(attempts)


def _waiting_games(pairings: Collection[int]) -> dict[int, list[tuple[int, str, int]]]:
    """By pairing: id, key and number of the games that still wait."""
    found: dict[int, list[tuple[int, str, int]]] = {}
    waiting = Game.objects.filter(pairing__in=pairings, state=Game.State.WAITING).order_by("id")
    for pairing, game, key, number in waiting.values_list("pairing_id", "id", "key", "number"):
        found.setdefault(pairing, []).append((game, key, number))
    return found


def _store_claims(attempts: Sequence[dict[str, Any]]) -> None:
    """Claim each game under the condition that it waits."""
    claims = [
        (
            {"state": Game.State.CLAIMED, "attempt": attempt["id"]},
            {"id": attempt["game_id"], "state": Game.State.WAITING},
        )
        for attempt in attempts
    ]
    if (claimed := update_rows(Game, claims)) != len(claims):
        raise DatabaseError(f"{claimed} of {len(claims)} games could be claimed, all is undone")
    insert_rows(Attempt, attempts)


def _engines(pairings: Collection[Pairing]) -> dict[int, EngineSpec]:
    """By version id."""
    players = {pk for pairing in pairings for pk in (pairing.first_id, pairing.second_id)}
    versions = BotVersion.objects.filter(pk__in=players).select_related("bot")
    return {version.pk: engine_spec(version) for version in versions}


def _job(
    job: uuid.UUID,
    pairing: Pairing,
    tournament: Tournament,
    engines: dict[int, EngineSpec],
    games: tuple[JobGame, ...],
) -> GameJob:
    return GameJob(
        job=str(job),
        game=pairing.ladder_id,
        engines=(engines[pairing.first_id], engines[pairing.second_id]),
        games=games,
        time_control=tournament.time_control,
        opening=pairing.opening_moves,
        fen=pairing.fen or None,
        ply_limit=tournament.ply_limit,
        seed=pairing.seed,
    )


def engine_spec(version: BotVersion) -> EngineSpec:
    """How a worker starts this version, and its name in records."""
    return EngineSpec(
        name=version.bot.name,
        version=str(version.number),
        command=tuple(version.command),
        bundle=version.bundle_id,
        options=tuple(version.options.items()),
    )
