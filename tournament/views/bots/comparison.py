"""Two bots, or two versions of one, against each other: their rated games, and which is probably better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import msgspec
from django.contrib import messages
from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from msgspec import Meta

from engines.arithmetic.intervals import EloInterval, interval
from engines.arithmetic.standings import GameScore
from engines.arithmetic.statistics import Wdl
from engines.estimation.estimates import Strength
from engines.rules.base import Side
from engines.rules.registry import GAMES, Variant
from tournament import access
from tournament.arithmetic.similarity import Similarity
from tournament.models import Bot, BotVersion, Entry, LadderRating, PairScore, Tournament
from tournament.rows.fields import Address
from tournament.services.results.estimates import ladder_estimate
from tournament.services.searches.similarity import similarities_of
from tournament.views.exports import served_rows, table_links
from tournament.views.games.scores import (
    ScoreRow,
    Share,
    rated_filters,
    sum_pairs,
    total_and_colours,
)
from tournament.views.links import comparison_address, games_address

FEW_GAMES = 20
"""The page says of fewer games that they are few."""
MAX_TESTS = 10
FourNumbers = tuple[float | None, float | None, float | None, float | None]
Superiority = Annotated[
    float | None, Meta(description="The likelihood that the first bot is the better one, 0 to 1.")
]


class ComparedRow(msgspec.Struct, frozen=True):
    """The first bot's rated games against the second on a ladder."""

    ladder: str
    colour: Annotated[str | None, Meta(description="Of the first bot; null for both together.")]
    games: int
    won: int
    drawn: int
    lost: int
    score: Share
    elo: Annotated[float | None, Meta(description="Only for both colours together, as the next ones.")]
    elo_low: float | None
    elo_high: float | None
    superiority: Superiority
    list: Annotated[Address, Meta(description="The list of these games.")]


class EstimateRow(msgspec.Struct, frozen=True):
    """The difference of two bots by the estimate of a ladder, whether they have met or not."""

    ladder: str
    version: int
    opponent_version: int
    elo: float
    elo_error: float
    superiority: Superiority


@dataclass(frozen=True, slots=True)
class LadderComparison:
    """The first bot's results against the second on one ladder."""

    game: Variant
    total: ScoreRow
    colours: list[ScoreRow]
    interval: EloInterval


@dataclass(frozen=True, slots=True)
class Contestant:
    """A bot of the comparison, and the chosen version's number, None for all versions."""

    bot: Bot
    versions: dict[int, int]
    """The numbers of its versions by id."""
    number: int | None

    @property
    def chosen(self) -> list[int]:
        return [pk for pk, number in self.versions.items() if self.number in {None, number}]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two bots, and the ladder on which they are compared, empty for all."""

    first: Contestant
    second: Contestant
    ladder: str

    @property
    def filters(self) -> dict[str, object]:
        """In the address of the comparison."""
        numbers = {"version": self.first.number, "opponent_version": self.second.number}
        return {"ladder": self.ladder, **numbers}

    @property
    def filters_of_games(self) -> dict[str, object]:
        """In the address of the list of their rated games."""
        chosen = rated_filters(self.first.bot, self.ladder or None, self.first.number)
        return {**chosen, "opponent": self.second.bot.slug, "opponent_version": self.second.number}

    @property
    def ladders(self) -> list[str]:
        return [self.ladder] if self.ladder else list(GAMES)


@require_safe
def bot_comparison(request: HttpRequest, slug: str, other: str) -> HttpResponse:
    """The results of a bot against another, filtered by ``ladder``, ``version`` and ``opponent_version``."""
    asked = find_comparison(request, slug, other)
    first, second, ladder, filters = asked.first, asked.second, asked.ladder, asked.filters
    context = {
        "first": first,
        "second": second,
        "chosen_ladder": ladder,
        "games": GAMES.values(),
        "ladders": list(_compare(asked)),
        "gaps": list(_gaps(asked)),
        "tests": _tests(asked),
        "few": FEW_GAMES,
        "similar": list(_similarities(asked)),
        "result_files": [table_links("Results", "comparison-results", slug, other, **filters)],
        "estimate_files": [table_links("Estimates", "comparison-estimates", slug, other, **filters)],
        "reversed": comparison_address(
            other, slug, ladder=ladder, version=second.number, opponent_version=first.number
        ),
        "unrated": games_address(**asked.filters_of_games | {"rated": "no"}),
    }
    return render(request, "bots/comparison.html", context)


@require_safe
def comparison_results(request: HttpRequest, slug: str, other: str, kind: str) -> HttpResponse:
    """The rated games of two bots by ladder and colour, with the filters of their comparison."""
    asked = find_comparison(request, slug, other)
    return _served(asked, kind, "results", ComparedRow, compared_rows(request, asked))


@require_safe
def comparison_estimates(request: HttpRequest, slug: str, other: str, kind: str) -> HttpResponse:
    """The differences of two bots by the estimates of ladders, with the filters of their comparison."""
    asked = find_comparison(request, slug, other)
    return _served(asked, kind, "estimates", EstimateRow, estimate_rows(asked))


def compared_rows(request: HttpRequest, asked: Comparison) -> Iterator[ComparedRow]:
    """The rated games of both by ladder, and there by colour."""
    for one in _compare(asked):
        of_both = (one.interval.elo, one.interval.low, one.interval.high, one.interval.los)
        for row in (one.total, *one.colours):
            found: FourNumbers = (None, None, None, None) if row.name else of_both
            address = request.build_absolute_uri(row.games)
            yield ComparedRow(one.game.code, row.name.lower() or None, *row.counts, *found, address)


def estimate_rows(asked: Comparison) -> Iterator[EstimateRow]:
    for game, one, another, _, gap in _gaps(asked):
        yield EstimateRow(game.code, one, another, gap.elo, gap.error, gap.superiority)


@require_safe
def bot_compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to the comparison with the bot named by ``with``, its name or its address."""
    bots = access.visible_bots(request.user)
    bot = get_object_or_404(bots, slug=slug)
    name = request.GET.get("with", "").strip()
    called = Bot.objects.called(name)
    other = bots.filter(pk=called.pk).first() if called else None
    if other is None or other == bot:
        messages.error(request, f"There is no other bot with the name “{name[:40]}”.")
        return redirect(bot)
    return redirect("bot-comparison", bot.slug, other.slug)


def _served(
    asked: Comparison, kind: str, name: str, of: type[msgspec.Struct], rows: Iterator[msgspec.Struct]
) -> HttpResponse:
    first, second = asked.first, asked.second
    return served_rows(
        kind,
        name,
        of,
        rows,
        file=f"{first.bot.slug}-{second.bot.slug}-{name}",
        bot=first.bot.name,
        version=first.number,
        opponent=second.bot.name,
        opponent_version=second.number,
    )


def find_comparison(request: HttpRequest, slug: str, other: str) -> Comparison:
    """The comparison with the filters in the address; raises ``Http404`` for filters that fit nothing."""
    first = _contestant(request, slug, "version")
    second = _contestant(request, other, "opponent_version")
    ladder = request.GET.get("ladder", "")
    if ladder and ladder not in GAMES:
        raise Http404(f"no ladder {ladder!r}")
    return Comparison(first, second, ladder)


def _contestant(request: HttpRequest, slug: str, parameter: str) -> Contestant:
    """Raises ``Http404`` for an unknown bot, and for a number that none of its versions has."""
    bot = get_object_or_404(access.visible_bots(request.user), slug=slug)
    visible = access.visible_versions(request.user, BotVersion.objects.filter(bot=bot))
    versions = dict(visible.order_by("number").values_list("pk", "number"))
    text = request.GET.get(parameter, "")
    number = next((number for number in versions.values() if str(number) == text), None)
    if text and number is None:
        raise Http404(f"{slug} has no version {text!r}")
    return Contestant(bot, versions, number)


def _compare(asked: Comparison) -> Iterator[LadderComparison]:
    """The ladders on which they have met, in the site's order."""
    scores = {}
    for side in Side:
        pairs = PairScore.objects.filter(**{f"{side.other.name.lower()}__in": asked.second.chosen})
        scores[side] = sum_pairs(pairs, side, asked.first.chosen, "ladder")
    for code in asked.ladders:
        if any(code in by_ladder for by_ladder in scores.values()):
            on_ladder = {side: scores[side].get(code, GameScore()) for side in Side}
            total, *colours = total_and_colours(on_ladder, asked.filters_of_games | {"ladder": code})
            counts = Wdl(total.score.losses, total.score.draws, total.score.wins)
            yield LadderComparison(GAMES[code], total, colours, interval(counts))


def _similarities(asked: Comparison) -> Iterator[tuple[Variant, Similarity]]:
    """On each ladder where it was measured, how often their active versions choose the same move."""
    for code, pair in similarities_of(asked.ladders, asked.first.chosen, asked.second.chosen):
        yield GAMES[code], pair


def _tests(asked: Comparison) -> list[Tournament]:
    """The newest version tests of the chosen versions against each other."""
    sides = (asked.first.chosen, asked.second.chosen)
    between = Q()
    for candidates, baselines in (sides, sides[::-1]):
        both = [
            Exists(Entry.objects.filter(tournament=OuterRef("pk"), number=number, version__in=versions))
            for number, versions in enumerate((candidates, baselines), start=1)
        ]
        between |= Q(both[0], both[1])
    tests = (
        access.visible_version_tests()
        .filter(between, own_workers=False)
        .select_related("owner", "version_test")
    )
    if asked.ladder:
        tests = tests.filter(ladders__0=asked.ladder)
    return list(tests.order_by("-pk")[:MAX_TESTS])


def _gaps(asked: Comparison) -> Iterator[tuple[Variant, int, int, int, Strength]]:
    """The estimated differences on the ladders on which both have played.

    With the numbers of the versions, and the rated games of the one that has fewer. They are the chosen
    versions, else the latest rated ones, whether they have met or not.
    """
    first, second = asked.first, asked.second
    rated = LadderRating.objects.filter(ladder__in=asked.ladders, version__in=[*first.chosen, *second.chosen])
    rows = list(rated.order_by("version__number").values_list("ladder", "version", "games"))
    latest, latest_other = (
        {code: (version, games) for code, version, games in rows if version in chosen}
        for chosen in (set(first.chosen), set(second.chosen))
    )
    for code in asked.ladders:
        if code not in latest or code not in latest_other:
            continue
        (one, games), (other, others) = latest[code], latest_other[code]
        estimate = ladder_estimate(code) if one != other else None
        if estimate and {one, other} <= estimate.strengths.keys():
            gap = estimate.difference(one, other)
            yield GAMES[code], first.versions[one], second.versions[other], min(games, others), gap
