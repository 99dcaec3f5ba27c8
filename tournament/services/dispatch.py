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
from django.utils import timezone

from tournament import broker
from tournament.models import Attempt, BotVersion, Game, Keeper, Pairing, Tournament
from workers.jobs import EngineSpec, GameJob, JobGame

JOBS_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next job waiting; a job is two games."""


def buffer_games() -> int:
    """How many games may be claimed at once."""
    return 2 * JOBS_AHEAD_A_SLOT * settings.SLOTS


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to be asked after every game."""
    return fill_buffer() if _claimed() * 2 <= buffer_games() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them as jobs; returns how many games. May be called at any time.

    Validations come first, then running tournaments by priority; equals in turn, a pair each.
    """
    if Keeper.objects.filter(recalls=True).exists():
        recall()
    claimed, room = 0, buffer_games() - _claimed()
    if room <= 0:
        return 0
    for pairing in _next_pairings(room):
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
    queued = Attempt.objects.filter(ended_at__isnull=True, lease_until__isnull=True)
    tournaments = set(queued.values_list("game__tournament", flat=True))
    # Whoever changes a game's attempt holds its tournament's lock.
    list(Tournament.objects.select_for_update().filter(pk__in=tournaments).order_by("pk"))
    attempts = list(queued.filter(game__tournament__in=tournaments).values_list("id", flat=True))
    Attempt.objects.filter(pk__in=attempts).update(ended_at=now, end=Attempt.End.RELEASED)
    mine = Game.objects.filter(attempt__in=attempts, state=Game.State.CLAIMED)
    return mine.update(state=Game.State.WAITING, attempt=None)


def _claimed() -> int:
    return Game.objects.filter(state=Game.State.CLAIMED).count()


def _next_pairings(limit: int) -> Iterator[int]:
    """Pairings with waiting games, taking turns over the running tournaments of equal rank."""
    running = Tournament.objects.running().order_by("started_at", "id").values_list("id", "kind", "priority")
    ranks: dict[tuple[bool, int], list[int]] = {}
    for pk, kind, priority in running:
        ranks.setdefault((kind == Tournament.Kind.VALIDATION, priority), []).append(pk)
    for rank in sorted(ranks, reverse=True):
        queues = [_waiting_pairings(pk, limit) for pk in ranks[rank]]
        while queues:
            for queue in list(queues):
                if not queue:
                    queues.remove(queue)
                else:
                    yield queue.pop(0)


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
        transaction.on_commit(partial(broker.send_job, _job(job_id, pairing, tuple(games))))
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
