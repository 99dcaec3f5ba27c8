"""The events after a cursor, as a page, and as the part of a stream that comes next."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from tournament.api.v1.events.types import ApiEvent, Reset, ResetData
from tournament.rows.fields import Address, as_text
from tournament.views.polling import AFTER, LINES_TYPE, LivePart, is_part

MAX_EVENTS = 1000
"""Events of one batch."""
MAX_BEHIND = 10_000
"""Games of a ladder that are looked through for a client that was away; one further behind reads again."""
LAST = "Last-Event-ID"
NOT_READ = "This is where the events begin: read the object now."
OUTDATED = "What is known up to this id no longer fits: read the object again."
_LINES = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class EventBatch:
    """The events after a cursor, in their order, and how it goes on."""

    events: Sequence[ApiEvent]
    cursor: str
    """After all of them."""
    topics: tuple[str, ...]
    """Those of ``tournament.queues``."""
    is_over: bool = False
    """Whether nothing can happen any more; events that are stored follow nevertheless."""
    is_whole: bool = True
    """False: more events are stored already."""
    is_personal: bool = False
    """Whether others do not get the same."""
    pause_s: float = 0.2
    again_s: float = 5.0
    """It is asked for again after so long also without news: not every change is announced."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """The parameters of the next request, beside the cursor."""

    @property
    def followed(self) -> tuple[str, ...]:
        """The topics, or none if nothing follows."""
        return () if self.is_over and self.is_whole else self.topics


def after_of(request: HttpRequest) -> str:
    """The id of the last event that the client knows; empty at the beginning."""
    return request.headers.get(LAST) or request.GET.get(AFTER, "")


def reset(cursor: str, after: str) -> Reset:
    """The event that says to read the object; ``after`` is the client's cursor."""
    return Reset(id=cursor, at=now_text(), data=ResetData(OUTDATED if after else NOT_READ))


def now_text(moment: datetime.datetime | None = None) -> str:
    """The moment as events have it, or else the present one."""
    return as_text(moment or timezone.now()) or ""


def answer(request: HttpRequest, batch: EventBatch) -> HttpResponse:
    """The response with the events.

    To a stream, which asks as pages do for their parts, they are lines; 204 if there are none.
    """
    again_s = batch.again_s if batch.is_whole else 0.0
    pause_s = batch.pause_s if batch.is_whole else 0.0
    part = LivePart(request, batch.cursor, batch.followed, pause_s, again_s, batch.parameters, name=AFTER)
    if not (is_part(request) or accepts_stream(request)):
        response = HttpResponse(msgspec.json.encode(_page(request, batch)), "application/json")
    elif batch.events:
        response = part.given(HttpResponse(_LINES.encode_lines(batch.events), LINES_TYPE))
    else:
        response = part.unchanged()
    response.is_personal = batch.is_personal  # type: ignore[attr-defined]
    response.row_count = len(batch.events)  # type: ignore[attr-defined]
    return response


def accepts_stream(request: HttpRequest) -> bool:
    """Whether the client asked for a stream; without one, it gets the same lines at once."""
    return any(kind in request.headers.get("Accept", "") for kind in (LINES_TYPE, "text/event-stream"))


class EventPage(msgspec.Struct, frozen=True):
    """Some events, and the address of those after them; null if nothing follows."""

    rows: Sequence[ApiEvent]
    next: Address | None


def _page(request: HttpRequest, batch: EventBatch) -> EventPage:
    query = urlencode({**batch.parameters, AFTER: batch.cursor})
    return EventPage(batch.events, request.build_absolute_uri(f"?{query}") if batch.followed else None)
