"""Stops the validation of a version: its compliance check and its validation games end at once.

A separate module, because a person asks for it; all other steps of a validation follow from messages.
"""

from __future__ import annotations

import datetime
import uuid

from django.db import transaction

from tournament.models import BotVersion, Exam, Tournament
from tournament.services.bots.verdicts import refuse
from tournament.services.schedule.steps import cancel_games
from tournament.services.shares import charge
from tournament.services.stopping import stop_jobs

State = BotVersion.State


@transaction.atomic
def stop_validation(version: BotVersion, reason: str, now: datetime.datetime) -> bool:
    """Refuse a version that waits or is validated; False if it is neither.

    Its worker stops the engines, and what it still reports of the check is ignored.
    """
    locked = (
        BotVersion.objects.select_for_update(of=("self",)).select_related("bot__owner").get(pk=version.pk)
    )
    if locked.state not in {State.WAITING, State.VALIDATING}:
        return False
    for exam in locked.exams.select_for_update().filter(ended_at__isnull=True):
        _stop_check(exam, locked.bot.owner_id, reason, now)
    if locked.validation_id is not None:
        _cancel_games(locked.validation_id, reason, now)
    BotVersion.objects.filter(pk=locked.pk).update(state=State.VALIDATING)  # which ``refuse`` demands
    refuse(locked, reason)
    return True


def _stop_check(exam: Exam, owner: int | None, reason: str, now: datetime.datetime) -> None:
    Exam.objects.filter(pk=exam.pk).update(ended_at=now, end=Exam.End.RETURNED, why=reason)
    if exam.assigned:
        charge({owner: (now - exam.sent_at).total_seconds()}, now)
        stop_jobs({uuid.UUID(str(exam.pk)): exam.assigned})


def _cancel_games(pk: int, reason: str, now: datetime.datetime) -> None:
    alive = Tournament.objects.filter(pk=pk, state__in=[Tournament.State.RUNNING, Tournament.State.PAUSED])
    ended = {"state": Tournament.State.CANCELLED, "state_reason": reason, "finished_at": now}
    if alive.update(**ended):
        cancel_games(Tournament.objects.get(pk=pk), now)
