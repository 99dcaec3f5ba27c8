"""Validates an upload: a compliance check in a worker, then a game against itself on each ladder.

A validation begins with the upload, or as soon as uploads are run: a worker's heartbeat may begin the waiting
ones. Which check a slot takes next is decided in ``work.checks``. Everything here may be repeated: news of a
check may come twice, late, or without a request.
"""

from __future__ import annotations

import datetime

import msgspec
from django.db import transaction
from django.utils import timezone

from engines.formats.planning import PlannedPairing, pairing_seed
from engines.visible import visible, visible_lines
from tournament import models
from tournament.formats.validation import Validation
from tournament.models import BotVersion, ComplianceCheck, Game, Job, Ladder, Tournament
from tournament.services.bots.verdicts import refuse
from tournament.services.fair_share import is_exhausted
from tournament.services.locks import hold, lock_row, locking
from tournament.services.schedule.pairings import store_pairings
from tournament.services.schedule.slugs import name_slug
from tournament.services.stopping import end_jobs, return_check
from tournament.services.uploads import availability as uploads
from workers.jobs import ComplianceEnding, ComplianceNews, Finding, name_of
from workers.service.compliance import MAX_LOG, MAX_NAME, MAX_SENTENCE

TIME_CONTROL = "2+0.1"
"""Of the validation games."""
MAX_WORKER = 120
MAX_FOUND = 200


@transaction.atomic
def begin(version: BotVersion, now: datetime.datetime) -> ComplianceCheck | None:
    """Have a version wait for its compliance check; None if one is under way already."""
    movable = [BotVersion.State.WAITING, BotVersion.State.VALIDATING]
    version = lock_row(BotVersion.objects.select_related("bot"), version.pk)
    if version.state not in movable or version.checks.filter(ended_at__isnull=True).exists():
        return None
    version.state, version.state_reason, version.validation = BotVersion.State.VALIDATING, "", None
    version.save(update_fields=["state", "state_reason", "validation"])
    return ComplianceCheck.objects.create(version=version, sent_at=now)


def is_delayed(version: BotVersion, now: datetime.datetime) -> bool:
    """Whether a version's check or validation games wait for tomorrow: its owner's time is used up."""
    owner = version.bot.owner
    if version.state != BotVersion.State.VALIDATING or owner is None:
        return False
    if not is_exhausted(owner, now, is_validation=True):
        return False
    if version.checks.filter(ended_at__isnull=True, job=None).exists():
        return True
    waiting = Game.objects.filter(tournament=version.validation_id, state=Game.State.WAITING)
    return version.validation_id is not None and waiting.exists()


def validate_waiting() -> int:
    """Start the waiting validations; for the start of a site that runs uploads."""
    if not uploads.current_state().are_run:
        return 0
    waiting = list(BotVersion.objects.filter(state=BotVersion.State.WAITING).select_related("bot__owner"))
    now = timezone.now()
    return sum(begin(version, now) is not None for version in waiting)


@transaction.atomic
def record_news(news: ComplianceNews, now: datetime.datetime) -> bool:
    """Store the news of a check; False if the check is unknown, over or another worker's."""
    job = Job.objects.filter(pk=news.exam, worker=name_of(news.worker))
    hold(job)
    checks = locking(ComplianceCheck.objects.select_related("version__bot__owner"))
    check = checks.filter(job__in=job.values("pk"), ended_at__isnull=True).first()
    if check is None:
        models.Ignored.objects.count_more("foreign")
        return False
    check.heard_at = now
    check.worker = visible(news.worker, MAX_WORKER)
    check.engine = visible(news.engine, MAX_NAME)
    check.unpacked = check.unpacked or news.unpacked
    if len(news.found) >= len(check.found):  # news may overtake each other: the longer are later
        check.found = msgspec.to_builtins([_shown(found) for found in news.found[:MAX_FOUND]])
    check.save()
    if news.ending is not ComplianceEnding.NONE:
        end_jobs(job, Job.End.DONE, now)
        _end(check, ComplianceCheck.End(str(news.ending)), now, visible(news.why, MAX_SENTENCE))
    return True


def _end(check: ComplianceCheck, end: ComplianceCheck.End, now: datetime.datetime, why: str) -> None:
    if end in {ComplianceCheck.End.FAILED, ComplianceCheck.End.RETURNED}:
        return_check(check, end, now, why)
        return
    ComplianceCheck.objects.filter(pk=check.pk).update(ended_at=now, end=end, why=why)
    if end == ComplianceCheck.End.REFUSED:
        refuse(check.version, f"the bundle cannot be used: {why}")
    else:
        _conclude(check.version, check.findings, now)


def _conclude(version: BotVersion, findings: list[Finding], now: datetime.datetime) -> None:
    """Refuse it with the first grave fault, or start its validation games."""
    for found in findings:
        if found.fault and found.is_grave:
            where = f" on {found.ladder}" if found.ladder else ""
            refuse(version, f"the compliance check {found.check!r}{where} failed: {found.fault}")
            return
    start_games(version, now)


@transaction.atomic
def start_games(version: BotVersion, now: datetime.datetime) -> Tournament:
    """Start the validation games: the version plays itself once on every ladder it claims."""
    Ladder.objects.ensure()
    name = f"Validation of {version}"[:80]
    validation = Tournament.objects.create(
        slug=name_slug(name),
        owner=version.bot.owner,
        kind=Validation.code,
        state=Tournament.State.RUNNING,
        started_at=now,
        name=name,
        rated=False,
        ladders=version.games,
        time_control=TIME_CONTROL,
        seed=version.pk,
    )
    validation.entries.create(version=version, number=1)
    pairings = (
        PlannedPairing(code, 1, number, version.pk, version.pk, (), pairing_seed(version.pk, code, 1, number))
        for number, code in enumerate(version.games, start=1)
    )
    store_pairings(validation, pairings, games_a_pair=1)
    BotVersion.objects.filter(pk=version.pk).update(validation=validation)
    return validation


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
