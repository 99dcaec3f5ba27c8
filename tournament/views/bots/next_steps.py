"""What happens next with a version, and when: its validation, its next games, which versions are active."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.utils.html import format_html

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access, queues
from tournament.models import ActiveVersion, BotVersion, Exam, Game, LadderRating, Worker
from tournament.services.dispatch.slots import slots_of
from tournament.services.ladders.forecasts import NEVER_S, format_moment
from tournament.services.ladders.stored_queue import NextGame, next_games_of, queue_state
from tournament.services.shares import hours_a_day, used_today
from tournament.services.uploads.validation import is_delayed
from tournament.views.moments import show_moment

MOST_MEASURED = 20
"""Latest compliance checks from whose durations the waiting time is estimated."""
GUESSED_S = 60.0
"""Seconds of a check on a site that has made none yet."""


@dataclass(frozen=True, slots=True)
class LadderStep:
    """What happens next on one ladder."""

    game: Rules
    text: str
    """May hold a ``<time>`` element."""
    is_active: bool
    """Whether this version plays there."""
    playing: Game | None = None
    """The game it is playing now."""
    instead: BotVersion | None = None
    """The version that is active there instead."""
    note: str = ""
    """Why then."""


@dataclass(frozen=True, slots=True)
class NextSteps:
    """Sentences about the queue, with ``<time>`` elements, and what happens on each ladder."""

    sentences: list[str]
    ladders: list[LadderStep]

    @property
    def can_activate(self) -> bool:
        return not all(step.is_active for step in self.ladders)


def next_steps_of(
    version: BotVersion, user: access.Visitor, exam: Exam | None, now: datetime.datetime
) -> NextSteps | None:
    """None if nothing follows. Only the owner is told about the queue and about versions active instead."""
    manages = access.may_edit_bot(user, version.bot)
    if version.state == BotVersion.State.VALID:
        steps = _ladder_steps(version, now)
        shown = [step for step in steps if manages or step.is_active]
        return NextSteps([], shown) if shown else None
    if manages and version.state == BotVersion.State.WAITING:
        return NextSteps(_waiting(version), [])
    if manages and exam is not None and version.state == BotVersion.State.VALIDATING:
        return NextSteps(_delayed(version, now) or _queued(exam, now), [])
    return None


def checks_before(exam: Exam) -> int:
    """Checks that were queued earlier and are not over; 0 for one that has begun."""
    if exam.heard_at is not None or exam.ended_at is not None:
        return 0
    return Exam.objects.filter(ended_at__isnull=True, sent_at__lt=exam.sent_at).count()


def _ladder_steps(version: BotVersion, now: datetime.datetime) -> list[LadderStep]:
    rows = version.bot.activities.select_related("version__bot")
    active = {row.ladder_id: row for row in rows}
    plays = {code for code, row in active.items() if row.enabled and row.version_id == version.pk}
    expected = next_games_of(queue_state(now), active.values()) if plays else {}
    rated = set(LadderRating.objects.filter(version=version, games__gt=0).values_list("ladder", flat=True))
    steps = []
    for code, game in GAMES.items():
        if code in plays:
            steps.append(_expected(game, "next" if code in rated else "first", expected[code], now))
        elif version.plays(code):
            steps.append(_elsewhere(game, active.get(code)))
    return steps


def _expected(game: Rules, which: str, found: NextGame, now: datetime.datetime) -> LadderStep:
    if found.game is not None or found.trouble or found.seconds == NEVER_S:
        return LadderStep(game, f"The {which} game: {found.full_text}", is_active=True, playing=found.game)
    text = format_html("The {} ladder game is likely at about {}", which, _time(now, found.seconds))
    return LadderStep(game, text, is_active=True, note=found.text)


def _time(now: datetime.datetime, seconds: float) -> str:
    return show_moment(now + datetime.timedelta(seconds=seconds), "clock")


def _elsewhere(game: Rules, active: ActiveVersion | None) -> LadderStep:
    if active is None:
        return LadderStep(game, "No version of this bot is active here", is_active=False)
    if not active.enabled:
        return LadderStep(game, "You have switched this bot off here", is_active=False)
    instead = active.version
    return LadderStep(game, f"v{instead.number} is active here instead", is_active=False, instead=instead)


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


def _queued(exam: Exam, now: datetime.datetime) -> list[str]:
    """Empty once a worker has begun the check: its progress is shown then."""
    if exam.heard_at is not None:
        return []
    slots = slots_of(Worker.objects.up().filter(queue=queues.VALIDATION))
    before = checks_before(exam)
    place = f"This version is number {before + 1} in the queue for validation."
    if not slots:
        return [place, "No worker validates bots at the moment."]
    wait_s = before // slots * _mean_check_s()
    sentence = "Its check is likely to begin at about {}, {}."
    return [place, format_html(sentence, _time(now, wait_s), format_moment(wait_s))]


def _mean_check_s() -> float:
    ended = Exam.objects.filter(end=Exam.End.DONE, heard_at__isnull=False).order_by("-ended_at")
    spans = [
        (ended_at - heard_at).total_seconds()
        for heard_at, ended_at in ended.values_list("heard_at", "ended_at")[:MOST_MEASURED]
        if heard_at is not None and ended_at is not None
    ]
    return sum(spans) / len(spans) if spans else GUESSED_S
