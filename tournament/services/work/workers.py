"""The site's workers: stores their heartbeats, decides which of them get work.

Every function here may be repeated. Which of them fail is judged in ``judging``.
"""

from __future__ import annotations

import datetime
import logging
import re
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet

from engines.release import RELEASE
from engines.visible import visible
from tournament.models import Door, Job, Token, Worker
from tournament.services import stopping
from tournament.services.locks import locking
from workers.jobs import MAX_SLOTS, PROTOCOL, Heartbeat, Work

LOST_AFTER = datetime.timedelta(seconds=20)
"""Four missed heartbeats."""
FORGOTTEN_AFTER = datetime.timedelta(days=7)
MAX_NEW_NAMES, MAX_OWN_WORKERS = 100, 8
"""Workers of one token of staff, and of one user at home, that may send heartbeats within a day."""
MAX_NAME, MAX_WORD, MAX_SENTENCE = 120, 40, 1000
MAX_NUMBER = 2**31 - 1
TEXTS = {"host": MAX_NAME, "version": MAX_WORD, "speed": 20, "refusal": MAX_SENTENCE}
NUMBERS = {
    **dict.fromkeys(("slots", "busy", "held"), MAX_SLOTS),
    **dict.fromkeys(("games", "voids", "games_an_hour"), MAX_NUMBER),
}
"""What is stored of a heartbeat, with the longest text and the largest number."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}@[A-Za-z0-9._-]{1,60}")

log = logging.getLogger("tournament.workers")


class WorkerNameError(ValueError):
    """A name that no worker can have, or that this token cannot use: one sentence."""


def is_worker_name(name: str) -> bool:
    """Whether a worker may have this name: it has a place after an @, and no odd characters."""
    return _NAME.fullmatch(name) is not None


def is_refusing(name: str) -> bool:
    """Whether the worker of this name refuses uploaded bots, by its last heartbeat."""
    return is_worker_name(name) and Worker.objects.filter(name=name).exclude(refusal="").exists()


def find_own(token: Token, name: str) -> Worker | None:
    """The worker of this name that sends its heartbeats with this token."""
    return Worker.objects.filter(token=token, name=name).first() if is_worker_name(name) else None


@transaction.atomic
def record_heartbeat(heartbeat: Heartbeat, token: Token, now: datetime.datetime) -> Worker:
    """Store a worker's heartbeat; raises ``WorkerNameError``.

    The name belongs to the token's user: another takes it over when the token is revoked, or a week after the
    last heartbeat, and another token of the same user once the worker is not up any more. The site's workers
    take any name from those of users, who can never have one of theirs. The last heartbeat of a former run
    changes nothing.
    """
    if not is_worker_name(heartbeat.worker):
        raise WorkerNameError(
            f"{visible(heartbeat.worker, 100)!r} is not the name of a worker, such as 'players@east'"
        )
    takes = {Work.OWN} if token.is_of_own_worker else set(heartbeat.takes) - {Work.OWN}
    if not takes:
        raise WorkerNameError("a worker must take games or checks")
    fresh = {"token": token, "run": heartbeat.run, "started_at": now, "seen_at": now}
    workers = locking(Worker.objects.all())
    worker, is_new = workers.get_or_create(name=heartbeat.worker, defaults=fresh)
    if is_new:
        _check_number(token, now)
    is_another = worker.token_id != token.pk
    if is_another and (why := _why_taken(worker, token, now)):
        raise WorkerNameError(why)
    if heartbeat.run != worker.run:
        if heartbeat.stopping:
            return worker
        worker.run, worker.started_at = heartbeat.run, now
    worker.token = token
    worker.takes = ",".join(kind for kind in Work if kind in takes)
    worker.level = heartbeat.level if heartbeat.level in {"A", "B", "C"} else "C"
    for text, most in TEXTS.items():
        setattr(worker, text, visible(getattr(heartbeat, text), most))
    for number, most in NUMBERS.items():
        setattr(worker, number, min(max(0, getattr(heartbeat, number)), most))
    worker.state = Worker.State.STOPPED if heartbeat.stopping else Worker.State.UP
    worker.seen_at = now
    if heartbeat.trouble:
        worker.trouble, worker.trouble_at = visible(heartbeat.trouble, MAX_SENTENCE), now
    worker.barred = _why_barred(worker)
    worker.save()
    if is_another or heartbeat.stopping or worker.why:
        transaction.on_commit(partial(release_all, worker, now))  # it locks tournaments
    return worker


def release_all(worker: Worker, now: datetime.datetime) -> int:
    """Have the games, checks and searches wait again that the worker holds; returns how many jobs.

    It counts against no game and no worker. The answer to the worker's next post says stop. Games whose
    reports are in the inbox are not concerned.
    """
    return len(stopping.release(Job.objects.of_worker(worker.name), now))


def sweep_workers(now: datetime.datetime) -> int:
    """Mark workers without a recent heartbeat as lost, later delete them; returns how many were newly lost.

    None is lost before workers have been able to reach the site for that long. One whose token is revoked or
    over, or whose user's account is not active, may not come back: it counts as stopped, and nobody looks for
    it.
    """
    gone = Worker.objects.exclude(state=Worker.State.UP).filter(quarantined_at__isnull=True)
    gone.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()
    silent = now - LOST_AFTER
    if not Door.objects.filter(open_since__lte=silent, seen_at__gte=silent).exists():
        return 0
    over = Q(token__revoked_at__isnull=False) | Q(token__ends_at__lte=now)
    revoked = Worker.objects.exclude(state=Worker.State.STOPPED).filter(
        over | Q(token__user__is_active=False), seen_at__lt=silent
    )
    _end(revoked, Worker.State.STOPPED)
    return _end(Worker.objects.up().filter(seen_at__lt=silent), Worker.State.LOST)


def presume_lost() -> None:
    """Mark all workers as lost until their next heartbeat; for the start of a site."""
    _end(Worker.objects.up(), Worker.State.LOST)


def _end(workers: QuerySet[Worker], state: Worker.State) -> int:
    return workers.update(state=state, busy=0, held=0, games_an_hour=0)


def why_foreign(protocol: int) -> str:
    """Why a worker with this version of the messages gets no work; empty if it is the site's version."""
    if protocol == PROTOCOL:
        return ""
    older = "the worker" if protocol < PROTOCOL else "the site"
    return (
        f"this worker and the site of release {RELEASE} do not understand each other"
        f" (version {protocol} and {PROTOCOL} of their messages): update {older}"
    )


def _why_barred(worker: Worker) -> str:
    """If others that take the same work run uploaded bots, a worker that does not would only void games."""
    if not worker.refusal:
        return ""
    if worker.takes == Work.OWN:
        return f"it does not run uploaded bots: {worker.refusal}"
    others = Worker.objects.trusted_with_uploads().exclude(pk=worker.pk)
    replaced = all(others.taking(kind).exists() for kind in worker.work)
    return f"it does not run uploaded bots, and others do: {worker.refusal}" if replaced else ""


def _why_taken(worker: Worker, another: Token, now: datetime.datetime) -> str:
    """Why another token cannot have the worker's name now; empty if it can."""
    if (is_own := worker.takes == Work.OWN) != another.is_of_own_worker:
        return "" if is_own else f"the name {worker.name} is one of the site's workers: take another name"
    token = worker.token
    if token is None or not token.is_valid(now) or not token.user.is_active:
        return ""
    if token.user_id != another.user_id and worker.seen_at >= now - FORGOTTEN_AFTER:
        return f"the name {worker.name} belongs to a token of {token.user}: revoke that, or take another name"
    is_up = worker.state == Worker.State.UP and worker.seen_at >= now - LOST_AFTER
    return f"another token runs the worker {worker.name}" if is_up else ""


def _check_number(token: Token, now: datetime.datetime) -> None:
    """Check the number of a token's workers, including the latest; part of the caller's transaction."""
    lately = Worker.objects.filter(seen_at__gt=now - datetime.timedelta(days=1))
    if token.is_of_own_worker:
        if lately.filter(token__user=token.user).count() > MAX_OWN_WORKERS:
            raise WorkerNameError(f"you have run {MAX_OWN_WORKERS} workers of your own within a day")
    elif lately.filter(token=token).count() > MAX_NEW_NAMES:
        raise WorkerNameError(f"this token has run {MAX_NEW_NAMES} workers within a day")
