"""The site's workers: stores their heartbeats, decides which of them get jobs.

A worker that voids game after game is quarantined: it gets no jobs until staff releases it, even after
restarts, and its voids count against no game. Every function here may be repeated.
"""

from __future__ import annotations

import datetime
import logging
from collections import Counter
from functools import partial

from django.db import transaction
from django.db.models import F, Q

from engines.release import RELEASE
from engines.visible import visible
from tournament import queues
from tournament.models import Attempt, Game, Ignored, Worker
from tournament.services.accounts.notices import notify_staff
from tournament.services.dispatch.recalls import take_back_from
from tournament.services.locks import lock_tournaments, locking
from workers.jobs import BOTH_UNABLE, NOT_RUN, PROTOCOL
from workers.service.messaging.commands import Admission, Command
from workers.service.messaging.heartbeat import Heartbeat, Trouble, name_of
from workers.service.messaging.signing import COMMANDS, own_queue
from workers.service.slots import MOST_SLOTS

LOST_AFTER = datetime.timedelta(seconds=20)
"""Four missed heartbeats."""
FORGOTTEN_AFTER = datetime.timedelta(days=7)
VOIDS_IN_A_ROW = 3
"""Voids of this many different games, without a result between them, quarantine a worker."""
MOST_VOIDS = 30
"""Most voids that are read to decide whether the worker is to blame."""
OUTSTANDING = datetime.timedelta(hours=1)
"""Longer than a job is queued and played, so that attempts can be selected by the time they were sent."""
MAX_NAME, MAX_WORD, MAX_SENTENCE = 120, 40, 1000
MAX_NUMBER = 2**31 - 1

log = logging.getLogger("tournament.workers")


@transaction.atomic
def record_heartbeat(heartbeat: Heartbeat, now: datetime.datetime) -> Worker:
    """Store a worker's heartbeat; if the worker is wrong about whether it gets jobs, send it the answer."""
    fresh = {"started_at": now, "seen_at": now}
    name = visible(heartbeat.worker, MAX_NAME)
    worker, is_new = locking(Worker.objects.all()).get_or_create(name=name, defaults=fresh)
    run = visible(heartbeat.run, 36)
    begins = is_new or run != worker.run
    if begins:
        worker.run, worker.started_at = run, now
    worker.host = visible(heartbeat.host, MAX_NAME)
    worker.queue = visible(heartbeat.queue, 20)
    worker.version = visible(heartbeat.version, MAX_WORD)
    worker.speed = visible(heartbeat.speed, 20)
    worker.level = heartbeat.level if heartbeat.level in {"A", "B", "C"} else "C"
    worker.refusal = visible(heartbeat.refusal, MAX_SENTENCE)
    for number in ("slots", "busy", "held"):
        setattr(worker, number, min(max(0, getattr(heartbeat, number)), MOST_SLOTS))
    for number in ("games", "voids", "games_an_hour"):
        setattr(worker, number, min(max(0, getattr(heartbeat, number)), MAX_NUMBER))
    worker.state = Worker.State.STOPPED if heartbeat.stopping else Worker.State.UP
    worker.seen_at = now
    worker.set_aside = why_foreign(heartbeat.protocol, worker.version) or _why_set_aside(worker)
    worker.save()
    is_wrong = heartbeat.admitted == bool(worker.why)
    if begins or heartbeat.stopping or (worker.why and is_wrong):
        _take_back(worker)  # a stopping worker puts jobs back into its queue, which a new run must not find
    if not heartbeat.stopping and is_wrong:
        _send_admission(worker)
    return worker


def record_trouble(message: Trouble, now: datetime.datetime) -> None:
    """Store why one of a worker's slots cannot play; the worker's heartbeat shows when it can again."""
    if message.why:
        mine = Worker.objects.filter(name=visible(name_of(message.worker), MAX_NAME))
        mine.update(trouble=visible(message.why, MAX_SENTENCE), trouble_at=now)


def sweep_workers(as_of: datetime.datetime) -> int:
    """Mark workers without a recent heartbeat as lost, later delete them; returns how many were newly lost.

    Everything that workers sent by ``as_of`` has been processed.
    """
    gone = Worker.objects.exclude(state=Worker.State.UP).filter(quarantined_at__isnull=True)
    gone.filter(seen_at__lt=as_of - FORGOTTEN_AFTER).delete()
    lost = Worker.objects.up().filter(seen_at__lt=as_of - LOST_AFTER)
    return lost.update(state=Worker.State.LOST, busy=0, held=0, games_an_hour=0)


def presume_others_lost() -> None:
    """Mark workers of other releases as lost until their next heartbeat; for the record keeper's start."""
    others = Worker.objects.up().exclude(version__in=("", RELEASE))
    others.update(state=Worker.State.LOST, busy=0, held=0, games_an_hour=0)


def presume_lost() -> None:
    """Mark all workers as lost until their next heartbeat; for the start of a site."""
    Worker.objects.up().update(state=Worker.State.LOST, busy=0, held=0, games_an_hour=0)


def is_refusing(name: str) -> bool:
    """Whether the worker of this name refuses uploaded bots, by its last heartbeat."""
    return Worker.objects.filter(name=visible(name, MAX_NAME)).exclude(refusal="").exists()


def find_worker(reported_by: str) -> Worker | None:
    """The worker that a report names; None if it never sent a heartbeat."""
    return Worker.objects.filter(name=visible(name_of(reported_by), MAX_NAME)).first()


@transaction.atomic
def quarantine(worker: Worker, why: str, now: datetime.datetime) -> None:
    """Give the worker no more jobs, discount its latest voids from their games, and notify staff."""
    counts = Counter(void.game_id for void in _voids_in_a_row(worker))
    lock_tournaments(set(Game.objects.filter(pk__in=counts).values_list("tournament", flat=True)))
    for game, voids in counts.items():
        open_games = Game.objects.filter(pk=game, state__in=[Game.State.WAITING, Game.State.CLAIMED])
        open_games.filter(voids__gte=voids).update(voids=F("voids") - voids)
    worker.quarantined_at, worker.quarantine_reason = now, why
    worker.save(update_fields=["quarantined_at", "quarantine_reason"])
    log.error("worker %s is quarantined: %s", worker, why)
    notify_staff(worker, f"The worker {worker} is quarantined: {why}. It gets no games until it is released.")
    _take_back(worker)
    _send_admission(worker)


def replace_queues(worker: Worker, why: str, now: datetime.datetime) -> None:
    """Delete the queues of a worker and quarantine it, because its host made one of them unusable."""
    with transaction.atomic():
        Ignored.objects.count_more("broken queue", now)
    record_trouble(Trouble(f"{worker.name}/", why), now)
    for kind in (queues.GAMES, queues.VALIDATION, COMMANDS):
        queues.clear_queue(own_queue(kind, worker.name))
    if not worker.is_quarantined:
        quarantine(worker, why, now)


@transaction.atomic
def release(worker: Worker, now: datetime.datetime) -> None:
    """Give the worker jobs again; it plays a canary game first, and its earlier voids no longer count."""
    worker.quarantined_at, worker.quarantine_reason, worker.released_at = None, "", now
    worker.save(update_fields=["quarantined_at", "quarantine_reason", "released_at"])
    _send_admission(worker)


def judge(worker: Worker, now: datetime.datetime) -> bool:
    """After a void: quarantine the worker if it is to blame; returns whether it was quarantined now."""
    if worker.is_quarantined:
        return False
    voids = _voids_in_a_row(worker)
    if len({void.game_id for void in voids}) < VOIDS_IN_A_ROW or not _is_to_blame(worker, voids):
        return False
    games = len({void.game_id for void in voids})
    quarantine(worker, f"it voided {games} games in a row, the last: {voids[0].evidence}", now)
    return True


def _voids_in_a_row(worker: Worker) -> list[Attempt]:
    """The latest voids of a worker, newest first, back to its last result or release.

    Leaves out voids that do not indicate a faulty worker: both engines cannot start, or an uploaded bot that
    this worker does not run.
    """
    mine = Attempt.objects.filter(worker__startswith=f"{worker.name}/")
    voids = mine.filter(end=Attempt.End.VOID).exclude(
        Q(evidence__startswith=BOTH_UNABLE) | Q(evidence__startswith=NOT_RUN)
    )
    if worker.released_at is not None:
        voids = voids.filter(ended_at__gt=worker.released_at)
    latest = list(voids.select_related("game").order_by("-ended_at")[:MOST_VOIDS])
    if not latest:
        return []
    results = mine.filter(end=Attempt.End.RECORDED, sent_at__gt=latest[-1].sent_at - OUTSTANDING)
    result = results.order_by("-ended_at").values_list("ended_at", flat=True).first()
    return [void for void in latest if result is None or void.ended_at > result]  # type: ignore[operator]


def _is_to_blame(worker: Worker, voids: list[Attempt]) -> bool:
    """False if one bot took part in all of these games, because its bundle may be the cause.

    True even then if another worker has recorded games of every such bot in the meantime.
    """
    common = set.intersection(*({void.game.white_id, void.game.black_id} for void in voids))
    sent, since = voids[-1].sent_at - OUTSTANDING, voids[-1].ended_at
    others = Attempt.objects.filter(end=Attempt.End.RECORDED, sent_at__gt=sent, ended_at__gte=since)
    others = others.exclude(worker__startswith=f"{worker.name}/")
    return all(others.filter(Q(game__white=bot) | Q(game__black=bot)).exists() for bot in common)


def why_foreign(protocol: int, release: str = "") -> str:
    """Why a worker with this version of the messages gets no jobs; empty if it is the site's version."""
    if protocol == PROTOCOL:
        return ""
    older = "the worker" if protocol < PROTOCOL else "the site"
    of = f" of release {release}" if release else ""
    return (
        f"this worker{of} and the site of release {RELEASE} do not understand each other"
        f" (version {protocol} and {PROTOCOL} of their messages): update {older}"
    )


def _why_set_aside(worker: Worker) -> str:
    """If others of its queue run uploaded bots, a worker that does not would only void their games."""
    if not worker.refusal:
        return ""
    others = Worker.objects.trusted_with_uploads().filter(queue=worker.queue).exclude(pk=worker.pk)
    return f"it does not run uploaded bots, and others do: {worker.refusal}" if others.exists() else ""


def stop_again(reported_by: str, attempt: Attempt) -> None:
    """Have a worker stop the job of an attempt that ended without it, unless other games of it go on."""
    worker = find_worker(reported_by)
    if worker and not Attempt.objects.filter(job=attempt.job, ended_at__isnull=True).exists():
        queues.send_command(Command(worker.name, stop=(str(attempt.job),)))


def _take_back(worker: Worker) -> None:
    """Have the games queued for a worker wait again; after the commit, because it locks tournaments."""
    transaction.on_commit(partial(take_back_from, [worker.name]))


def _send_admission(worker: Worker) -> None:
    admission = Admission(worker.run, not worker.why, worker.why)
    queues.send_on_commit(queues.send_command, Command(worker.name, admission=admission))
