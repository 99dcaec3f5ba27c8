"""The events of a tournament: its games, its rounds and its states."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

import msgspec
from django.db.models import Max, Q
from django.http import HttpRequest
from django.utils import timezone

from tournament import access
from tournament.api.v1.events.batches import MAX_BEHIND, MAX_EVENTS, EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.running import started_games
from tournament.api.v1.events.types import (
    ApiEvent,
    GameEnded,
    GameStarted,
    RoundDrawn,
    TournamentChanged,
    TournamentRound,
)
from tournament.models import Attempt, Game, Ladder, LiveGame, Pairing, Tournament
from tournament.models.games import Scanned
from tournament.queues import tournament_topic
from tournament.rows.games import game_rows
from tournament.views.exports import origin_of
from tournament.views.tournaments.tables import tournament_row
from tournament.views.tournaments.tournaments import find_tournament

SETTLED = datetime.timedelta(seconds=3)
"""A start is told so long after it: by then the transactions that store earlier ones have ended."""
STEP = datetime.timedelta(seconds=1)
"""Starts are told in steps, so that clients that came at different times soon have the same cursor."""
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
Microseconds = Annotated[int, msgspec.Meta(ge=0, le=10**17)]
"""Since 1970, until the year 5138."""

Told = tuple[ApiEvent, "TournamentCursor"]
"""An event, and the cursor after it."""


class TournamentCursor(msgspec.Struct, array_like=True, frozen=True):
    state: str
    revision: Whole
    started: tuple[Microseconds, Whole]
    """Up to which game starts were told: when it began, in microseconds, and its id."""
    ladders: dict[str, tuple[Whole, Whole]]
    """The completion sequence and the last round of each ladder."""

    def on(self, ladder: str, *, sequence: int | None = None, drawn: int | None = None) -> TournamentCursor:
        """The cursor after a game, or a round, of a ladder."""
        known, round_number = self.ladders[ladder]
        there = known if sequence is None else sequence, round_number if drawn is None else drawn
        return msgspec.structs.replace(self, ladders={**self.ladders, ladder: there})


def tournament_batch(request: HttpRequest, slug: str) -> EventBatch:
    """What happened in the tournament after the client's cursor; without one, that its events begin now."""
    tournament = find_tournament(request, slug)
    after = after_of(request)
    known, now = read_cursor(after, TournamentCursor), _present(tournament)
    if known is None or not _fits(known, now):
        cursor = write_cursor(now)
        return _batch(tournament, [reset(cursor, after)], cursor)
    found: list[ApiEvent] = []
    for events in (_rounds, _starts, _ends, _changes):
        told = list(islice(events(request, tournament, known, now), MAX_EVENTS - len(found)))
        found += [event for event, _ in told]
        known = told[-1][1] if told else known
    is_whole = len(found) < MAX_EVENTS
    return _batch(tournament, found, write_cursor(now if is_whole else known), is_whole=is_whole)


def _batch(
    tournament: Tournament, events: list[ApiEvent], cursor: str, *, is_whole: bool = True
) -> EventBatch:
    return EventBatch(
        events,
        cursor,
        (tournament_topic(tournament.pk),),
        is_over=tournament.is_over,
        is_whole=is_whole,
        is_personal=not access.may_see_tournament(access.PUBLIC, tournament),
        pause_s=1.0,
        again_s=SETTLED.total_seconds(),
    )


def _present(tournament: Tournament) -> TournamentCursor:
    """The cursor after all that is stored; the tournament was read before, so that its state is no newer."""
    sequences = dict(Ladder.objects.filter(code__in=tournament.ladders).values_list("code", "sequence"))
    rounds: dict[str, int] = {}
    if tournament.format.is_staged:
        drawn = Pairing.objects.filter(tournament=tournament).values_list("ladder")
        rounds = dict(drawn.annotate(last=Max("round")))
    started = (timezone.now() - SETTLED - EPOCH) // STEP * (STEP // MICROSECOND)
    ladders = {code: (sequences.get(code, 0), rounds.get(code, 0)) for code in tournament.ladders}
    return TournamentCursor(tournament.state, tournament.revision, (started, 0), ladders)


def _fits(known: TournamentCursor, now: TournamentCursor) -> bool:
    """Whether a client with this cursor can go on, or must read again."""
    if known.revision != now.revision or known.ladders.keys() != now.ladders.keys():
        return False
    pairs = [(known.ladders[code], now.ladders[code]) for code in now.ladders]
    return all(0 <= new[0] - old[0] <= MAX_BEHIND and old[1] <= new[1] for old, new in pairs)


def _rounds(
    request: HttpRequest, tournament: Tournament, known: TournamentCursor, now: TournamentCursor
) -> Iterator[Told]:
    for code, (_, last) in now.ladders.items():
        for number in range(known.ladders[code][1] + 1, last + 1):
            known = known.on(code, drawn=number)
            data = TournamentRound(tournament.slug, code, number)
            yield RoundDrawn(id=write_cursor(known), at=now_text(), data=data), known


def _starts(
    request: HttpRequest, tournament: Tournament, known: TournamentCursor, now: TournamentCursor
) -> Iterator[Told]:
    """Of games that are still being played: the others have ended."""
    us, game = known.started
    since, until = (EPOCH + moment * MICROSECOND for moment in (us, now.started[0]))
    is_new = Q(started_at__gt=since) | Q(started_at=since, game__gt=game)
    live = Game.objects.filter(pk__in=LiveGame.objects.values("game")).alias(event=Scanned("tournament"))
    attempts = Attempt.objects.filter(
        is_new,
        # A list, because a query with both tables begins with all games of the tournament.
        game__in=list(live.filter(event=tournament.pk).values_list("pk", flat=True)),
        ended_at__isnull=True,
        reported_at__isnull=True,
        started_at__lt=until,
    )
    found: Any = list(attempts.order_by("started_at", "game").values_list("game", "started_at")[:MAX_EVENTS])
    rows = started_games(origin_of(request), [pk for pk, _ in found])
    for pk, started in found:
        known = msgspec.structs.replace(known, started=((started - EPOCH) // MICROSECOND, pk))
        yield GameStarted(id=write_cursor(known), at=now_text(started), data=rows[pk]), known


def _ends(
    request: HttpRequest, tournament: Tournament, known: TournamentCursor, now: TournamentCursor
) -> Iterator[Told]:
    """The recorded games by ladder, in the order of completion."""
    for code, (last, _) in now.ladders.items():
        games = Game.objects.by_completion(code).alias(event=Scanned("tournament"))
        games = games.filter(event=tournament.pk, sequence__gt=known.ladders[code][0], sequence__lte=last)
        sequences = dict(games.values_list("pk", "sequence")[:MAX_EVENTS])
        for row in game_rows(origin_of(request), list(sequences)):
            known = known.on(code, sequence=sequences[row.id])
            yield GameEnded(id=write_cursor(known), at=row.finished or now_text(), data=row), known


def _changes(
    request: HttpRequest, tournament: Tournament, known: TournamentCursor, now: TournamentCursor
) -> Iterator[Told]:
    if known.state != now.state:
        known = msgspec.structs.replace(now, started=known.started)
        at = now_text(tournament.finished_at or tournament.started_at if tournament.is_over else None)
        yield (
            TournamentChanged(id=write_cursor(known), at=at, data=tournament_row(request, tournament)),
            known,
        )
