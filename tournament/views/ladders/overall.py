"""The table over all ladders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from msgspec import Meta

from engines.rules.registry import GAMES
from tournament.arithmetic.overall import LEAST_BOTS, OverallScore, overall_scores
from tournament.models import Bot, LadderRating
from tournament.rows.fields import Address
from tournament.views.exports import origin_of, served_table, table_links
from tournament.views.links import address_of

MAX_SHOWN = 200


class OverallRow(msgspec.Struct, frozen=True):
    """A bot in the table over all ladders."""

    place: int
    bot: str
    owner: Annotated[str | None, Meta(description="Null for the site's samples.")]
    score: Annotated[float, Meta(description="The mean of the standardised ratings.")]
    ladders: Annotated[int, Meta(description="On how many ladders it has one.")]
    by_ladder: Annotated[dict[str, float | None], Meta(description="The standardised ratings by code.")]
    page: Address
    slug: str


@require_safe
def overall(request: HttpRequest) -> HttpResponse:
    """The mean of each bot's standardised ratings; two queries, which read ratings, not games."""
    rows = _rows(MAX_SHOWN)
    lines = (_drawn(place, *row) for place, row in enumerate(rows, start=1))
    context = {
        "rows": rows,
        "lines": mark_safe("\n".join(lines)),  # safe: the names are escaped, the rest are numbers
        "games": GAMES.values(),
        "least": LEAST_BOTS,
        "most": MAX_SHOWN,
        "files": [table_links("Scores", "overall-scores")],
    }
    return render(request, "ladders/overall.html", context)


@require_safe
def overall_files(request: HttpRequest, kind: str) -> HttpResponse:
    """The whole table as ``csv`` or ``json``."""
    columns = ("place", "bot", "owner", "score", "ladders", *GAMES, "page", "slug")
    rows = (
        (one.place, one.bot, one.owner, one.score, one.ladders, *one.by_ladder.values(), one.page, one.slug)
        for one in overall_rows(origin_of(request))
    )
    return served_table(kind, "scores", columns, rows, file="overall-scores")


def _drawn(place: int, bot: Bot, score: OverallScore, columns: Sequence[float | None]) -> str:
    """A row of the table; a template takes five times as long for a page."""
    cells = (f'<td class="num">{"" if value is None else f"{value:+.2f}"}</td>' for value in columns)
    return (
        f'<tr>\n<td class="num rank tight">{place}</td>\n'
        f'<td><a class="bot" href="{address_of("bot", bot.slug)}"><bdi>{escape(bot.name)}</bdi></a></td>\n'
        f'<td class="num"><b>{score.score:+.2f}</b></td>\n'
        f'<td class="num">{score.coverage} of {len(columns)}</td>\n'
        f"{''.join(cells)}\n</tr>"
    )


def overall_rows(origin: str) -> Iterator[OverallRow]:
    """The whole table; ``origin`` as in ``exports.origin_of``."""
    for place, (bot, score, columns) in enumerate(_rows(), start=1):
        owner = bot.owner.username if bot.owner else None
        page = origin + address_of("bot", bot.slug)
        by_ladder = dict(zip(GAMES, columns, strict=True))
        yield OverallRow(place, bot.name, owner, score.score, score.coverage, by_ladder, page, bot.slug)


def _rows(most: int | None = None) -> list[tuple[Bot, OverallScore, list[float | None]]]:
    """The best ``most`` bots that play, or all of them, with their standardised ratings on the ladders."""
    best: dict[str, dict[int, float]] = {code: {} for code in GAMES}
    settled = LadderRating.objects.playing().settled().filter(ladder__in=GAMES).order_by("conservative")
    for code, bot, rating in settled.values_list("ladder", "version__bot", "conservative"):
        best[code][bot] = rating  # the last one is the bot's best version
    scores = overall_scores(best)[:most]
    shown = Bot.objects.select_related("owner").only("name", "slug", "owner__username")
    bots = shown.in_bulk([score.bot for score in scores])
    return [(bots[score.bot], score, [score.by_ladder.get(code) for code in GAMES]) for score in scores]
