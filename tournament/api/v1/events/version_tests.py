"""The events of a version test: its counted pairs and its verdict."""

from __future__ import annotations

import msgspec
from django.http import HttpRequest

from tournament import access
from tournament.api.v1.events.batches import MAX_EVENTS, EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.types import ApiEvent, PairCounted, VerdictReached
from tournament.queues import tournament_topic
from tournament.views.version_tests.version_tests import find_version_test, pair_rows, version_test_row


class VersionTestCursor(msgspec.Struct, array_like=True, frozen=True):
    revision: Whole
    pair: Whole
    """The last counted pair."""
    outcome: str


def version_test_batch(request: HttpRequest, slug: str) -> EventBatch:
    """The pairs that counted after the client's cursor, or all, and the verdict."""
    tournament = find_version_test(request, slug)
    test, after = tournament.version_test, after_of(request)
    begin = VersionTestCursor(tournament.revision, 0, "")
    known = read_cursor(after, VersionTestCursor) if after else begin
    events: list[ApiEvent] = []
    if known is None or known.revision != tournament.revision or known.pair > test.looked_at:
        known = begin
        events.append(reset(write_cursor(begin), after))
    for row in pair_rows(request, tournament, after=known.pair)[:MAX_EVENTS]:
        known = msgspec.structs.replace(known, pair=row.pair)
        events.append(PairCounted(id=write_cursor(known), at=now_text(), data=row))
    is_whole = len(events) < MAX_EVENTS
    if is_whole and test.outcome != known.outcome:
        known = msgspec.structs.replace(known, outcome=test.outcome)
        at = now_text(tournament.finished_at)
        events.append(
            VerdictReached(id=write_cursor(known), at=at, data=version_test_row(request, tournament))
        )
    return EventBatch(
        events,
        write_cursor(known),
        (tournament_topic(tournament.pk),),
        is_over=test.is_over,
        is_whole=is_whole,
        is_personal=not access.may_see_tournament(access.PUBLIC, tournament),
        pause_s=1.0,
        again_s=2.0,
    )
