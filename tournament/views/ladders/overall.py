"""The table over all ladders; a separate module, because the other pages show one ladder each."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.arithmetic.overall import LEAST_BOTS, OverallScore, overall_scores
from tournament.models import Bot, LadderRating

MOST_SHOWN = 200


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
    best: dict[str, dict[int, float]] = {code: {} for code in GAMES}
    settled = LadderRating.objects.settled().filter(ladder__in=GAMES).order_by("conservative")
    for code, bot, rating in settled.values_list("ladder", "version__bot", "conservative"):
        best[code][bot] = rating  # the last one is the bot's best version
    scores = overall_scores(best)[:MOST_SHOWN]
    bots = Bot.objects.select_related("owner").in_bulk([score.bot for score in scores])
    rows = [OverallRow(place, bots[score.bot], score) for place, score in enumerate(scores, start=1)]
    context = {"rows": rows, "games": GAMES.values(), "least": LEAST_BOTS, "most": MOST_SHOWN}
    return render(request, "overall.html", context)
