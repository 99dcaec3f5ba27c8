"""Recorded games, one game with its moves, and its record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse
from django.urls import reverse
from msgspec import Meta

from engines.timecontrol import parse_time_control
from engines.visible import visible
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import BEGIN, PageQuery, Rows, part_of
from tournament.api.v1.schemas import PAIR, text_of
from tournament.api.v1.writing.once import check_bot
from tournament.models import BotVersion, Correction, GameRecord, RatingEvent, Token
from tournament.rows.fields import Address, Moment, as_text
from tournament.rows.games import GameRow
from tournament.views.downloads import PGN_TYPE, TEXT_TYPE
from tournament.views.exports import origin_of
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.games.endings import ending_sentence, fault_sentence, rated_word
from tournament.views.games.filters import FILTERS, GameSearchForm
from tournament.views.games.games import log_text, rating_changes
from tournament.views.games.rows import PlayedMove, played_moves
from tournament.views.games.search import find_rows, took_too_long


def _filters() -> Iterator[tuple[str, Any, str]]:
    """The filters of the list of games as fields of a struct: each is a text, which the form reads.

    ``Any`` has no schema of its own that would hide the one of the field.
    """
    for name, one in FILTERS.items():
        if name != "boards":
            words = str(one.field.label or name.replace("_", " ").capitalize())
            help_text = f" {one.field.help_text}" if one.field.help_text else ""
            schema = text_of(one.field)
            yield name, Annotated[Any, Meta(description=f"{words}.{help_text}", extra_json_schema=schema)], ""


def _parameters() -> Iterator[tuple[str, Any, str]]:
    yield "after", Annotated[str, Meta(description=BEGIN, extra_json_schema=PAIR)], ""
    yield from _filters()


GamesQuery: Any = msgspec.defstruct(
    "GamesQuery", _parameters(), bases=(PageQuery,), module=__name__, frozen=True, kw_only=True
)
GamesQuery.__doc__ = "The filters of the list of games; a game must match all that are given."


class GamePlayer(msgspec.Struct, frozen=True):
    """A player of a game."""

    bot: str
    slug: str
    version: int
    score: Annotated[int | None, Meta(description="In games with scores, at their end.")]
    rating_before: Annotated[float | None, Meta(description="Null if the game is not rated.")]
    rating_after: float | None


class GameAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A game, played or not."""

    id: int
    key: Annotated[str, Meta(description="`GameId` in its record.")]
    ladder: str
    tournament: str
    round: int
    state: str
    white: GamePlayer
    black: GamePlayer
    result: Annotated[str, Meta(description="`1-0`, `0-1`, `1/2-1/2`, or `*` before the end.")]
    termination: str
    reason: str
    fault: str
    ending: Annotated[str, Meta(description="How it ended, or why it has not, in a sentence.")]
    forfeit: Annotated[str, Meta(description="Who forfeited, in a sentence; mostly empty.")]
    evidence: str
    plies: int
    opening: Annotated[tuple[str, ...], Meta(description="The moves that were given.")]
    start: Annotated[str, Meta(description="The position string at the start; empty for the usual one.")]
    time_control: str
    rated: bool
    rated_why: Annotated[str, Meta(description="Whether it is rated, and why not, in words.")]
    annulled: bool
    correction: Annotated[str, Meta(description="Why it counts otherwise than its record says.")]
    started: Moment | None
    finished: Moment | None
    page: Address
    record: Annotated[Address | None, Meta(description="Null before the end.")]


@operation("GET", "games/", rows=GameRow, query=GamesQuery)
def games(request: ApiRequest, query: Any) -> Rows:
    """The recorded games that match all filters, the newest first.

    The filters are those of the page; `sort` is `newest`, `oldest`, `longest` or `shortest`.
    """
    form = GameSearchForm({name: getattr(query, name) for name in FILTERS if name != "boards"})
    try:
        found = find_rows(request, form, query.limit, query.after)
    except Http404:
        sentence = f"The parameter after is {visible(query.after, 40)!r}: no cursor of this list."
        raise ApiError(400, sentence) from None
    if found is None:
        name, errors = next(iter(form.errors.items()))
        sentence = str(errors[0])
        if name != NON_FIELD_ERRORS:
            sentence = f"The parameter {name} is {visible(getattr(query, name), 60)!r}: {sentence}"
        raise ApiError(422 if took_too_long(form) else 400, sentence)
    return Rows(*found)


@operation("GET", "games/<int:pk>/", answer=GameAnswer)
def game(request: ApiRequest, pk: int) -> GameAnswer:
    """A game: its players, its result and why, and whether it is rated, or why not."""
    found = find_game_for(request, pk)
    correction: Correction | None = getattr(found, "correction", None)
    changes = rating_changes(found)
    is_recorded = found.result is not None
    record = request.build_absolute_uri(reverse("v1-game-record", args=[pk])) if is_recorded else None
    return GameAnswer(
        id=pk,
        key=found.key,
        ladder=found.ladder_id,
        tournament=found.tournament.slug,
        round=found.pairing.round,
        state=found.state,
        white=_player(found.white, found.white_score, changes.get("white")),
        black=_player(found.black, found.black_score, changes.get("black")),
        result=found.result or "*",
        termination=found.termination,
        reason=found.reason,
        fault=found.fault,
        ending=ending_sentence(found),
        forfeit=fault_sentence(found),
        evidence=found.evidence,
        plies=found.plies,
        opening=tuple(found.pairing.opening_moves),
        start=found.pairing.fen,
        time_control=found.tournament.time_control,
        rated=found.rated,
        rated_why=rated_word(found),
        annulled=found.annulled,
        correction=correction.reason if correction else "",
        started=as_text(found.started_at),
        finished=as_text(found.finished_at),
        page=origin_of(request) + found.get_absolute_url(),
        record=record,
    )


def _player(version: BotVersion, score: int | None, change: RatingEvent | None) -> GamePlayer:
    before, after = (change.before.conservative, change.after.conservative) if change else (None, None)
    return GamePlayer(version.bot.name, version.bot.slug, version.number, score, before, after)


@operation("GET", "games/<int:pk>/moves/", rows=PlayedMove, query=PageQuery)
def game_moves(request: ApiRequest, pk: int, query: PageQuery) -> Rows:
    """The moves of a game, played or being played, with scores, times and the clocks after them."""
    found = find_game_for(request, pk)
    replay, *_ = load_replay(found)
    return part_of(list(played_moves(replay, parse_time_control(found.tournament.time_control))), query)


@operation("GET", "games/<int:pk>/record/", media=PGN_TYPE)
def game_record(request: ApiRequest, pk: int) -> HttpResponse:
    """The record of a finished game, a text like PGN."""
    text = GameRecord.objects.filter(game=find_game_for(request, pk)).values_list("text", flat=True).first()
    if text is None:
        raise ApiError(404, "This game has no record yet.")
    return HttpResponse(text, content_type=PGN_TYPE)


@operation("GET", "games/<int:pk>/log/<slug:side>/", media=TEXT_TYPE, scopes=(Token.Scope.LOGS,))
def game_log(request: ApiRequest, pk: int, side: str) -> HttpResponse:
    """The standard error of your engine in a game, and the lines exchanged with it.

    `side` is `white` or `black`, the one that your bot played.
    """
    found = find_game_for(request, pk)
    text = log_text(request, found, side)
    check_bot(request, (found.white if side == "white" else found.black).bot)
    return HttpResponse(text, content_type=TEXT_TYPE)
