"""Quarantines workers that fail: they get no work until staff releases them, even after restarts.

A worker fails that voids game after game, or whose leases run out again and again. What it failed then counts
against no game. Every function here may be repeated.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet

from engines.visible import visible
from tournament.models import Attempt, ComplianceCheck, Game, Job, Worker
from tournament.services.accounts.notices import notify_staff
from tournament.services.locks import lock_tournaments
from tournament.services.stopping import SILENT
from workers.jobs import BOTH_UNABLE, NOT_RUN, Work, name_of

FAILURES_IN_A_ROW = 3
"""Voids of different games, and leases that ran out one after another, without a result between them."""
MAX_VOIDS = 30
"""Most voids that are read to decide whether the worker is to blame."""
OUTSTANDING = datetime.timedelta(hours=1)
"""Attempts are selected by the time they were taken, this long before the failures that are judged.

Leases that ran out earlier are forgotten.
"""
MAX_NAME = 120

log = logging.getLogger("tournament.workers")


@dataclass(frozen=True, slots=True)
class Failure:
    """A void, or a batch, check or search whose lease ran out; ``bots`` are the versions that took part."""

    bots: frozenset[int]
    sent_at: datetime.datetime
    ended_at: datetime.datetime
    evidence: str
    void: int | None = None
    """The game that was void."""


def find_worker(reported_by: str) -> Worker | None:
    """The worker that a report names; None if it never sent a heartbeat."""
    return Worker.objects.filter(name=visible(name_of(reported_by), MAX_NAME)).first()


@transaction.atomic
def quarantine(worker: Worker, why: str, now: datetime.datetime) -> None:
    """Give the worker no more work, discount its latest failures from their games, and notify staff.

    What it holds waits again with its next heartbeat or post.
    """
    voids = Counter(one.void for one in _failures_in_a_row(worker, now) if one.void)
    lost = _lost_attempts(worker, now).values("game")
    games = Game.objects.filter(Q(pk__in=voids) | Q(pk__in=lost))
    lock_tournaments(set(games.order_by().values_list("tournament", flat=True).distinct()))
    open_games = Game.objects.filter(state__in=[Game.State.WAITING, Game.State.CLAIMED])
    open_games.filter(pk__in=lost).update(lost=0)
    for game, number in voids.items():
        open_games.filter(pk=game, voids__gte=number).update(voids=F("voids") - number)
    worker.quarantined_at, worker.quarantine_reason = now, why
    worker.save(update_fields=["quarantined_at", "quarantine_reason"])
    log.error("worker %s is quarantined: %s", worker, why)
    notify_staff(worker, f"The worker {worker} is quarantined: {why}. It gets no games until it is released.")


def lift_quarantine(worker: Worker, now: datetime.datetime) -> None:
    """Give the worker work again; it plays a canary game first, and its earlier failures no longer count."""
    worker.quarantined_at, worker.quarantine_reason, worker.released_at = None, "", now
    worker.save(update_fields=["quarantined_at", "quarantine_reason", "released_at"])


def judge_all(names: Iterable[str], now: datetime.datetime) -> None:
    """After leases that ran out: quarantine those of these workers that are to blame."""
    for worker in Worker.objects.filter(name__in=set(names)):
        judge(worker, now)


def judge(worker: Worker, now: datetime.datetime) -> bool:
    """After a failure: quarantine the worker if it is to blame; returns whether it was quarantined now.

    Failures of a user's own worker concern that user alone.
    """
    if worker.is_quarantined or worker.takes == Work.OWN:
        return False
    failures = _failures_in_a_row(worker, now)
    voids = len({one.void for one in failures if one.void})
    losses = _count_in_succession([one for one in failures if not one.void])
    if voids + losses < FAILURES_IN_A_ROW or not _is_to_blame(worker, failures):
        return False
    what = [f"it voided {voids} games in a row"] if voids else []
    what += [f"it took work {losses} times in a row and reported none of it"] if losses else []
    quarantine(worker, f"{', and '.join(what)}, the last: {failures[0].evidence}", now)
    return True


def _failures_in_a_row(worker: Worker, now: datetime.datetime) -> list[Failure]:
    """The latest failures of a worker, newest first, back to its last result or release.

    Leaves out voids that do not indicate a faulty worker: both engines cannot start, or an uploaded bot that
    this worker does not run.
    """
    latest = [*_voids(worker), *_losses(worker, now)]
    if worker.released_at is not None:
        latest = [one for one in latest if one.ended_at > worker.released_at]
    if not latest:
        return []
    latest.sort(key=lambda one: one.ended_at, reverse=True)
    since = min(one.sent_at for one in latest) - OUTSTANDING
    games = Attempt.objects.filter(job__worker=worker.name, end=Attempt.End.RECORDED, sent_at__gt=since)
    checks = ComplianceCheck.objects.filter(job__worker=worker.name, ended_at__gt=since)
    checks = checks.filter(end__in=[ComplianceCheck.End.DONE, ComplianceCheck.End.REFUSED])
    ends = [rows.order_by().aggregate(last=Max("ended_at"))["last"] for rows in (games, checks)]
    result = max(filter(None, ends), default=None)
    return [one for one in latest if result is None or one.ended_at > result]


def _voids(worker: Worker) -> list[Failure]:
    voids = Attempt.objects.filter(job__worker=worker.name, end=Attempt.End.VOID).exclude(
        Q(evidence__startswith=BOTH_UNABLE) | Q(evidence__startswith=NOT_RUN) | Q(job__kind=Work.OWN)
    )
    columns = ("game__white", "game__black", "sent_at", "ended_at", "evidence", "game")
    rows = voids.order_by("-ended_at").values_list(*columns)[:MAX_VOIDS]
    return [Failure(frozenset({white, black}), *row) for white, black, *row in rows]


def _lost_attempts(worker: Worker, now: datetime.datetime) -> QuerySet[Attempt]:
    lately = max(now - OUTSTANDING, worker.released_at or now - OUTSTANDING)
    return Attempt.objects.filter(
        job__worker=worker.name, end=Attempt.End.LOST, sent_at__gt=lately
    ).order_by()


def _losses(worker: Worker, now: datetime.datetime) -> list[Failure]:
    """The jobs of the worker whose leases ran out lately."""
    jobs = Job.objects.filter(worker=worker.name, end=Job.End.LOST, ended_at__gt=now - OUTSTANDING)
    jobs = jobs.exclude(kind=Work.OWN)  # of a user who had the name before
    players: defaultdict[uuid.UUID, set[int]] = defaultdict(set)
    attempts = Attempt.objects.filter(job__in=jobs.values("pk"), end=Attempt.End.LOST)
    for job, *both in attempts.values_list("job", "game__white", "game__black"):
        players[job].update(both)
    return [
        Failure(
            frozenset(players[job.pk] or {job.version_id or 0}), job.taken_at, job.ended_at or now, SILENT
        )
        for job in jobs
    ]


def _count_in_succession(losses: Sequence[Failure]) -> int:
    """How many of them were taken after the one before was lost: all slots of a dead machine count once."""
    count, until = 0, None
    for one in sorted(losses, key=lambda one: one.ended_at):
        if until is None or one.sent_at >= until:
            count, until = count + 1, one.ended_at
    return count


def _is_to_blame(worker: Worker, failures: Sequence[Failure]) -> bool:
    """False if one bot took part in all of them, because its bundle may be the cause.

    True even then if another worker has recorded games of every such bot in the meantime.
    """
    common = frozenset.intersection(*(one.bots for one in failures))
    sent, since = failures[-1].sent_at - OUTSTANDING, failures[-1].ended_at
    others = Attempt.objects.filter(end=Attempt.End.RECORDED, sent_at__gt=sent, ended_at__gte=since)
    others = others.exclude(job__worker=worker.name).exclude(job__kind=Work.OWN)
    return all(others.filter(Q(game__white=bot) | Q(game__black=bot)).exists() for bot in common)
