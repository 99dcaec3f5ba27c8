"""Which games a free slot plays next: read it from top to bottom.

The highest priority is first; of one priority the owner who has used the least of today's time, and his
tournaments in turn. A batch is some pairs of games of one tournament, which the slot plays one after another:
pairs of two seconds together by their players' recent games, or else one pair. Where there are several slots,
one stays free of pairs whose time limits permit more than an owner shall wait. No game that has begun is
ended for somebody else. Searches that the site itself asks for are last: only while nothing else waits.

Nothing is queued: what is decided here is decided when a slot is free, in the transaction that takes the
games. An ask that finds nothing writes nothing, unless it releases what its slot no longer has.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache as remember
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, OuterRef, Subquery

from engines.pairing.meetings import GAMES_A_PAIR
from tournament.models import Attempt, BotSearch, BotVersion, Game, Job, Tournament, User, Worker
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.fair_share import SITE, exhausted, played_by, used_by_owner
from tournament.services.locks import hold, lock
from tournament.services.schedule.limits import longest_seconds
from tournament.services.stopping import release
from tournament.services.work.checks import check_job, claim_check, leaves_a_slot, waiting_checks
from tournament.services.work.durations import (
    BATCH_SECONDS,
    MAX_PAIRS,
    WaitingPair,
    measured_seconds,
    slots_at_work,
)
from tournament.services.work.leases import take
from tournament.services.work.searches import claim_search, claim_site_search, search_job
from workers.jobs import Ask, Batch, EngineSpec, GameJob, JobGame, Work
from workers.logs import FIELDS

MAX_WAIT_SECONDS = 300.0
"""Pairs whose time limits permit more are long: they leave a slot free for owners who wait."""
START_SECONDS = 600.0
"""What a job may take besides its games, mostly to fetch and unpack its bundles."""
A_GAME_SECONDS = 60.0
"""What a game may take besides the time of its clocks."""

log = logging.getLogger("tournament.work")


def next_batch(ask: Ask, worker: Worker, now: datetime) -> Batch | None:
    """The batch for a slot that asks; None if there is nothing for it at this time.

    The same ask gets the same batch again. What else the slot had taken, also in an earlier run, waits again
    at once unless the ask says that the slot still has it.
    """
    if (batch := _repeat_or_release(ask, worker, now)) is not None:
        return batch
    for work in ask.takes:
        for one in _in_order(work, now, worker.owner):
            if (batch := _take(one, work, ask, worker, now)) is not None:
                _log_taken(batch, worker)
                return batch
        claim = CLAIMS.get(work)
        if claim and (job := claim(ask, worker, now)) is not None:
            return _batch_of(job)
    waiting = BotSearch.objects.of_site().waiting()
    if Work.ANALYSIS in ask.takes and waiting.exists() and not _anything_waits(now):
        job = claim_site_search(ask, worker, now)
        return _batch_of(job) if job else None
    return None


def _anything_waits(now: datetime) -> bool:
    """Whether a game or a check waits for a slot, be it of another kind than the one that asks."""
    return bool(waiting_checks(now)) or any(_in_order(work, now) for work in (Work.GAMES, Work.CHECKS))


def _repeat_or_release(ask: Ask, worker: Worker, now: datetime) -> Batch | None:
    """The batch of this ask, if it was answered before; what the slot does not have any more is released."""
    batch = None
    for job in Job.objects.of_worker(worker.name).filter(slot=ask.slot):
        if str(job.ask) == ask.ask and (again := _batch_of(job)) is not None:
            batch = again
        elif str(job.ask) == ask.ask or str(job.pk) not in ask.holds:
            release(Job.objects.filter(pk=job.pk), now)
    return batch


# Which tournament is next


@dataclass(frozen=True, slots=True)
class WaitingTournament:
    """A running tournament with games that wait."""

    tournament: int
    time_control: str
    ply_limit: int | None
    priority: int
    owner: int
    """``SITE`` if it has none."""
    first: WaitingPair

    def is_long(self, pair: WaitingPair) -> bool:
        """Whether the pair may take longer than an owner shall wait."""
        return _is_long(pair.ladder, self.time_control, self.ply_limit)


@remember(maxsize=1000)
def _is_long(ladder: str, time_control: str, ply_limit: int | None) -> bool:
    return GAMES_A_PAIR * longest_seconds(ladder, time_control, ply_limit) > MAX_WAIT_SECONDS


def _find_waiting(work: Work, user: User | None) -> list[WaitingTournament]:
    """All of this kind of work, of a user's own worker those of the user; an owner's in turn."""
    games = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING).order_by("id")
    running = Tournament.objects.running().filter(played_by(work))
    if work is Work.OWN:
        running = running.filter(owner=user, owner__isnull=False)
    in_turn = running.order_by(F("served_at").asc(nulls_first=True), "started_at", "id")
    columns = ("id", "time_control", "ply_limit", "priority", "owner")
    rows = list(in_turn.annotate(first=Subquery(games.values("id")[:1])).values_list(*columns, "first"))
    firsts = {first for *_, first in rows if first is not None}
    if not firsts:
        return []
    found = Game.objects.filter(pk__in=firsts).values_list("id", *_PAIR)
    pairs = {game: _pair_of(*row) for game, *row in found}
    return [
        WaitingTournament(pk, time_control, ply_limit, priority, owner or SITE, pairs[first])
        for pk, time_control, ply_limit, priority, owner, first in rows
        if first in pairs
    ]


def _in_order(work: Work, now: datetime, user: User | None = None) -> list[WaitingTournament]:
    """Those whose games a slot may take, the next one first; without those of owners who used their hours.

    That is the highest priority, then the owner who has used the least of today's time, then the tournament
    that was given a slot the longest ago. A user's own worker has no such limits.
    """
    waiting = _find_waiting(work, user)
    if not waiting:
        return []
    if work is Work.OWN:
        return sorted(waiting, key=lambda one: -one.priority)
    is_validation = work is Work.CHECKS
    used = used_by_owner(now, is_validation=is_validation, least=BATCH_SECONDS)
    over = exhausted(used, is_validation=is_validation)
    waiting = [one for one in waiting if one.owner not in over]
    if any(one.is_long(one.first) for one in waiting) and not _may_be_long(work):
        waiting = [one for one in waiting if not one.is_long(one.first)]
    return sorted(waiting, key=lambda one: (-one.priority, used.get(one.owner, 0.0)))


def _may_be_long(work: Work) -> bool:
    """Whether a slot may take a long job: where there are several slots, one stays free of them."""
    limits = [
        f"attempts__game__{name}" for name in ("ladder", "tournament__time_control", "tournament__ply_limit")
    ]
    jobs = Job.objects.held().filter(kind=work, attempts__isnull=False).values_list("pk", *limits).distinct()
    return len({job for job, *row in jobs if _is_long(*row)}) < max(1, slots_at_work(work) - 1)


_PAIR = ("pairing_id", "ladder_id", "white_id", "black_id")


def _pair_of(pairing: int, ladder: str, white: int, black: int) -> WaitingPair:
    return WaitingPair(pairing, ladder, (min(white, black), max(white, black)))


# Taking games of it


@transaction.atomic
def _take(one: WaitingTournament, work: Work, ask: Ask, worker: Worker, now: datetime) -> Batch | None:
    """Claim the first batch of a tournament; None if other slots were quicker."""
    running = Tournament.objects.running().filter(pk=one.tournament)
    locked = lock(running.only("owner", "time_control", "ply_limit"))
    is_long = work is not Work.OWN and one.is_long(one.first)
    # Repeats of an ask wait for each other here, and so do all slots that might take one long job too many.
    hold(Worker.objects.given_jobs() if is_long else Worker.objects.filter(pk=worker.pk))
    for repeated in Job.objects.of_worker(worker.name).filter(ask=ask.ask):
        return _batch_of(repeated)
    if work is Work.CHECKS and not leaves_a_slot(ask, worker):
        return None
    pairs = _first_pairs(one) if locked else []
    if not pairs:
        return None
    if work is not Work.OWN and (one.is_long(pairs[0]) != is_long or (is_long and not _may_be_long(work))):
        return None
    return _batch_of(_claim(locked[0], pairs, work, ask, worker, now))


def _first_pairs(one: WaitingTournament) -> list[WaitingPair]:
    """As many of the first waiting pairs as make a batch; one alone if its duration is not known."""
    waiting = Game.objects.filter(tournament=one.tournament, state=Game.State.WAITING).order_by("id")
    measured = measured_seconds(one.time_control)
    most = MAX_PAIRS if measured(one.first) is not None else 1
    batch: list[WaitingPair] = []
    seconds = 0.0
    for pair in dict.fromkeys(_pair_of(*row) for row in waiting.values_list(*_PAIR)[: GAMES_A_PAIR * most]):
        a_game = measured(pair)
        seconds += GAMES_A_PAIR * (a_game or 0.0)
        if batch and (
            a_game is None or seconds > BATCH_SECONDS or one.is_long(pair) != one.is_long(batch[0])
        ):
            break
        batch.append(pair)
        if a_game is None or len(batch) == most:
            break
    return batch


def _claim(
    tournament: Tournament,
    pairs: Sequence[WaitingPair],
    work: Work,
    ask: Ask,
    worker: Worker,
    now: datetime,
) -> Job:
    """Store a job with an attempt for each waiting game of these pairs."""
    # Selected by their pairings alone: SQLite would read all games that wait.
    rows = Game.objects.filter(pairing__in=[pair.pairing for pair in pairs]).only(
        "pairing", "ladder", "key", "state"
    )
    games = [game for game in rows.order_by("id") if game.state == Game.State.WAITING]
    limits = tournament.time_control, tournament.ply_limit
    most = START_SECONDS + sum(longest_seconds(game.ladder_id, *limits) + A_GAME_SECONDS for game in games)
    job = take(ask, worker, work, now, most_s=most, owner=tournament.owner_id)
    attempts: list[dict[str, Any]] = [
        {"id": uuid.uuid4(), "game_id": game.pk, "job_id": job.pk, "sent_at": now} for game in games
    ]
    is_waiting = {"state": Game.State.WAITING}
    claims = [
        ({"state": Game.State.CLAIMED, "attempt": new["id"]}, {"id": new["game_id"], **is_waiting})
        for new in attempts
    ]
    if (claimed := update_rows(Game, claims)) != len(claims):
        raise DatabaseError(f"{claimed} of {len(claims)} games could be claimed, all is undone")
    insert_rows(Attempt, attempts)
    Tournament.objects.filter(pk=tournament.pk).update(served_at=now)
    return job


def _log_taken(batch: Batch, worker: Worker) -> None:
    """Write a line for a batch whose transaction is committed."""
    keys = [game.key for job in batch.jobs for game in job.games]
    told = {"job": batch.job, "worker": worker.name, "games": keys}
    log.info("job %s goes to %s: %d games", batch.job, worker.name, len(keys), extra={FIELDS: told})


# What the slot gets


CLAIMS = {Work.CHECKS: claim_check, Work.ANALYSIS: claim_search}


def _batch_of(job: Job) -> Batch | None:
    """What a slot gets of a job that it has; None if it has nothing to do there any more."""
    told = str(job.pk), settings.LEASE_SECONDS
    if job.version_id is not None:
        for check in job.checks.filter(ended_at__isnull=True).select_related("version__bot"):
            return Batch(*told, check=check_job(check))
        for search in job.searches.filter(ended_at__isnull=True).select_related("version__bot"):
            return Batch(*told, search=search_job(search))
        return None
    games = _jobs_of_games(job)
    return Batch(*told, games) if games else None


_TOLD = (
    "job",
    *(f"game__{name}" for name in ("key", "number", "ladder", "white", "black")),
    *(f"game__pairing__{name}" for name in ("ladder", "first", "second", "opening", "fen", "seed")),
    *(f"game__tournament__{name}" for name in ("time_control", "ply_limit")),
)
"""What a slot is told of its games: reading all columns takes a quarter of an ask's time."""


def _jobs_of_games(job: Job) -> tuple[GameJob, ...]:
    """The games of a job that its slot has, a ``GameJob`` for each pairing.

    Pairings of the same players follow each other, so that their engines keep running.
    """
    attempts = job.attempts.filter(ended_at__isnull=True, reported_at__isnull=True)
    pairings: dict[int, list[Attempt]] = {}
    found = attempts.select_related("game__pairing", "game__tournament").only(*_TOLD)
    for attempt in found.order_by("game"):
        pairings.setdefault(attempt.game.pairing_id, []).append(attempt)
    games = [together[0].game for together in pairings.values()]
    versions = BotVersion.objects.select_related("bot")
    known = versions.in_bulk({pk for game in games for pk in (game.white_id, game.black_id)})
    engines = {pk: version.engine_spec() for pk, version in known.items()}

    def players(together: Sequence[Attempt]) -> tuple[object, ...]:
        game = together[0].game
        return game.ladder_id, *sorted((game.white_id, game.black_id))

    in_order = sorted(pairings.values(), key=players)
    return tuple(_job(together, engines) for together in in_order)


def _job(attempts: Sequence[Attempt], engines: dict[int, EngineSpec]) -> GameJob:
    """The job of the games of one pairing."""
    pairing, tournament = attempts[0].game.pairing, attempts[0].game.tournament
    return GameJob(
        job=str(attempts[0].job_id),
        game=pairing.ladder_id,
        engines=(engines[pairing.first_id], engines[pairing.second_id]),
        games=tuple(JobGame(each.game.key, str(each.pk), 1 - each.game.number % 2) for each in attempts),
        time_control=tournament.time_control,
        opening=pairing.opening_moves,
        fen=pairing.fen or None,
        ply_limit=tournament.ply_limit,
        seed=pairing.seed,
    )
