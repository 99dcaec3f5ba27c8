"""The dispatcher: keeps a small buffer of jobs ahead of the workers.

The database is the queue of record. What is in the broker is a copy of a few of its rows, so that
cancelling and priorities are SQL and take effect within a buffer's length.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from tournament import broker
from tournament.models import Attempt, BotVersion, Game, Keeper, Pairing, Tournament
from workers.jobs import EngineSpec, GameJob, JobGame

JOBS_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next job waiting; a job is two games."""
VALIDATION_GAMES_AHEAD = 10
"""Of validations, which have a queue and workers of their own; a version plays on five ladders at most."""


def buffer_games() -> int:
    """How many games of tournaments may be claimed at once."""
    return 2 * JOBS_AHEAD_A_SLOT * settings.SLOTS


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to be asked after every game."""
    return fill_buffer() if _claimed(broker.GAMES) * 2 <= buffer_games() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them as jobs; returns how many games. May be called at any time.

    Running tournaments by priority, equals in turn, a pair each; validations have a queue of their own.
    """
    if Keeper.objects.filter(recalls=True).exists():
        recall()
    return _fill(broker.VALIDATION, VALIDATION_GAMES_AHEAD) + _fill(broker.GAMES, buffer_games())


def queue_of(kind: str) -> str:
    """Where the games of a tournament of this kind are played."""
    return broker.VALIDATION if kind == Tournament.Kind.VALIDATION else broker.GAMES


def of_queue(queue: str, path: str) -> Q:
    """A filter: what has a tournament of that queue at the end of ``path``."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == broker.VALIDATION else ~validations


def _fill(queue: str, most: int) -> int:
    claimed, room = 0, most - _claimed(queue)
    if room <= 0:
        return 0
    for pairing in _next_pairings(queue, room):
        if claimed >= room:
            break
        claimed += _claim(pairing)
    return claimed


@transaction.atomic
def recall() -> int:
    """Take back the jobs that no worker has begun; returns how many games then wait again.

    Nothing is held against anybody. A job that a worker takes at this very moment is played in vain.
    """
    now = timezone.now()
    Keeper.objects.update(recalls=False)
    broker.clear_games()
    ours = of_queue(broker.GAMES, "game__tournament")
    queued = Attempt.objects.filter(ours, ended_at__isnull=True, lease_until__isnull=True)
    tournaments = set(queued.values_list("game__tournament", flat=True))
    # Whoever changes a game's attempt holds its tournament's lock.
    list(Tournament.objects.select_for_update().filter(pk__in=tournaments).order_by("pk"))
    attempts = list(queued.filter(game__tournament__in=tournaments).values_list("id", flat=True))
    Attempt.objects.filter(pk__in=attempts).update(ended_at=now, end=Attempt.End.RELEASED)
    mine = Game.objects.filter(attempt__in=attempts, state=Game.State.CLAIMED)
    return mine.update(state=Game.State.WAITING, attempt=None)


def _claimed(queue: str) -> int:
    return Game.objects.filter(of_queue(queue, "tournament"), state=Game.State.CLAIMED).count()


def _next_pairings(queue: str, limit: int) -> Iterator[int]:
    """Pairings with waiting games, taking turns over the running tournaments of equal rank."""
    running = Tournament.objects.running().order_by("started_at", "id").values_list("id", "kind", "priority")
    ranks: dict[int, list[int]] = {}
    for pk, kind, priority in running:
        if queue_of(kind) == queue:
            ranks.setdefault(priority, []).append(pk)
    for rank in sorted(ranks, reverse=True):
        waiting = [_waiting_pairings(pk, limit) for pk in ranks[rank]]
        while waiting:
            for pairings in list(waiting):
                if not pairings:
                    waiting.remove(pairings)
                else:
                    yield pairings.pop(0)


def _waiting_pairings(tournament: int, limit: int) -> list[int]:
    waiting = Game.objects.filter(tournament_id=tournament, state=Game.State.WAITING).order_by("id")
    return list(dict.fromkeys(waiting.values_list("pairing_id", flat=True)[:limit]))


@transaction.atomic
def _claim(pairing_id: int) -> int:
    """Claim a pairing's waiting games for one job and send it once that is stored."""
    pairing = Pairing.objects.select_related(
        "tournament", "first__bot", "second__bot", "first__bundle", "second__bundle"
    ).get(pk=pairing_id)
    # Against a cancellation at this moment: it takes the same lock first.
    running = Tournament.objects.select_for_update().running().filter(pk=pairing.tournament_id)
    if not running.exists():
        return 0
    job_id, now = uuid.uuid4(), timezone.now()
    waiting = Game.objects.filter(pairing=pairing, state=Game.State.WAITING).order_by("number")
    games = []
    for game in waiting:
        attempt = uuid.uuid4()
        mine = Game.objects.filter(pk=game.pk, state=Game.State.WAITING)
        if mine.update(state=Game.State.CLAIMED, attempt=attempt):
            Attempt.objects.create(id=attempt, job=job_id, game=game, sent_at=now)
            games.append(JobGame(game.key, str(attempt), 1 - game.number % 2))
    if games:
        job, queue = _job(job_id, pairing, tuple(games)), queue_of(pairing.tournament.kind)
        transaction.on_commit(partial(broker.send_job, job, queue))
    return len(games)


def _job(job_id: uuid.UUID, pairing: Pairing, games: tuple[JobGame, ...]) -> GameJob:
    return GameJob(
        job=str(job_id),
        game=pairing.ladder_id,
        engines=(engine_spec(pairing.first), engine_spec(pairing.second)),
        games=games,
        time_control=pairing.tournament.time_control,
        opening=pairing.opening_moves,
        fen=pairing.fen or None,
        ply_limit=pairing.tournament.ply_limit,
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
