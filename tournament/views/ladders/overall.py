"""The table over all ladders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.arithmetic.overall import LEAST_BOTS, OverallScore, overall_scores
from tournament.models import Bot, LadderRating
from tournament.views.exports import served_table, table_links

MOST_SHOWN = 200
EXPORTED = ("place", "bot", "owner", "score", "ladders", *GAMES, "page")
"""Columns of the files. ``ladders`` counts the bot's ladders; the columns named by codes have the scores."""


@dataclass(frozen=True, slots=True)
class OverallRow:
    """A bot of the table."""

    place: int
    bot: Bot
    score: OverallScore

    @property
    def columns(self) -> list[float | None]:
        """Its standardised ratings in the site's order of ladders; None where it has none."""
        return [self.score.by_ladder.get(code) for code in GAMES]


@require_safe
def overall(request: HttpRequest) -> HttpResponse:
    """The mean of each bot's standardised ratings; two queries, which read ratings, not games."""
    context = {
        "rows": _rows(MOST_SHOWN),
        "games": GAMES.values(),
        "least": LEAST_BOTS,
        "most": MOST_SHOWN,
        "files": [table_links("Scores", "overall-scores")],
    }
    return render(request, "overall.html", context)


@require_safe
def overall_files(request: HttpRequest, kind: str) -> HttpResponse:
    """The whole table as ``csv`` or ``json``."""
    return served_table(kind, "scores", EXPORTED, _exported(request), file="overall-scores")


def _exported(request: HttpRequest) -> Iterator[tuple[object, ...]]:
    for row in _rows():
        owner = row.bot.owner.username if row.bot.owner else None
        page = request.build_absolute_uri(row.bot.get_absolute_url())
        yield row.place, row.bot.name, owner, row.score.score, row.score.coverage, *row.columns, page


def _rows(most: int | None = None) -> list[OverallRow]:
    """The best ``most`` bots; None for all."""
    best: dict[str, dict[int, float]] = {code: {} for code in GAMES}
    settled = LadderRating.objects.settled().filter(ladder__in=GAMES).order_by("conservative")
    for code, bot, rating in settled.values_list("ladder", "version__bot", "conservative"):
        best[code][bot] = rating  # the last one is the bot's best version
    scores = overall_scores(best)[:most]
    bots = Bot.objects.select_related("owner").in_bulk([score.bot for score in scores])
    return [OverallRow(place, bots[score.bot], score) for place, score in enumerate(scores, start=1)]
