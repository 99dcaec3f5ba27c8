"""The events of a version until its validation is over: its check, its games against itself, its states."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from django.http import HttpRequest

from tournament import access
from tournament.api.v1.events.batches import EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.types import (
    ApiEvent,
    CheckedPart,
    GameEnded,
    VersionChanged,
    VersionChecked,
    VersionState,
)
from tournament.models import BotVersion, ComplianceCheck, Game
from tournament.queues import ANY_GAME
from tournament.rows.games import game_rows
from tournament.sentences import as_sentence
from tournament.views.bots.versions import find_version
from tournament.views.exports import origin_of

State = BotVersion.State


class VersionCursor(msgspec.Struct, array_like=True, frozen=True):
    state: str = ""
    check: str = ""
    """The beginning of the id of the latest check."""
    parts: Whole = 0
    """Its findings that were told."""
    validation: Whole = 0
    """The tournament of its games, of which ``games`` were told."""
    games: tuple[Whole, ...] = ()


Told = tuple[ApiEvent, VersionCursor]


def version_batch(request: HttpRequest, slug: str, number: int) -> EventBatch:
    """What happened to the version after the client's cursor, or everything.

    Only who manages the bot gets more than its states, and their reasons.
    """
    version = find_version(request, slug, number)
    manages = access.may_edit_bot(request.user, version.bot)
    after = after_of(request)
    known = read_cursor(after, VersionCursor) if after else VersionCursor()
    events: list[ApiEvent] = []
    if known is None:
        known = VersionCursor()
        events.append(reset(write_cursor(known), after))
    for one in (_parts, _games, _changes) if manages else (_changes,):
        told = list(one(request, version, known))
        events += [event for event, _ in told]
        known = told[-1][1] if told else known
    return EventBatch(
        events,
        write_cursor(known),
        (ANY_GAME,),
        is_over=version.state not in {State.WAITING, State.VALIDATING},
        is_personal=manages,
        again_s=2.0,
    )


def _parts(request: HttpRequest, version: BotVersion, known: VersionCursor) -> Iterator[Told]:
    """The findings of the latest check."""
    check: ComplianceCheck | None = version.checks.order_by("-sent_at").first()
    if check is None:
        return
    key = check.pk.hex[:12]
    told = known.parts if known.check == key else 0
    for number, found in enumerate(check.findings[told:], told + 1):
        known = msgspec.structs.replace(known, check=key, parts=number)
        data = CheckedPart(
            found.check, found.ladder, found.fault, found.advice, found.is_grave, found.was_tried
        )
        yield VersionChecked(id=write_cursor(known), at=now_text(check.ended_at), data=data), known


def _games(request: HttpRequest, version: BotVersion, known: VersionCursor) -> Iterator[Told]:
    """The games of the validation, which are few."""
    if (event := version.validation_id) is None:
        return
    told = known.games if known.validation == event else ()
    over = Game.objects.filter(tournament=event, state__in=[Game.State.DONE, Game.State.HALTED])
    new = over.exclude(pk__in=told).order_by("pk").values_list("pk", flat=True)
    for row in game_rows(origin_of(request), list(new)):
        told = (*told, row.id)
        known = msgspec.structs.replace(known, validation=event, games=told)
        yield GameEnded(id=write_cursor(known), at=row.finished or now_text(), data=row), known


def _changes(request: HttpRequest, version: BotVersion, known: VersionCursor) -> Iterator[Told]:
    if version.state != known.state:
        known = msgspec.structs.replace(known, state=version.state)
        page = f"{origin_of(request)}{version.get_absolute_url()}"
        bot = version.bot
        tells_why = version.state_reason and access.may_edit_bot(request.user, bot)
        reason = as_sentence(version.state_reason) if tells_why else ""
        data = VersionState(bot.name, bot.slug, version.number, version.state, reason, page)
        yield VersionChanged(id=write_cursor(known), at=now_text(), data=data), known
