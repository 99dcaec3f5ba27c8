"""Validates an upload: a compliance check in a worker, then a game against itself on each ladder.

A validation begins with the upload, or as soon as uploads are run: a worker's heartbeat may begin the waiting
ones. Owners take turns, and each may use so many hours of slots a day for validations (``services.shares``).
Everything here may be repeated: messages about a check may come twice, late, or without a request.
"""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from collections.abc import Collection, Iterator

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engines.visible import visible, visible_lines
from tournament import models, queues
from tournament.models import BotVersion, Exam, Game, Worker
from tournament.services.bots.verdicts import put_off, refuse
from tournament.services.dispatch import workers
from tournament.services.dispatch.batches import engine_spec
from tournament.services.dispatch.dispatch import look_at_rooms
from tournament.services.locks import lock_row, locking
from tournament.services.schedule.tournaments import create_validation, start
from tournament.services.shares import SITE, charge, checked_seconds, exhausted, is_exhausted, used_by_owner
from tournament.services.uploads import availability as uploads
from workers.jobs import ComplianceEnding, ComplianceJob, ComplianceNews, Finding
from workers.service.compliance import MAX_LOG, MAX_NAME, MAX_SENTENCE
from workers.service.messaging.heartbeat import Heartbeat, name_of

SECONDS = 60
SECONDS_A_LADDER = 45
"""Time limits of a compliance check."""
MAX_TRIES = 3
"""Lost or failed checks of one version before an operator has to look at it."""
MAX_WORKER = 120
MAX_FOUND = 200


@transaction.atomic
def begin(version: BotVersion, now: datetime.datetime) -> Exam | None:
    """Send a version to its compliance check; None if one is under way already."""
    movable = [BotVersion.State.WAITING, BotVersion.State.VALIDATING]
    version = lock_row(BotVersion.objects.select_related("bot"), version.pk)
    if version.state not in movable or version.exams.filter(ended_at__isnull=True).exists():
        return None
    version.state, version.state_reason, version.validation = BotVersion.State.VALIDATING, "", None
    version.save(update_fields=["state", "state_reason", "validation"])
    exam = Exam.objects.create(version=version, sent_at=now)
    transaction.on_commit(assign_checks)
    return exam


def assign_checks() -> int:
    """Send the checks that wait to validation workers with free slots; returns how many. Repeatable."""
    rooms, jobs = look_at_rooms(queues.VALIDATION)
    free = {room.worker: room.free for room in rooms if room.free}
    if not free:
        return 0
    turns = _turns(Counter(job.owner for job in jobs), timezone.now())
    sent = 0
    while (name := max(free, key=free.__getitem__)) and free[name] > 0:
        if (exam := next(turns, None)) is None:
            break
        free[name] -= 1
        sent += _send_check(exam, name)
    return sent


def is_delayed(version: BotVersion, now: datetime.datetime) -> bool:
    """Whether a version's check or validation games wait for tomorrow: its owner's time is used up."""
    owner = version.bot.owner
    if version.state != BotVersion.State.VALIDATING or owner is None:
        return False
    if not is_exhausted(owner, now, is_validation=True):
        return False
    if version.exams.filter(ended_at__isnull=True, assigned="").exists():
        return True
    waiting = Game.objects.filter(tournament=version.validation_id, state=Game.State.WAITING)
    return version.validation_id is not None and waiting.exists()


def _turns(running: Counter[int], now: datetime.datetime) -> Iterator[Exam]:
    """The checks that wait: owners take turns, the one first whose bots have used the least time today.

    ``running`` counts the validation jobs by owner; running checks are added. Checks of owners whose time is
    used up wait for tomorrow.
    """
    open_checks = Exam.objects.filter(ended_at__isnull=True)
    checks = open_checks.filter(assigned="").select_related("version__bot").order_by("sent_at")
    over = exhausted(now, is_validation=True)
    waiting = [exam for exam in checks if exam.version.bot.owner_id not in over]
    owners = open_checks.exclude(assigned="").values_list("version__bot__owner", flat=True)
    running.update(owner or SITE for owner in owners)
    used = used_by_owner(now, is_validation=True)

    def rank(exam: Exam) -> tuple[int, float, datetime.datetime]:
        owner = exam.version.bot.owner_id or SITE
        return running[owner], used.get(owner, 0.0), exam.sent_at

    while waiting:
        exam = min(waiting, key=rank)
        waiting.remove(exam)
        running[exam.version.bot.owner_id or SITE] += 1
        yield exam


@transaction.atomic
def _send_check(exam: Exam, worker: str) -> bool:
    """Send a check on commit; False if another process has sent it meanwhile."""
    waiting = Exam.objects.filter(pk=exam.pk, assigned="", ended_at__isnull=True)
    if not waiting.update(assigned=worker, sent_at=timezone.now()):
        return False
    queues.send_on_commit(queues.send_check, check_job(exam), worker)
    return True


def validate_waiting() -> int:
    """Start the waiting validations; for the start of a site that runs uploads."""
    if not uploads.look().are_run:
        return 0
    waiting = list(BotVersion.objects.filter(state=BotVersion.State.WAITING).select_related("bot__owner"))
    now = timezone.now()
    return sum(begin(version, now) is not None for version in waiting)


@transaction.atomic
def receive_heartbeat(heartbeat: Heartbeat, now: datetime.datetime) -> Worker:
    """Process a heartbeat; if uploads are run from now on because of it, start the waiting validations."""
    before = heartbeat.stopping or uploads.look().are_run
    refused = workers.is_refusing(heartbeat.worker)
    worker = workers.record_heartbeat(heartbeat, now)
    # The worker may have stored its self-test, which counts for the site, before its heartbeat came.
    if (not before or (refused and not worker.refusal)) and uploads.look().are_run:
        validate_waiting()
    return worker


def check_job(exam: Exam) -> ComplianceJob:
    games = tuple(exam.version.games)
    seconds = SECONDS + SECONDS_A_LADDER * len(games)
    return ComplianceJob(str(exam.pk), engine_spec(exam.version), games, seconds)


@transaction.atomic
def record_news(news: ComplianceNews, now: datetime.datetime) -> bool:
    """Process a message about a check; False if the check is unknown, over or another worker's."""
    exam = _open_check(news.exam)
    if exam is None or exam.assigned != name_of(news.worker):
        models.Ignored.objects.count_more("foreign", now)
        return False
    exam.heard_at = now
    exam.worker = visible(news.worker, MAX_WORKER)
    exam.engine = visible(news.engine, MAX_NAME)
    exam.unpacked = exam.unpacked or news.unpacked
    if len(news.found) >= len(exam.found):  # messages may overtake each other: the longer one is later
        exam.found = [_shown(found).to_json() for found in news.found[:MAX_FOUND]]
    exam.save()
    if news.ending is not ComplianceEnding.NONE:
        _end(exam, Exam.End(str(news.ending)), now, visible(news.why, MAX_SENTENCE))
    return True


def sweep_checks(lost_before: datetime.datetime, idle: Collection[str], now: datetime.datetime) -> int:
    """Send checks again that had no message since ``lost_before``; returns how many.

    Includes checks queued before then for the workers named in ``idle``, which have taken them since.
    """
    silent = Exam.objects.filter(ended_at__isnull=True)
    taken = Q(heard_at__isnull=True, sent_at__lt=lost_before, assigned__in=idle)
    lost = list(silent.filter(Q(heard_at__lt=lost_before) | taken))
    for exam in lost:
        with transaction.atomic():
            if (still := _open_check(str(exam.pk))) is not None:
                _end(still, Exam.End.LOST, now, "its worker sent no more messages")
    return len(lost)


def _open_check(exam_id: str) -> Exam | None:
    try:
        uuid.UUID(exam_id)
    except ValueError:
        return None
    exams = locking(Exam.objects.select_related("version__bot__owner"))
    return exams.filter(pk=exam_id, ended_at__isnull=True).first()


def _end(exam: Exam, end: Exam.End, now: datetime.datetime, why: str) -> None:
    exam.end, exam.ended_at, exam.why = end, now, why
    exam.save()
    version = exam.version
    if end == Exam.End.DONE:
        _conclude(version, exam.findings)
    elif end == Exam.End.REFUSED:
        refuse(version, f"the bundle cannot be used: {why}")
    elif _failures(version) < MAX_TRIES:
        begin(version, now)
    else:
        put_off(version, f"it could not be checked in {MAX_TRIES} attempts, the last: {why}")
    if exam.assigned:
        seconds = checked_seconds(exam.sent_at, exam.heard_at, now)
        charge({version.bot.owner_id: seconds}, now, is_validation=True)


def _failures(version: BotVersion) -> int:
    """How many of the latest checks failed or were lost; those returned by a stopping worker do not count."""
    ends = list(version.exams.order_by("-sent_at").values_list("end", flat=True)[: 10 * MAX_TRIES])
    failed = [end for end in ends if end != Exam.End.RETURNED]
    return sum(end in {Exam.End.FAILED, Exam.End.LOST} for end in failed[:MAX_TRIES])


def _conclude(version: BotVersion, findings: list[Finding]) -> None:
    """Refuse it with the first grave fault, or start its validation games."""
    for found in findings:
        if found.fault and found.is_grave:
            where = f" on {found.ladder}" if found.ladder else ""
            refuse(version, f"the compliance check {found.check!r}{where} failed: {found.fault}")
            return
    validation = create_validation(version)
    BotVersion.objects.filter(pk=version.pk).update(validation=validation)
    start(validation)


def _shown(found: Finding) -> Finding:
    """A finding with cleaned and bounded texts: the worker is not trusted to have done that."""
    return Finding(
        check=visible(found.check, MAX_NAME),
        ladder=visible(found.ladder, MAX_NAME),
        fault=visible(found.fault, MAX_SENTENCE),
        advice=visible(found.advice, MAX_SENTENCE),
        lines=visible_lines(found.lines, MAX_LOG),
        stderr=visible_lines(found.stderr, MAX_LOG),
        was_tried=found.was_tried,
        is_grave=found.is_grave,
        same_as=visible(found.same_as, MAX_NAME),
    )
