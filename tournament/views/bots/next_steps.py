"""What happens next with a version: its validation, its next games, which versions are active."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.models import ActiveVersion, BotVersion, Exam
from tournament.services.fair_share import hours_a_day, used_today
from tournament.services.ladders.queue import NextGame, next_games_of, queue_state
from tournament.services.uploads.validation import is_delayed
from tournament.services.work.durations import slots_at_work
from workers.jobs import Work


@dataclass(frozen=True, slots=True)
class LadderStep:
    """What happens next on one ladder: the next game of this version, or why it has none."""

    game: Rules
    next_game: NextGame | None
    text: str = ""
    instead: BotVersion | None = None
    """The version that is active there instead."""


@dataclass(frozen=True, slots=True)
class NextSteps:
    """Sentences about the queue for validation, and what happens on each ladder."""

    sentences: list[str]
    ladders: list[LadderStep]
    trouble: str = ""
    """What keeps all games from being played."""

    @property
    def can_activate(self) -> bool:
        return any(step.next_game is None for step in self.ladders)


def next_steps_of(
    version: BotVersion, user: access.Visitor, exam: Exam | None, now: datetime.datetime
) -> NextSteps | None:
    """None if nothing follows. Only the owner is told about the queue and about versions active instead."""
    manages = access.may_edit_bot(user, version.bot)
    if version.state == BotVersion.State.VALID:
        state = queue_state(now)
        rows = list(version.bot.activities.select_related("version__bot"))
        found = next_games_of(state, rows)
        steps = [_step(game, version, rows, found) for game in GAMES.values() if version.plays(game.code)]
        shown = [step for step in steps if manages or step.next_game]
        return NextSteps([], shown, state.trouble) if shown else None
    if manages and version.state == BotVersion.State.WAITING:
        return NextSteps(_waiting(version), [])
    if manages and exam is not None and version.state == BotVersion.State.VALIDATING:
        return NextSteps(_delayed(version, now) or _queued(exam), [])
    return None


def checks_before(exam: Exam) -> int:
    """Checks that were queued earlier and are not over; 0 for one that has begun."""
    if exam.heard_at is not None or exam.ended_at is not None:
        return 0
    return Exam.objects.filter(ended_at__isnull=True, sent_at__lt=exam.sent_at).count()


def _step(
    game: Rules, version: BotVersion, rows: list[ActiveVersion], found: dict[str, NextGame]
) -> LadderStep:
    active = next((row for row in rows if row.ladder_id == game.code), None)
    if active is None:
        return LadderStep(game, None, "No version of this bot is active here")
    if not active.enabled:
        return LadderStep(game, None, "You have switched this bot off here")
    if active.version_id != version.pk:
        return LadderStep(game, None, f"v{active.version.number} is active here instead", active.version)
    return LadderStep(game, found.get(game.code))


def _waiting(version: BotVersion) -> list[str]:
    before = BotVersion.objects.filter(state=BotVersion.State.WAITING, pk__lt=version.pk).count()
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


def _queued(exam: Exam) -> list[str]:
    """Empty once a worker has begun the check: its progress is shown then."""
    if exam.heard_at is not None:
        return []
    place = f"This version is number {checks_before(exam) + 1} in the queue for validation."
    if slots_at_work(Work.CHECKS):
        return [place]
    return [place, "No worker validates bots at the moment."]
