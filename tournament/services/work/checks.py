"""Compliance checks as work: which one a slot takes next.

What a check finds is stored by ``uploads.validation``.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence

from tournament.models import ComplianceCheck, Job, Worker
from tournament.services.fair_share import SITE, exhausted, used_by_owner
from tournament.services.work.leases import take_first
from workers.jobs import Ask, ComplianceJob, Work


def claim_check(ask: Ask, worker: Worker, now: datetime.datetime) -> Job | None:
    """Give a slot the check that is next; None if none waits that it may have, or other slots were quicker.

    Owners take turns: first the one with the fewest running checks and validation games, then the one whose
    bots have used the least time today. Checks of owners whose time is used up wait for tomorrow.
    """
    waiting = waiting_checks(now)
    if not waiting:
        return None

    def in_turn() -> Sequence[ComplianceCheck]:
        return waiting if leaves_a_slot(ask, worker) else ()

    return take_first(in_turn, ask, worker, Work.CHECKS, now, sent_at=now)


def leaves_a_slot(ask: Ask, worker: Worker) -> bool:
    """Whether another slot of the worker has no check or validation game, or it has no other slot.

    Checks take minutes, and people's searches shall not wait for them. The caller has locked the worker.
    """
    if Work.ANALYSIS not in ask.takes or worker.slots - worker.held < 2:
        return True
    held = Job.objects.of_worker(worker.name).exclude(kind=Work.ANALYSIS)
    slots = set(held.values_list("slot", flat=True))
    return len(slots | {ask.slot}) < worker.slots - worker.held


def check_job(check: ComplianceCheck) -> ComplianceJob:
    """The check as its worker gets it; its news name the job."""
    return ComplianceJob(
        str(check.job_id), check.version.engine_spec(), tuple(check.version.games), check.seconds
    )


def waiting_checks(now: datetime.datetime) -> list[ComplianceCheck]:
    """The checks that wait, the next one first."""
    open_checks = ComplianceCheck.objects.filter(ended_at__isnull=True)
    checks = list(open_checks.filter(job=None).select_related("version__bot").order_by("sent_at"))
    if not checks:
        return []
    used = used_by_owner(now, is_validation=True)
    over = exhausted(used, is_validation=True)
    held = Job.objects.held().filter(kind=Work.CHECKS)
    running = Counter(owner or SITE for owner in held.values_list("owner", flat=True))

    def rank(check: ComplianceCheck) -> tuple[int, float, datetime.datetime]:
        owner = check.owner_id or SITE
        return running[owner], used.get(owner, 0.0), check.sent_at

    return sorted((check for check in checks if check.owner_id not in over), key=rank)
