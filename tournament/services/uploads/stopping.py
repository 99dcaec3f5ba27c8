"""Stops the validation of a version: its compliance check and its validation games end at once."""

from __future__ import annotations

import datetime

from django.db import transaction

from tournament.models import BotVersion, ComplianceCheck, Job, Tournament
from tournament.services.bots.verdicts import refuse
from tournament.services.locks import hold, lock, lock_row, lock_tournaments
from tournament.services.schedule.finishing import cancel_open_games
from tournament.services.stopping import end_jobs

State = BotVersion.State


def stop_validation(version: BotVersion, reason: str, now: datetime.datetime) -> bool:
    """Refuse a version that waits or is validated; False if it is neither.

    The next answer to its slot says stop, and what it still reports of the check is ignored.
    """
    while (was_stopped := _try_to_stop(version.pk, reason, now)) is None:
        pass  # at most once after each check
    return was_stopped


@transaction.atomic
def _try_to_stop(pk: int, reason: str, now: datetime.datetime) -> bool | None:
    """None if the check ended at this moment: what follows it, games or another check, is not locked."""
    games = BotVersion.objects.values_list("validation", flat=True).get(pk=pk)
    lock_tournaments([games] if games else [])
    running = ComplianceCheck.objects.filter(version=pk, ended_at__isnull=True)
    hold(Job.objects.filter(checks__in=list(running)))
    checks = lock(running)
    locked = lock_row(BotVersion.objects.select_related("bot__owner"), pk)
    now_open = set(locked.checks.filter(ended_at__isnull=True).values_list("pk", flat=True))
    if locked.validation_id != games or now_open != {check.pk for check in checks}:
        transaction.set_rollback(True)  # releases the locks also in a caller's transaction
        return None
    if locked.state not in {State.WAITING, State.VALIDATING}:
        return False
    for check in checks:
        _stop_check(check, reason, now)
    if games is not None:
        _cancel_games(games, reason, now)
    BotVersion.objects.filter(pk=locked.pk).update(state=State.VALIDATING)  # which ``refuse`` demands
    refuse(locked, reason)
    return True


def _stop_check(check: ComplianceCheck, reason: str, now: datetime.datetime) -> None:
    end_jobs(Job.objects.filter(checks=check), Job.End.RELEASED, now)
    ComplianceCheck.objects.filter(pk=check.pk).update(
        ended_at=now, end=ComplianceCheck.End.RETURNED, why=reason
    )


def _cancel_games(pk: int, reason: str, now: datetime.datetime) -> None:
    alive = Tournament.objects.filter(pk=pk, state__in=[Tournament.State.RUNNING, Tournament.State.PAUSED])
    ended = {"state": Tournament.State.CANCELLED, "state_reason": reason, "finished_at": now}
    if alive.update(**ended):
        cancel_open_games(Tournament.objects.get(pk=pk), now)
