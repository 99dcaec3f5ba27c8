"""What happens next with a version: its validation, its next games, which versions are active."""

from __future__ import annotations

import datetime
from typing import Any

from engines.rules.registry import GAMES
from tournament.models import BotVersion, ComplianceCheck
from tournament.services.fair_share import hours_a_day, used_today
from tournament.services.ladders.queue import next_game_of, queue_state
from tournament.services.uploads.validation import is_delayed
from tournament.services.work.durations import slots_at_work
from workers.jobs import Work

State = BotVersion.State


def next_steps_of(
    version: BotVersion, manages: bool, check: ComplianceCheck | None, now: datetime.datetime
) -> dict[str, Any]:
    """The values of ``pieces/next_steps.html``; empty if nothing follows.

    Only the owner is told about the queue for validation and about versions that are active instead.
    """
    if version.state == State.VALID:
        return _on_ladders(version, manages, now)
    if manages and version.state == State.WAITING:
        return {"sentences": _waiting(version)}
    if manages and check is not None and version.state == State.VALIDATING:
        return {"sentences": _delayed(version, now) or _queued(check)}
    return {}


def checks_before(check: ComplianceCheck) -> int:
    """Checks that were queued earlier and are not over; 0 for one that has begun."""
    if check.heard_at is not None or check.ended_at is not None:
        return 0
    return ComplianceCheck.objects.filter(ended_at__isnull=True, sent_at__lt=check.sent_at).count()


def _on_ladders(version: BotVersion, manages: bool, now: datetime.datetime) -> dict[str, Any]:
    """On each ladder the active version and, if it is this one, its next game."""
    state = queue_state(now)
    rows = {row.ladder_id: row for row in version.bot.activities.select_related("version__bot")}
    steps = []
    for game in (game for game in GAMES.values() if version.plays(game.code)):
        row = rows.get(game.code)
        is_active = row and row.enabled and row.version_id == version.pk
        if manages or is_active:
            steps.append((game, row, next_game_of(state, row) if row and is_active else None))
    can_activate = any(next_game is None for *_, next_game in steps)
    return {"ladders": steps, "trouble": state.trouble, "can_activate": can_activate} if steps else {}


def _waiting(version: BotVersion) -> list[str]:
    before = BotVersion.objects.filter(state=State.WAITING, pk__lt=version.pk).count()
    return [
        f"This is number {before + 1} of the versions that wait.",
        "Its validation begins as soon as this site runs uploads, the versions before it first.",
    ]


def _delayed(version: BotVersion, now: datetime.datetime) -> list[str]:
    """Empty unless the owner's validations have used up the time of today."""
    owner = version.bot.owner
    if owner is None or not is_delayed(version, now):
        return []
    used = round(used_today(owner, now, is_validation=True), 1)
    most = hours_a_day(is_validation=True)
    return [
        f"Validations of this owner's bots have used {used:g} of {most:g} slot-hours today (UTC).",
        "This validation waits until tomorrow (UTC), when it continues by itself.",
    ]


def _queued(check: ComplianceCheck) -> list[str]:
    """Empty once a worker has begun the check: its progress is shown then."""
    if check.heard_at is not None:
        return []
    queued = f"This version is number {checks_before(check) + 1} in the queue for validation."
    if slots_at_work(Work.CHECKS):
        return [queued]
    return [queued, "No worker validates bots at the moment."]
