"""Bots and their versions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engines.rules.registry import GAMES
from engines.visible import visible
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, page_by_id
from tournament.models import Bot
from tournament.views.bots.bots import find_bot
from tournament.views.bots.lists import SORTED, BotRow, BotSearchForm, bot_row, listed_bots, with_newest
from tournament.views.exports import origin_of
from tournament.views.sorting import Sorting


class BotsQuery(PageQuery, frozen=True, kw_only=True):
    """The filters of the list; a bot must match all that are given."""

    name: Annotated[str, Meta(max_length=40, description="A part of the name.")] = ""
    owner: Annotated[str, Meta(max_length=150, description="A part of the owner's name.")] = ""
    ladder: Annotated[str, Meta(description="The code of a ladder on which it plays.")] = ""
    published: Annotated[bool, Meta(description="Only those that everybody may download.")] = False


@operation("GET", "bots/", rows=BotRow, query=BotsQuery)
def bots(request: ApiRequest, query: BotsQuery) -> Rows:
    """The bots that everybody may see, and your own, the oldest first."""
    if query.ladder and query.ladder not in GAMES:
        why = f"not one of {', '.join(GAMES)}"
        raise ApiError(400, f"The parameter ladder is {visible(query.ladder, 40)!r}: {why}.")
    form = BotSearchForm(
        {"name": query.name, "owner": query.owner, "ladder": query.ladder, "published": query.published}
    )
    found = listed_bots(request.user, form, Sorting(request, SORTED, "", False))
    origin = origin_of(request)
    return page_by_id(found, query, lambda bot: bot_row(origin, bot))


@operation("GET", "bots/<slug:slug>/", answer=BotRow)
def bot(request: ApiRequest, slug: str) -> BotRow:
    """A bot."""
    one = find_bot(request, slug)
    (found,) = with_newest(Bot.objects.filter(pk=one.pk).select_related("owner"), request.user)
    return bot_row(origin_of(request), found)
