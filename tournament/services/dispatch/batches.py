"""Cuts waiting games into batches, claims them and sends each to one worker, as a message of ``GameJob``s.

A batch is some pairs of games of one tournament; one worker plays them one after another.

Sending a message takes about a millisecond, starting two engines several. So a message must hold many pairs
if games take milliseconds. If games take minutes it must hold one, so that other workers can play the rest.
The size of a batch therefore follows from the recent game durations of its players; a pair with a player
without recent games is a batch of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from engines.timecontrol import format_time_control, parse_time_control
from tournament import queues
from tournament.models import Attempt, BotVersion, Game, Pairing, Tournament
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.dispatch.durations import guess_seconds, seconds_by_version
from workers.jobs import EngineSpec, GameJob, JobGame
from workers.service.messaging.signing import own_queue

BATCH_SECONDS = 2.0
"""Target duration of a batch: short, so that a worker soon gets another and a pause soon takes effect."""
LONG_SECONDS = 10.0
"""A batch that takes longer is sent only to a free slot: no other batch shall wait behind it."""
UNTIMED_GAME_SECONDS = 60.0
"""What a game without a clock is expected to take between players without recent games."""
MAX_PAIRS = 64
MOST_READ = 10_000
"""Most waiting games of a tournament that are read at once."""


@dataclass(frozen=True, slots=True)
class GameBatch:
    """Pairing ids of one tournament, in the order in which they are played."""

    tournament: int
    pairings: tuple[int, ...]
    seconds: float = 0.0
    """How long its games are expected to take."""


def cut_batches(tournament: int, time_control: str, most: int) -> Iterator[GameBatch]:
    """Cut a running tournament's waiting pairings, in order, into at most about ``most`` batches.

    Within a batch, pairings of the same players follow each other, so that their engines keep running.
    """
    meetings = _waiting_meetings(tournament, most * MAX_PAIRS * GAMES_A_PAIR)
    known = cache(lambda ladder: seconds_by_version(ladder, time_control))
    guess = cache(lambda ladder: _guess(ladder, time_control))
    pairs: list[int] = []
    taken = 0.0
    for pairing, (ladder, *players) in meetings.items():
        is_known = all(player in known(ladder) for player in players)
        seconds = max(known(ladder)[player] for player in players) if is_known else guess(ladder)
        seconds *= GAMES_A_PAIR
        is_full = taken + seconds > BATCH_SECONDS or len(pairs) == MAX_PAIRS or not is_known
        if pairs and is_full:
            yield GameBatch(tournament, tuple(sorted(pairs, key=meetings.__getitem__)), taken)
            pairs, taken = [], 0.0
        pairs.append(pairing)
        taken += seconds
    if pairs:
        yield GameBatch(tournament, tuple(sorted(pairs, key=meetings.__getitem__)), taken)


def _guess(ladder: str, time_control: str) -> float:
    """Seconds of a game between players without recent games.

    Limits of nodes or depth do not count, because a bot may take any time for them: games without a clock
    are expected to be long.
    """
    control = parse_time_control(time_control)
    if not control.is_timed:
        return UNTIMED_GAME_SECONDS
    return guess_seconds([ladder], format_time_control(replace(control, nodes=None, depth=None)))


def _waiting_meetings(tournament: int, games: int) -> dict[int, tuple[str, int, int]]:
    """Pairings with waiting games, in order: the ladder and both players, the lower id first."""
    waiting = Game.objects.filter(tournament_id=tournament, state=Game.State.WAITING).order_by("id")
    rows = waiting.values_list("pairing_id", "ladder_id", "white_id", "black_id")
    return {
        pairing: (ladder, min(white, black), max(white, black))
        for pairing, ladder, white, black in rows[: min(games, MOST_READ)]
    }


@transaction.atomic
def claim(assigned: Sequence[tuple[GameBatch, str]], kind: str) -> int:
    """Claim the waiting games of batches and send each on commit to its worker; returns how many games.

    Each batch comes with the name of its worker; ``kind`` is that of the workers' queues.
    """
    # Protects from a cancellation at the same time, which takes the same lock first.
    tournaments = {batch.tournament for batch, _ in assigned}
    locked = Tournament.objects.select_for_update().running().filter(pk__in=tournaments)
    running = {tournament.pk: tournament for tournament in locked.order_by("pk")}
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
            "is_long": batch.seconds > LONG_SECONDS,
            "sent_at": timezone.now(),  # one for each batch: the sweep compares which of two was sent first
        }
        for pk in batch.pairings:
            if games := waiting.get(pk):
                each = batch.seconds / (GAMES_A_PAIR * len(batch.pairings))
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
            transaction.on_commit(partial(queues.send_jobs, jobs, own_queue(kind, worker)))
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
