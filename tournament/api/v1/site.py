"""People, the queue, the workers and the corrections of results."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import msgspec
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from msgspec import Meta

from tournament import access
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, cursor_of, page_by_id, part_of
from tournament.models import Bot, Tournament, User
from tournament.rows.fields import Address
from tournament.services.ladders.queue import queue_state
from tournament.services.results.corrections import published_corrections
from tournament.views.bots.bots import BotRatingRow
from tournament.views.exports import origin_of
from tournament.views.ladders.queue import PlayingRow, QueuedBotRow, QueuedEventRow, queue_rows
from tournament.views.links import address_of
from tournament.views.people.profiles import find_person, person_rating_rows
from tournament.views.site.workers import StaffWorkerRow, WorkerRow, worker_rows


class PersonRow(msgspec.Struct, frozen=True):
    """A person who has bots or tournaments that you may see."""

    name: str
    bots: int
    tournaments: int
    page: Address


class CorrectionRow(msgspec.Struct, frozen=True):
    """A game that counts otherwise than its record says."""

    number: int
    key: Annotated[str, Meta(description="`GameId` in its record.")]
    ladder: str
    effect: str
    reason: str
    time: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


@operation("GET", "people/", rows=PersonRow, query=PageQuery)
def people(request: ApiRequest, query: PageQuery) -> Rows:
    """The people who have bots or tournaments that you may see."""
    bots, tournaments = _of_people(request)
    found = _counted(request).filter(Exists(bots) | Exists(tournaments))
    return page_by_id(found, query, lambda one: _person_row(request, one))


@operation("GET", "people/<str:name>/", answer=PersonRow)
def person(request: ApiRequest, name: str) -> PersonRow:
    """A person."""
    return _person_row(request, _counted(request).get(pk=find_person(request, name).pk))


@operation("GET", "people/<str:name>/ratings/", rows=BotRatingRow, query=PageQuery)
def person_ratings(request: ApiRequest, name: str, query: PageQuery) -> Rows:
    """The best rating of each bot of a person on each ladder."""
    return part_of(list(person_rating_rows(request, find_person(request, name))), query)


@operation("GET", "queue/playing/", rows=PlayingRow, query=PageQuery)
def queue_playing(request: ApiRequest, query: PageQuery) -> Rows:
    """The games that are being played."""
    return part_of(queue_rows(request, queue_state(timezone.now()), "playing"), query)


@operation("GET", "queue/tournaments/", rows=QueuedEventRow, query=PageQuery)
def queue_tournaments(request: ApiRequest, query: PageQuery) -> Rows:
    """The tournaments with games that wait, in the order in which they are played."""
    return part_of(queue_rows(request, queue_state(timezone.now()), "tournaments"), query)


@operation("GET", "queue/bots/", rows=QueuedBotRow, query=PageQuery)
def queue_bots(request: ApiRequest, query: PageQuery) -> Rows:
    """What each version plays next, ladder by ladder."""
    return part_of(queue_rows(request, queue_state(timezone.now()), "bots"), query)


@operation("GET", "workers/", rows=(StaffWorkerRow, WorkerRow), query=PageQuery)
def workers(request: ApiRequest, query: PageQuery) -> Rows:
    """The workers; staff sees more of them."""
    return part_of(worker_rows(request.user), query)


@operation("GET", "corrections/", rows=CorrectionRow, query=PageQuery)
def corrections(request: ApiRequest, query: PageQuery) -> Rows:
    """The games that count otherwise than their records say, annulled ones above all."""
    found = list(islice(published_corrections(cursor_of(query)), query.limit + 1))
    rows = [CorrectionRow(*values) for values in found[: query.limit]]
    return Rows(rows, str(rows[-1].number) if len(found) > len(rows) else "")


def _of_people(request: ApiRequest) -> tuple[QuerySet[Bot], QuerySet[Tournament]]:
    """What this user may see of each row of a query of people."""
    own = {"owner": OuterRef("pk")}
    return (
        access.visible_bots(request.user).filter(**own).order_by(),
        access.visible_tournaments(request.user).filter(**own).order_by(),
    )


def _counted(request: ApiRequest) -> QuerySet[User]:
    """People with the numbers of bots and tournaments that this user may see."""
    counts = [
        Coalesce(Subquery(rows.values("owner").annotate(rows=Count("pk")).values("rows")), 0)
        for rows in _of_people(request)
    ]
    return User.objects.annotate(bot_count=counts[0], tournament_count=counts[1])


def _person_row(request: ApiRequest, person: Any) -> PersonRow:
    return PersonRow(
        person.username,
        person.bot_count,
        person.tournament_count,
        origin_of(request) + address_of("person", person.username),
    )
