"""Searches of positions and analyses of games by bots that answer: ask for them and read them."""

from __future__ import annotations

import datetime
import uuid
from typing import Annotated

import msgspec
from django.shortcuts import get_object_or_404
from django.utils import timezone
from msgspec import Meta

from engines.rules.base import RulesError
from engines.rules.registry import GAMES
from engines.visible import visible
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.schemas import LADDERS
from tournament.api.v1.writing.once import check_bot, check_shown, once, user_of
from tournament.models import BotSearch, BotVersion, Token
from tournament.sentences import as_sentence
from tournament.services.searches.asking import (
    SECONDS,
    TIMES_MS,
    answering,
    request_analysis,
    request_position,
)
from tournament.views.analysis.trees import MAX_MOVES, Line
from tournament.views.games.board import find_game_for, load_replay

PLAY = (Token.Scope.PLAY,)


class NewSearch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A position for a bot to evaluate."""

    ladder: Annotated[str, Meta(extra_json_schema=LADDERS)]
    bot: Annotated[str, Meta(description="`slug`, or `slug/number`, of a bot that answers on the ladder.")]
    start: Annotated[str, Meta(description="A position; empty for the game's initial one.")] = ""
    moves: Annotated[list[str], Meta(max_length=MAX_MOVES, description="The moves from there.")] = []
    seconds: Annotated[int, Meta(extra_json_schema={"enum": list(SECONDS)})] = 3


class NewAnalysis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An analysis of a recorded game."""

    bot: Annotated[str, Meta(description="`slug`, or `slug/number`, of a bot that answers on the ladder.")]
    ms: Annotated[
        int, Meta(description="Milliseconds for each position.", extra_json_schema={"enum": list(TIMES_MS)})
    ] = 100


class SearchedPosition(msgspec.Struct, frozen=True):
    """What the bot says of a position."""

    ply: int
    move: str
    comment: str
    """Score, depth, time and nodes as in a record."""


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A search, which waits, is searched by and by, and ends."""

    id: uuid.UUID
    ladder: str
    bot: str
    number: int
    start: str
    moves: list[str]
    ms: int
    asked: datetime.datetime
    ended: datetime.datetime | None
    why: str
    """Why it ended early."""
    positions: list[SearchedPosition]
    missing: int
    """Positions that are not evaluated yet."""
    page: str
    url: str


@operation("POST", "searches/", answer=SearchAnswer, status=201, body=NewSearch, scopes=PLAY)
@once
def request_search(request: ApiRequest, body: NewSearch) -> SearchAnswer:
    """Have a bot evaluate a position; a new search ends your earlier one."""
    if body.ladder not in GAMES:
        raise ApiError(400, f"ladder: {visible(body.ladder, 40)!r} is not one of {', '.join(GAMES)}.")
    game = GAMES[body.ladder]
    try:
        start = game.position.parse(body.start) if body.start else game.position.initial()
        line = Line.of(game, start, body.moves)
    except RulesError as error:
        raise ApiError(400, as_sentence(f"moves: {error}")) from None
    version = _answering(request, body.ladder, body.bot)
    asked = request_position(
        body.ladder,
        version,
        line.positions,
        line.moves,
        body.seconds,
        user=user_of(request),
        address="",
        now=timezone.now(),
    )
    return _search(request, asked)


@operation("POST", "games/<int:pk>/analysis/", answer=SearchAnswer, status=201, body=NewAnalysis, scopes=PLAY)
@once
def request_game_analysis(request: ApiRequest, pk: int, body: NewAnalysis) -> SearchAnswer:
    """Have a bot evaluate all positions of a recorded game; a new search ends your earlier one."""
    game = find_game_for(request, pk)
    check_shown(request, game.tournament)
    replay, _, is_recorded = load_replay(game)
    if not is_recorded:
        raise ApiError(404, "This game has no record yet.")
    version = _answering(request, game.ladder_id, body.bot)
    tokens = [move.token for move in replay.moves]
    asked = request_analysis(
        game, version, replay.positions, tokens, body.ms, user=user_of(request), now=timezone.now()
    )
    return _search(request, asked)


@operation("GET", "searches/<uuid:pk>/", answer=SearchAnswer)
def search(request: ApiRequest, pk: uuid.UUID) -> SearchAnswer:
    """A search or an analysis with what is found so far; who has its id sees it, as on its page."""
    return _search(request, get_object_or_404(BotSearch.objects.select_related("version__bot"), pk=pk))


def _answering(request: ApiRequest, ladder: str, name: str) -> BotVersion:
    slug, _, number = name.partition("/")
    for version in answering(ladder, request.user):
        if version.bot.slug == slug and number in {"", str(version.number)}:
            check_bot(request, version.bot)
            return version
    raise ApiError(422, f"bot: {visible(name, 80)!r} does not answer on this ladder.")


def _search(request: ApiRequest, one: BotSearch) -> SearchAnswer:
    return SearchAnswer(
        id=one.pk,
        ladder=one.ladder_id,
        bot=one.version.bot.slug,
        number=one.version.number,
        start=one.start,
        moves=one.moves.split(),
        ms=one.ms,
        asked=one.asked_at,
        ended=one.ended_at,
        why=one.why,
        positions=[
            SearchedPosition(int(ply), move, comment)
            for ply, (move, comment) in sorted(one.found.items(), key=lambda item: int(item[0]))
        ],
        missing=len(one.missing),
        page=request.build_absolute_uri(one.get_absolute_url()),
        url=request.build_absolute_uri(f"/api/v1/searches/{one.pk}/"),
    )
