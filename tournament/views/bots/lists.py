"""The list of bots: searched by name, owner and ladder, sorted, as a page, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from django import forms
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from msgspec import Meta

from engines.rules.registry import GAMES, Variant
from tournament import access
from tournament.models import ActiveVersion, Bot, BotVersion, LadderRating
from tournament.models.names import name_key
from tournament.rows.fields import Address, Moment
from tournament.views.exports import MAX_EXPORTED, origin_of, served_rows, table_links, with_next
from tournament.views.paging import numbered
from tournament.views.sorting import Sorting, read_sorting

PAGE_SIZE = 50
SORTED = {"bot": "name_key", "owner": "owner__username", "since": "-created_at"}
RATED = {**SORTED, "rating": "-rating"}
"""The columns that sort: ratings only on one ladder, because those of several do not compare."""


class BotRow(msgspec.Struct, frozen=True):
    """A bot, with the newest of its versions that the reader may see."""

    bot: Annotated[str, Meta(description="Its name.")]
    owner: Annotated[str | None, Meta(description="Null for the site's samples.")]
    since: Moment
    newest_version: int | None
    state: Annotated[str | None, Meta(description="The state of the newest version.")]
    ladders: Annotated[str, Meta(description="The codes of its ladders, with spaces between them.")]
    page: Address
    slug: str


class BotSearchForm(forms.Form):
    """The filters; a bot must match all that are given."""

    name = forms.CharField(required=False, max_length=40)
    owner = forms.CharField(required=False, max_length=150)
    ladder = forms.ChoiceField(
        required=False,
        choices=[("", "any"), *((code, game.name) for code, game in GAMES.items())],
    )
    published = forms.BooleanField(required=False)

    @property
    def given(self) -> dict[str, Any]:
        """The filters that say something; none of a form with an error."""
        return {name: text for name, text in self.cleaned_data.items() if text} if self.is_valid() else {}

    @property
    def words(self) -> str:
        """What is listed, for the title."""
        given = self.given
        ladder = f" on {GAMES[given['ladder']].name}" if "ladder" in given else ""
        owner = f" of {given['owner']}" if "owner" in given else ""
        name = f" with “{given['name']}” in their names" if "name" in given else ""
        bots = "Published bots" if "published" in given else "Bots"
        return f"{bots}{name}{owner}{ladder}"

    def find(self, bots: QuerySet[Bot]) -> QuerySet[Bot]:
        given = self.given
        if "name" in given:
            bots = bots.filter(
                Q(name_key__contains=name_key(given["name"])) | Q(slug__contains=given["name"])
            )
        if "owner" in given:
            bots = bots.filter(owner__username__icontains=given["owner"])
        if "ladder" in given:
            playing = ActiveVersion.objects.filter(bot=OuterRef("pk"), ladder=given["ladder"], enabled=True)
            bots = bots.filter(Exists(playing))
        if "published" in given:
            bots = bots.filter(Exists(BotVersion.objects.published().filter(bot=OuterRef("pk"))))
        return bots


@require_safe
def bots(request: HttpRequest) -> HttpResponse:
    """The bots that match the filters in the address, by name or as a heading sorts them."""
    form = BotSearchForm(request.GET)
    sorting = read_sorting(request, RATED if "ladder" in form.given else SORTED)
    page = numbered(request, listed_bots(request.user, form, sorting), PAGE_SIZE)
    context = {
        "form": form,
        "page": page,
        "rows": _with_ratings(page.rows),
        "sorting": sorting,
        "files": [table_links("Bots", "bots-files", **form.given)],
    }
    return render(request, "bots/bots.html", context)


@require_safe
def bots_files(request: HttpRequest, kind: str) -> HttpResponse:
    """The same in parts of ``MAX_EXPORTED``."""
    listed = listed_bots(request.user, BotSearchForm(request.GET), read_sorting(request, SORTED))
    page = numbered(request, listed, MAX_EXPORTED)
    rows = [bot_row(origin_of(request), bot) for bot in page.rows]
    return with_next(request, served_rows(kind, "bots", BotRow, rows, file="bots"), page)


def with_newest(bots: QuerySet[Bot], user: access.Visitor) -> QuerySet[Bot]:
    """Bots whose list ``newest`` has the newest version that this user may see; it is empty without one."""
    visible = access.visible_versions(user, BotVersion.objects.all())
    newer = visible.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    return bots.prefetch_related(Prefetch("versions", visible.filter(~Exists(newer)), to_attr="newest"))


def listed_bots(user: access.Visitor, form: BotSearchForm, sorting: Sorting) -> QuerySet[Bot]:
    """The bots that match and that this user may see, as ``with_newest``."""
    bots = form.find(access.visible_bots(user).select_related("owner"))
    if sorting.name == "rating":
        rated = LadderRating.objects.filter(version__bot=OuterRef("pk"), ladder=form.given["ladder"])
        bots = bots.annotate(rating=Subquery(rated.order_by("-conservative").values("conservative")[:1]))
    return with_newest(sorting.of_query(bots), user)


def _with_ratings(bots: Iterable[Bot]) -> list[tuple[Bot, list[tuple[Variant, float | None]]]]:
    """Each bot with the ladders of its newest version, and there the rating of its best version."""
    best: dict[tuple[int, str], float] = {}
    rated = LadderRating.objects.filter(version__bot__in=[bot.pk for bot in bots]).order_by("conservative")
    for bot_id, ladder, rating in rated.values_list("version__bot", "ladder", "conservative"):
        best[bot_id, ladder] = rating
    return [
        (bot, [(GAMES[code], best.get((bot.pk, code))) for code in _ladders(bot) if code in GAMES])
        for bot in bots
    ]


def _ladders(bot: Any) -> list[str]:
    return bot.newest[0].games if bot.newest else []


def bot_row(origin: str, bot: Any) -> BotRow:
    """The row of one of ``with_newest``; ``origin`` as in ``exports.origin_of``."""
    newest = bot.newest[0] if bot.newest else None
    return BotRow(
        bot.name,
        bot.owner.username if bot.owner else None,
        bot.created_at.isoformat(),
        newest.number if newest else None,
        newest.state if newest else None,
        " ".join(newest.games) if newest else "",
        origin + bot.get_absolute_url(),
        bot.slug,
    )
