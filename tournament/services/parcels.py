"""Parcels: the pairs of games that travel in one message and are played one after another by one worker.

A message costs about a millisecond on its way, starting two engines several: with games of milliseconds a
message must hold many pairs. With games of minutes it must hold one, or nobody else could play the others.
So a parcel is sized by what its players' games took lately, and who is not known yet plays a pair alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from tournament import broker
from tournament.models import Attempt, BotVersion, Game, Pairing, Tournament
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.durations import seconds_by_version
from workers.jobs import EngineSpec, GameJob, JobGame

PARCEL_SECONDS = 2.0
"""What a parcel should take: a worker's next one is never far, and a pause or a cancellation neither."""
MAX_PAIRS = 64
MOST_READ = 10_000
"""Waiting games of a tournament that are looked at at once."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Pairings of one tournament, by their ids, in the order in which they are to be played."""

    tournament: int
    pairings: tuple[int, ...]


def cut_parcels(tournament: int, time_control: str, most: int) -> Iterator[Parcel]:
    """A running tournament's waiting pairings in their order, cut into at most about ``most`` parcels.

    Within a parcel those who meet again meet at once, so that their engines need not be started anew.
    """
    meetings = _waiting_meetings(tournament, most * MAX_PAIRS * GAMES_A_PAIR)
    known = cache(lambda ladder: seconds_by_version(ladder, time_control))
    pairs: list[int] = []
    taken = 0.0
    for pairing, (ladder, *players) in meetings.items():
        seconds = max(known(ladder).get(player, PARCEL_SECONDS) for player in players) * GAMES_A_PAIR
        if pairs and (taken + seconds > PARCEL_SECONDS or len(pairs) == MAX_PAIRS):
            yield Parcel(tournament, tuple(sorted(pairs, key=meetings.__getitem__)))
            pairs, taken = [], 0.0
        pairs.append(pairing)
        taken += seconds
    if pairs:
        yield Parcel(tournament, tuple(sorted(pairs, key=meetings.__getitem__)))


def _waiting_meetings(tournament: int, games: int) -> dict[int, tuple[str, int, int]]:
    """Pairings that have waiting games, in order: the ladder and both players, whoever has the first move."""
    waiting = Game.objects.filter(tournament_id=tournament, state=Game.State.WAITING).order_by("id")
    rows = waiting.values_list("pairing_id", "ladder_id", "white_id", "black_id")
    return {
        pairing: (ladder, min(white, black), max(white, black))
        for pairing, ladder, white, black in rows[: min(games, MOST_READ)]
    }


@transaction.atomic
def claim(parcels: Sequence[Parcel], queue: str) -> int:
    """Claim what still waits of these parcels, and send each once that is stored; returns how many games."""
    # Against a cancellation at this moment: it takes the same lock first.
    locked = Tournament.objects.select_for_update().running().filter(pk__in={p.tournament for p in parcels})
    running = {tournament.pk: tournament for tournament in locked.order_by("pk")}
    parcels = [parcel for parcel in parcels if parcel.tournament in running]
    pairings = Pairing.objects.in_bulk([pk for parcel in parcels for pk in parcel.pairings])
    engines = _engines(pairings.values())
    waiting = _waiting_games(pairings)
    attempts: list[dict[str, Any]] = []
    for parcel in parcels:
        job, tournament, jobs = uuid.uuid4(), running[parcel.tournament], []
        now = timezone.now()  # each its own: the sweep asks which of two was sent first
        for pk in parcel.pairings:
            if games := waiting.get(pk):
                tries = [
                    {"id": uuid.uuid4(), "job": job, "game_id": game, "sent_at": now} for game, _, _ in games
                ]
                told = (
                    JobGame(key, str(one["id"]), 1 - number % 2)
                    for one, (_, key, number) in zip(tries, games, strict=True)
                )
                jobs.append(_job(job, pairings[pk], tournament, engines, tuple(told)))
                attempts += tries
        if jobs:
            transaction.on_commit(partial(broker.send_jobs, jobs, queue))
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
    """Each game is claimed only if it waits."""
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
    """By the versions' ids."""
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
    """How a worker starts this version, and what records call it."""
    return EngineSpec(
        name=version.bot.name,
        version=str(version.number),
        command=tuple(version.command),
        bundle=version.bundle_id,
        options=tuple(version.options.items()),
        trusted=version.bot.is_sample,
    )
