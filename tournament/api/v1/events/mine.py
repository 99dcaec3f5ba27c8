"""The events of a user: the notices of the account's page."""

from __future__ import annotations

import datetime

import msgspec
from django.http import HttpRequest
from django.utils import timezone

from tournament.api.v1.events.batches import EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.types import ApiEvent, Noticed, NoticeRow
from tournament.models import Bot, Notice, User
from tournament.models.people import MAX_NOTICES
from tournament.views.exports import origin_of

SETTLED = datetime.timedelta(minutes=1)
"""A notice of a transaction that took longer may be missed, if a later one was told before."""
MAX_TOLD = 100
"""Notices of a cursor."""
TOPIC = "notices"
"""Nothing is announced there: new notices are looked for."""


class NoticeCursor(msgspec.Struct, array_like=True, frozen=True):
    """Transactions may end in another order than their notices were numbered in."""

    until: Whole = 0
    """All notices up to this id were told."""
    told: tuple[Whole, ...] = ()
    """Later ones that were told."""

    def after(self, pk: int, *, is_settled: bool) -> NoticeCursor:
        """The cursor after one more."""
        told = (*self.told, pk)[-MAX_TOLD:]
        until = pk if is_settled else max(self.until, told[0] - 1 if len(told) == MAX_TOLD else 0)
        return NoticeCursor(until, tuple(one for one in told if one > until))


def notice_batch(request: HttpRequest, user: User, bot: Bot | None = None) -> EventBatch:
    """The unread notices after the client's cursor, or all; as many at once as the account's page shows.

    With ``bot`` only those about its versions.
    """
    after = after_of(request)
    known = read_cursor(after, NoticeCursor) if after else NoticeCursor()
    events: list[ApiEvent] = []
    if known is None:
        known = NoticeCursor()
        events.append(reset(write_cursor(known), after))
    unread = user.notices.filter(read_at__isnull=True, pk__gt=known.until).exclude(pk__in=known.told)
    if bot is not None:
        unread = unread.filter(version__bot=bot)
    rows = unread.select_related("version__bot", "tournament").order_by("pk")[:MAX_NOTICES]
    settled = timezone.now() - SETTLED
    for notice in rows:
        known = known.after(notice.pk, is_settled=notice.created_at < settled)
        at = now_text(notice.created_at)
        events.append(Noticed(id=write_cursor(known), at=at, data=_row(request, notice)))
    return EventBatch(
        events, write_cursor(known), (TOPIC,), is_whole=len(events) < MAX_NOTICES, is_personal=True
    )


def _row(request: HttpRequest, notice: Notice) -> NoticeRow:
    subject = notice.version or notice.tournament
    path = subject.get_absolute_url() if subject else notice.path
    page = f"{origin_of(request)}{path}" if path else None
    return NoticeRow(notice.pk, notice.text, notice.is_warning, now_text(notice.created_at), page)
