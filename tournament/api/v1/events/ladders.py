"""The events of a ladder: its rated games and the versions that are new on its list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
from django.db.models import Max
from django.http import Http404, HttpRequest

from tournament import access
from tournament.api.v1.events.batches import MAX_BEHIND, MAX_EVENTS, EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.types import (
    ApiEvent,
    GameRated,
    GameWithRatings,
    ListedVersion,
    RatingChange,
    VersionListed,
)
from tournament.models import Game, Ladder, LadderRating, RatingEvent
from tournament.queues import ladder_topic
from tournament.rows.games import GameRow, game_rows
from tournament.views.exports import origin_of


class LadderCursor(msgspec.Struct, array_like=True, frozen=True):
    revision: Whole
    """That of the stored ratings."""
    sequence: Whole
    listed: Whole
    """The id of the newest rating."""


def ladder_batch(request: HttpRequest, code: str) -> EventBatch:
    """What happened on the ladder after the client's cursor; without one, that its events begin now."""
    ladder = Ladder.objects.filter(pk=code).first()
    if ladder is None:
        raise Http404(f"no ladder {code!r}")
    newest = LadderRating.objects.filter(ladder=code).aggregate(last=Max("pk"))["last"] or 0
    now = LadderCursor(ladder.rated_revision, ladder.sequence, newest)
    after = after_of(request)
    known = read_cursor(after, LadderCursor)
    if known is None or not _fits(known, now):
        return _batch(code, [reset(write_cursor(now), after)], now)
    found = list(_rated(request, code, known, now))
    if len(found) < MAX_EVENTS:
        found += _listed(request, code, msgspec.structs.replace(known, sequence=now.sequence), now)
    is_whole = len(found) < MAX_EVENTS
    return _batch(code, [event for event, _ in found], now if is_whole else found[-1][1], is_whole=is_whole)


def _batch(
    code: str, events: Sequence[ApiEvent], cursor: LadderCursor, *, is_whole: bool = True
) -> EventBatch:
    topics = (ladder_topic(code),)
    return EventBatch(events, write_cursor(cursor), topics, is_whole=is_whole, pause_s=1.0)


def _fits(known: LadderCursor, now: LadderCursor) -> bool:
    """Whether a client with this cursor can go on, or must read again."""
    if known.revision != now.revision or known.listed > now.listed:
        return False
    return 0 <= now.sequence - known.sequence <= MAX_BEHIND


def _rated(
    request: HttpRequest, code: str, known: LadderCursor, now: LadderCursor
) -> Iterator[tuple[ApiEvent, LadderCursor]]:
    """The rated games that everybody sees, in the order of completion."""
    games = Game.objects.by_completion(code).filter(sequence__gt=known.sequence, sequence__lte=now.sequence)
    visible = access.visible_games(access.PUBLIC, games.filter(rated=True))
    sequences: dict[int, Any] = dict(visible.values_list("pk", "sequence")[:MAX_EVENTS])
    changes = _changes(code, sequences.values())
    for row in game_rows(origin_of(request), list(sequences)):
        known = msgspec.structs.replace(known, sequence=sequences[row.id])
        if data := _with_changes(row, changes[known.sequence]):
            yield GameRated(id=write_cursor(known), at=row.finished or now_text(), data=data), known


def _changes(code: str, sequences: Collection[int]) -> dict[int, list[RatingEvent]]:
    """The changes of ratings by the games with these completion sequences."""
    found = defaultdict[int, list[RatingEvent]](list)
    events = RatingEvent.objects.filter(ladder=code, sequence__in=sequences).select_related("version__bot")
    for event in events:
        found[event.sequence].append(event)
    return found


def _with_changes(row: GameRow, events: Sequence[RatingEvent]) -> GameWithRatings | None:
    """None while the ratings are being computed again: the client is then told to read them."""
    by_player = {(event.version.bot.slug, event.version.number): event for event in events}
    white = by_player.get((row.white_slug, row.white_version))
    black = by_player.get((row.black_slug, row.black_version))
    return GameWithRatings(row, _change(white), _change(black)) if white and black else None


def _change(event: RatingEvent) -> RatingChange:
    return RatingChange(
        event.version.bot.name,
        event.version.bot.slug,
        event.version.number,
        event.before.conservative,
        event.after.conservative,
        event.mu_before,
        event.sigma_before,
        event.mu_after,
        event.sigma_after,
    )


def _listed(
    request: HttpRequest, code: str, known: LadderCursor, now: LadderCursor
) -> Iterator[tuple[ApiEvent, LadderCursor]]:
    ratings = LadderRating.objects.filter(ladder=code, pk__gt=known.listed, pk__lte=now.listed)
    for rating in ratings.select_related("version__bot").order_by("pk")[:MAX_EVENTS]:
        known = msgspec.structs.replace(known, listed=rating.pk)
        version = rating.version
        page = f"{origin_of(request)}{version.get_absolute_url()}"
        data = ListedVersion(version.bot.name, version.bot.slug, version.number, code, page)
        yield VersionListed(id=write_cursor(known), at=now_text(), data=data), known
