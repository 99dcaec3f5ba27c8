"""The operations of following: ``GET /api/v1/…/events/``."""

from __future__ import annotations

from typing import Annotated

import msgspec
from django.http import HttpResponse
from msgspec import Meta

from tournament.api.v1.events.batches import answer
from tournament.api.v1.events.games import game_batch
from tournament.api.v1.events.ladders import ladder_batch
from tournament.api.v1.events.mine import notice_batch
from tournament.api.v1.events.tournaments import tournament_batch
from tournament.api.v1.events.tv import tv_batch
from tournament.api.v1.events.types import (
    GameEnded,
    GameFeatured,
    GameRated,
    GameStarted,
    MovePlayed,
    Noticed,
    PairCounted,
    Reset,
    RoundDrawn,
    TournamentChanged,
    VerdictReached,
    VersionChanged,
    VersionChecked,
    VersionListed,
)
from tournament.api.v1.events.version_tests import version_test_batch
from tournament.api.v1.events.versions import version_batch
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.schemas import WITH_LADDERS
from tournament.models import Token


class EventsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Where to go on; the header `Last-Event-ID` says the same."""

    after: Annotated[str, Meta(description="The id of the last event that is known.")] = ""


class TvQuery(EventsQuery, frozen=True, kw_only=True):
    """Where to go on, and what to show."""

    ladder: Annotated[
        str,
        Meta(description="The code of a ladder, to follow only its games.", extra_json_schema=WITH_LADDERS),
    ] = ""


@operation("GET", "games/<int:pk>/events/", events=MovePlayed | GameEnded | Reset, query=EventsQuery)
def game_events(request: ApiRequest, pk: int, query: EventsQuery) -> HttpResponse:
    """Follow a game: its moves as they are played, and its end."""
    return answer(request, game_batch(request, pk))


@operation(
    "GET",
    "tournaments/<slug:slug>/events/",
    events=GameStarted | GameEnded | RoundDrawn | TournamentChanged | Reset,
    query=EventsQuery,
)
def tournament_events(request: ApiRequest, slug: str, query: EventsQuery) -> HttpResponse:
    """Follow a tournament: its games, rounds and states."""
    return answer(request, tournament_batch(request, slug))


@operation("GET", "ladders/<slug:code>/events/", events=GameRated | VersionListed | Reset, query=EventsQuery)
def ladder_events(request: ApiRequest, code: str, query: EventsQuery) -> HttpResponse:
    """Follow a ladder: its rated games, and the versions that are new on its list."""
    return answer(request, ladder_batch(request, code))


@operation("GET", "tv/events/", events=GameFeatured | MovePlayed | GameEnded | Reset, query=TvQuery)
def tv_events(request: ApiRequest, query: TvQuery) -> HttpResponse:
    """Follow the game that `/tv/` shows, and then the next one."""
    return answer(request, tv_batch(request, query.ladder))


@operation(
    "GET",
    "bots/<slug:slug>/<int:number>/events/",
    events=VersionChanged | VersionChecked | GameEnded | Reset,
    query=EventsQuery,
)
def version_events(request: ApiRequest, slug: str, number: int, query: EventsQuery) -> HttpResponse:
    """Follow a version until its validation is over; its owner's token also gets the check and the games."""
    return answer(request, version_batch(request, slug, number))


@operation(
    "GET",
    "version-tests/<slug:slug>/events/",
    events=PairCounted | VerdictReached | Reset,
    query=EventsQuery,
)
def version_test_events(request: ApiRequest, slug: str, query: EventsQuery) -> HttpResponse:
    """Follow a version test: the pairs as they count, and the verdict."""
    return answer(request, version_test_batch(request, slug))


@operation("GET", "mine/events/", events=Noticed | Reset, query=EventsQuery, scopes=(Token.Scope.LOGS,))
def mine_events(request: ApiRequest, query: EventsQuery) -> HttpResponse:
    """Follow the notices of the token's user; those of one bot, if the token is bound to it."""
    assert request.token is not None  # it needs a scope
    return answer(request, notice_batch(request, request.token.user, request.token.bot))
