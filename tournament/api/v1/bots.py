"""Bots and their versions."""

from __future__ import annotations

from typing import Annotated

import msgspec
from django.db.models import Q
from django.urls import reverse
from msgspec import UNSET, Meta, UnsetType

from engines.visible import visible
from tournament import access
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import BEGIN, PageQuery, Rows, page_by_id, part_of
from tournament.api.v1.schemas import PAIR, WITH_LADDERS, check_ladder
from tournament.models import Bot, BotVersion, RatingEvent
from tournament.rows.fields import Address, Moment, as_text
from tournament.sentences import as_sentence
from tournament.views.bots.bots import BotRatingRow, find_bot, rating_rows, ratings_of
from tournament.views.bots.lists import SORTED, BotRow, BotSearchForm, bot_row, listed_bots, with_newest
from tournament.views.bots.versions import find_version
from tournament.views.exports import origin_of
from tournament.views.ladders.ladders import find_ladder
from tournament.views.paging import LAST_ID, beyond, is_whole
from tournament.views.sorting import Sorting


class VersionRow(msgspec.Struct, frozen=True):
    """A version of a bot."""

    bot: str
    slug: str
    version: int
    label: Annotated[str, Meta(description="The author's own name for it; may be empty.")]
    state: Annotated[str, Meta(description="`waiting`, `validating`, `valid`, `refused` or `withdrawn`.")]
    reason: Annotated[str, Meta(description="Why, in a sentence, for its owner; else empty.")]
    ladders: Annotated[tuple[str, ...], Meta(description="The codes of the ladders that it plays.")]
    active_on: Annotated[tuple[str, ...], Meta(description="The ladders on which it enters new events.")]
    notes: Annotated[str, Meta(description="The author's notes on what is new.")]
    licence: Annotated[str, Meta(description="Under which it is published; else empty.")]
    source: Annotated[str, Meta(description="Where its source is shown; may be empty.")]
    sha256: Annotated[str, Meta(description="Of its bundle.")]
    bundle: Annotated[Address | None, Meta(description="The bundle, if you may download it.")]
    uploaded: Moment
    page: Address


class RatedGameRow(msgspec.Struct, frozen=True):
    """The rating of a version after a rated game."""

    version: int
    sequence: Annotated[int, Meta(description="The number of the game among the rated ones of the ladder.")]
    game: int
    rating: Annotated[float, Meta(description="mu - 3 sigma, the published number.")]
    mu: float
    sigma: float
    finished: Moment | None
    page: Annotated[Address, Meta(description="That of the game.")]


class HistoryQuery(PageQuery, frozen=True, kw_only=True):
    """Which version."""

    after: Annotated[str, Meta(description=BEGIN, extra_json_schema=PAIR)] = ""
    version: Annotated[int, Meta(description="The number of one version; all without it.")] | UnsetType = (
        UNSET
    )


class BotsQuery(PageQuery, frozen=True, kw_only=True):
    """The filters of the list; a bot must match all that are given."""

    name: Annotated[str, Meta(max_length=40, description="A part of the name.")] = ""
    called: Annotated[
        str, Meta(max_length=80, description="The name of one bot, or that in its address; at most one row.")
    ] = ""
    owner: Annotated[str, Meta(max_length=150, description="A part of the owner's name.")] = ""
    ladder: Annotated[
        str, Meta(description="The code of a ladder on which it plays.", extra_json_schema=WITH_LADDERS)
    ] = ""
    published: Annotated[bool, Meta(description="Only those that everybody may download.")] = False


_OF_EVENTS = (
    "version", "version__number", "sequence", "game", "mu_after", "sigma_after", "game__finished_at",
)  # fmt: skip


@operation("GET", "bots/", rows=BotRow, query=BotsQuery)
def bots(request: ApiRequest, query: BotsQuery) -> Rows:
    """The bots that everybody may see, and your own, the oldest first."""
    check_ladder(query.ladder)
    form = BotSearchForm(
        {"name": query.name, "owner": query.owner, "ladder": query.ladder, "published": query.published}
    )
    found = listed_bots(request.user, form, Sorting(request, SORTED, "", False))
    if query.called:
        called = Bot.objects.called(query.called)
        found = found.filter(pk=called.pk) if called else found.none()
    origin = origin_of(request)
    return page_by_id(found, query, lambda bot: bot_row(origin, bot))


@operation("GET", "bots/<slug:slug>/", answer=BotRow)
def bot(request: ApiRequest, slug: str) -> BotRow:
    """A bot."""
    one = find_bot(request, slug)
    (found,) = with_newest(Bot.objects.filter(pk=one.pk).select_related("owner"), request.user)
    return bot_row(origin_of(request), found)


@operation("GET", "bots/<slug:slug>/versions/", rows=VersionRow, query=PageQuery)
def versions(request: ApiRequest, slug: str, query: PageQuery) -> Rows:
    """The versions of a bot that you may see, the oldest first."""
    one = find_bot(request, slug)
    found = access.visible_versions_of(request.user, one).select_related("bot").prefetch_related("activities")
    return part_of([_version_row(request, version) for version in found.order_by("number")], query)


@operation("GET", "bots/<slug:slug>/<int:number>/", answer=VersionRow)
def version(request: ApiRequest, slug: str, number: int) -> VersionRow:
    """A version of a bot."""
    return _version_row(request, find_version(request, slug, number))


@operation("GET", "bots/<slug:slug>/ratings/", rows=BotRatingRow, query=PageQuery)
def bot_ratings(request: ApiRequest, slug: str, query: PageQuery) -> Rows:
    """The ratings of a bot's versions on all ladders, the newest version of each first."""
    one = find_bot(request, slug)
    return part_of(
        list(rating_rows(request, ratings_of(access.visible_versions_of(request.user, one)))), query
    )


@operation("GET", "bots/<slug:slug>/ratings/<slug:code>/", rows=RatedGameRow, query=HistoryQuery)
def rating_history(request: ApiRequest, slug: str, code: str, query: HistoryQuery) -> Rows:
    """The rating after each game of a bot on a ladder, version by version."""
    find_ladder(code)
    shown = access.visible_versions_of(request.user, find_bot(request, slug))
    if query.version is not UNSET:
        shown = shown.filter(number=query.version)
    found = RatingEvent.objects.filter(version__in=shown, ladder=code).order_by("version", "sequence")
    if query.after:
        found = found.filter(_after(query.after))
    window = list(found.values_list(*_OF_EVENTS)[: query.limit + 1])
    begin, end = f"{origin_of(request)}{reverse('game', args=[0])}".split("0/")
    rows = [
        RatedGameRow(number, sequence, game, mu - 3 * sigma, mu, sigma, as_text(at), f"{begin}{game}/{end}")
        for _, number, sequence, game, mu, sigma, at in window[: query.limit]
    ]
    last = window[query.limit - 1] if len(window) > query.limit else None
    return Rows(rows, f"{last[0]}.{last[2]}" if last else "")


def _after(cursor: str) -> Q:
    version, _, sequence = cursor.partition(".")
    if not (is_whole(version, LAST_ID) and is_whole(sequence, LAST_ID)):
        raise ApiError(400, f"The parameter after is {visible(cursor, 40)!r}: no cursor of this list.")
    return beyond({"version": int(version), "sequence": int(sequence)}, "gt")


def _version_row(request: ApiRequest, version: BotVersion) -> VersionRow:
    is_owner = access.may_edit_bot(request.user, version.bot)
    download = reverse("bundle", args=[version.bot.slug, version.number])
    return VersionRow(
        version.bot.name,
        version.bot.slug,
        version.number,
        version.label,
        version.state,
        as_sentence(version.state_reason) if is_owner and version.state_reason else "",
        tuple(version.games),
        tuple(one.ladder_id for one in version.activities.all() if one.enabled),
        version.notes,
        version.licence,
        version.source,
        version.bundle_id,
        origin_of(request) + download if access.may_download_bundle(request.user, version) else None,
        version.created_at.isoformat(),
        origin_of(request) + version.get_absolute_url(),
    )
