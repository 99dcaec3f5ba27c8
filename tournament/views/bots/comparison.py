"""Two bots against each other: their rated games by ladder and colour, and who is probably better."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from engines.rules.base import Side
from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.arithmetic.estimates import Strength
from tournament.arithmetic.standings import GameScore
from tournament.models import Bot, BotVersion, LadderRating, PairScore
from tournament.services.results.estimates import ladder_estimate
from tournament.views.exports import TableLinks, table_links
from tournament.views.games.filters import comparison_address, games_address
from tournament.views.games.scores import ScoreRow, joined, rated_filters, sum_pairs
from tournament.views.paging import LAST_ID, is_whole
from workers.intervals import EloInterval, interval
from workers.statistics import Wdl


@dataclass(frozen=True, slots=True)
class LadderComparison:
    """The first bot's results against the second on one ladder."""

    game: Rules
    total: ScoreRow
    colours: list[ScoreRow]
    interval: EloInterval

    @property
    def superiority(self) -> float:
        """The likelihood in percent that the first bot is the better one."""
        return 100 * self.interval.los


@dataclass(frozen=True, slots=True)
class EstimatedGap:
    """Two versions by the estimate of a ladder, from all its games, whether they have met or not."""

    game: Rules
    first: int
    second: int
    """The numbers of the versions."""
    gap: Strength

    @property
    def superiority(self) -> float:
        """The likelihood in percent that the first version is the stronger one."""
        return 100 * self.gap.superiority


@dataclass(frozen=True, slots=True)
class _Contestant:
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
    """Two bots against each other, on one ladder or, without ``ladder``, on all."""

    first: _Contestant
    second: _Contestant
    ladder: str
    ladders: list[LadderComparison]
    gaps: list[EstimatedGap]

    def files(self, title: str, view: str) -> list[TableLinks]:
        """The files of one of the two tables, with the same filters."""
        slugs = (self.first.bot.slug, self.second.bot.slug)
        return [table_links(title, view, *slugs, **self._filters)]

    @property
    def _filters(self) -> dict[str, object]:
        return {
            "ladder": self.ladder,
            "version": self.first.number,
            "opponent_version": self.second.number,
        }


@require_safe
def bot_comparison(request: HttpRequest, slug: str, other: str) -> HttpResponse:
    """The results of a bot against another, filtered by ``ladder``, ``version`` and ``opponent_version``."""
    compared = compare_bots(request, slug, other)
    first, second, ladder = compared.first, compared.second, compared.ladder
    context = {
        "first": first,
        "second": second,
        "chosen_ladder": ladder,
        "games": GAMES.values(),
        "ladders": compared.ladders,
        "gaps": compared.gaps,
        "result_files": compared.files("Results", "comparison-results"),
        "estimate_files": compared.files("Estimates", "comparison-estimates"),
        "reversed": comparison_address(
            other, slug, ladder=ladder, version=second.number, opponent_version=first.number
        ),
        "unrated": games_address(**_filters(first, second) | {"ladder": ladder or None, "rated": "no"}),
    }
    return render(request, "comparison.html", context)


def compare_bots(request: HttpRequest, slug: str, other: str) -> Comparison:
    """The comparison with the filters in the address; raises ``Http404`` for filters that fit nothing."""
    if slug == other:
        raise Http404("a bot cannot be compared with itself")
    first = _contestant(request, slug, "version")
    second = _contestant(request, other, "opponent_version")
    ladder = request.GET.get("ladder", "")
    if ladder and ladder not in GAMES:
        raise Http404(f"no ladder {ladder!r}")
    codes = [ladder] if ladder else list(GAMES)
    return Comparison(first, second, ladder, _compare(first, second, codes), _gaps(first, second, codes))


@require_safe
def bot_compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to the comparison with the bot named by ``with``, its name or its address."""
    bots = access.visible_bots(request.user)
    bot = get_object_or_404(bots, slug=slug)
    name = request.GET.get("with", "").strip()
    other = _named(bots, name) if name.isprintable() else None
    if other is None or other == bot:
        messages.error(request, f"There is no other bot with the name “{name[:40]}”.")
        return redirect(bot)
    return redirect("bot-comparison", bot.slug, other.slug)


def _named(bots: QuerySet[Bot], name: str) -> Bot | None:
    """The one of ``bots`` with this address or name."""
    named = Bot.objects.named(name)
    return bots.filter(slug=name).first() or (bots.filter(pk=named.pk).first() if named else None)


def _contestant(request: HttpRequest, slug: str, parameter: str) -> _Contestant:
    """Raises ``Http404`` for an unknown bot, and for a number that none of its versions has."""
    bot = get_object_or_404(access.visible_bots(request.user).select_related("owner"), slug=slug)
    visible = access.visible_versions(request.user, BotVersion.objects.filter(bot=bot))
    versions = dict(visible.order_by("number").values_list("pk", "number"))
    text = request.GET.get(parameter, "")
    number = int(text) if is_whole(text, LAST_ID) else None
    if text and number not in versions.values():
        raise Http404(f"{slug} has no version {text!r}")
    return _Contestant(bot, versions, number)


def _filters(first: _Contestant, second: _Contestant) -> dict[str, object]:
    """The filters of their rated games on all ladders."""
    return rated_filters(first.bot, None, first.number) | {
        "opponent": second.bot.slug,
        "opponent_version": second.number,
    }


def _compare(first: _Contestant, second: _Contestant, ladders: list[str]) -> list[LadderComparison]:
    """The ladders on which they have met, in the site's order."""
    scores = {}
    for side in Side:
        pairs = PairScore.objects.filter(**{f"{side.other.name.lower()}__in": second.chosen})
        scores[side] = sum_pairs(pairs, side, first.chosen, "ladder")
    met = [code for code in ladders if any(code in by_ladder for by_ladder in scores.values())]
    return [
        _comparison(
            code, {side: scores[side].get(code, GameScore()) for side in Side}, _filters(first, second)
        )
        for code in met
    ]


def _gaps(first: _Contestant, second: _Contestant, ladders: list[str]) -> list[EstimatedGap]:
    """The chosen versions, else the latest rated ones, on the ladders on which both have played."""
    rated = LadderRating.objects.filter(
        ladder__in=ladders, version__in=[*first.chosen, *second.chosen]
    ).order_by("version__number")
    latest: dict[tuple[str, int], int] = {}
    for code, bot, version in rated.values_list("ladder", "version__bot", "version"):
        latest[code, bot] = version
    gaps = []
    for code in ladders:
        one, other = latest.get((code, first.bot.pk)), latest.get((code, second.bot.pk))
        if one is None or other is None:
            continue
        estimate = ladder_estimate(code)
        if {one, other} <= estimate.strengths.keys():
            gap = estimate.difference(one, other)
            gaps.append(EstimatedGap(GAMES[code], first.versions[one], second.versions[other], gap))
    return gaps


def _comparison(code: str, scores: dict[Side, GameScore], filters: dict[str, object]) -> LadderComparison:
    filters = filters | {"ladder": code}
    total = joined(scores[Side.WHITE], scores[Side.BLACK])
    colours = [
        ScoreRow(score, filters | {"colour": side.name.lower()}, side.name.title())
        for side, score in scores.items()
    ]
    counts = Wdl(total.losses, total.draws, total.wins)
    return LadderComparison(GAMES[code], ScoreRow(total, filters), colours, interval(counts))
