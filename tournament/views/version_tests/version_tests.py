"""The list of version tests, and the page of one while it is played and after its verdict."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from msgspec import Meta

from engines.arithmetic.standings import GameScore, format_points
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.registry import GAMES
from tournament import access
from tournament.models import BotVersion, Game, Tournament, VersionTest
from tournament.models.version_tests import format_elo
from tournament.queues import tournament_topic
from tournament.rows.fields import Address, Moment, as_text
from tournament.services.schedule.pairings import entered_versions
from tournament.services.work.durations import remaining_seconds, slots_at_work
from tournament.views.exports import MAX_EXPORTED, served_rows, table_links, with_next
from tournament.views.games.filters import COUNTED
from tournament.views.games.scores import ScoreRow
from tournament.views.links import games_address
from tournament.views.paging import by_id
from tournament.views.polling import PART, LivePart, is_part, reload, shows_other
from tournament.views.requests import fresh_buttons
from tournament.views.tournaments.costs import about
from tournament.views.tournaments.tournaments import count_annulled, find_tournament

PAGE_SIZE = 50
POINTS = 400
"""The most points of a chart; more pairs are thinned out evenly, the last one stays."""
MAX_OWNER = 150
"""The longest name of an account."""
Outcome = VersionTest.Outcome


class VersionTestRow(msgspec.Struct, frozen=True):
    """A version test, as lists have it; ``page`` leads to more."""

    test: Annotated[str, Meta(description="Its name.")]
    ladder: str
    state: Annotated[str, Meta(description="The verdict, or how it stands without one.")]
    elo0: Annotated[float, Meta(description="H0, in normalized Elo.")]
    elo1: Annotated[float, Meta(description="H1, in normalized Elo.")]
    ratio: Annotated[float, Meta(description="The log-likelihood ratio.")]
    pairs: Annotated[int, Meta(description="The counted pairs.")]
    won: Annotated[int, Meta(description="Games of these pairs that the candidate won.")]
    drawn: int
    lost: int
    elo: Annotated[float | None, Meta(description="The estimated difference; null before the first pair.")]
    elo_low: float | None
    elo_high: float | None
    games: Annotated[int, Meta(description="All games, also those of pairs that are not counted.")]
    owner: str | None
    started: Moment | None
    finished: Moment | None
    page: Address
    slug: str


class PairRow(msgspec.Struct, frozen=True):
    """A counted pair of games of a version test."""

    pair: Annotated[int, Meta(description="Its number, from 1.")]
    points: Annotated[float, Meta(description="The candidate's, from 0 to 2.")]
    ratio: Annotated[float, Meta(description="The log-likelihood ratio after the pair.")]
    list: Annotated[Address, Meta(description="The list of its games.")]


@require_safe
def version_tests(request: HttpRequest) -> HttpResponse:
    """All version tests, newest first; with ``?owner=`` those of one account."""
    rows, owner = chosen_tests(request)
    context = {
        "page": by_id(request, rows, PAGE_SIZE),
        "owner": owner,
        "files": [table_links("Version tests", "version-tests-files", owner=owner)],
    }
    return render(request, "version_tests/version_tests.html", context)


@require_safe
def version_tests_files(request: HttpRequest, kind: str) -> HttpResponse:
    """All version tests, newest first, in parts of ``MAX_EXPORTED``; ``?owner=`` as on their page."""
    rows, _ = chosen_tests(request)
    page = by_id(request, rows, MAX_EXPORTED)
    shown = [version_test_row(request, one) for one in page.rows]
    return with_next(request, served_rows(kind, "tests", VersionTestRow, shown, file="version-tests"), page)


def version_test_row(request: HttpRequest, tournament: Tournament) -> VersionTestRow:
    """The row of a version test."""
    test = tournament.version_test
    found = test.interval if test.looked_at else None
    (ladder,) = tournament.ladders
    return VersionTestRow(
        tournament.name,
        ladder,
        test.get_outcome_display(),
        test.elo0,
        test.elo1,
        test.ratio,
        sum(test.pairs.cells),
        test.wins,
        test.draws,
        test.losses,
        found.elo if found else None,
        found.low if found else None,
        found.high if found else None,
        tournament.games_done,
        tournament.owner.username if tournament.owner else None,
        as_text(tournament.started_at),
        as_text(tournament.finished_at),
        request.build_absolute_uri(tournament.get_absolute_url()),
        tournament.slug,
    )


def chosen_tests(request: HttpRequest) -> tuple[QuerySet[Tournament], str]:
    """The tests of the account named by ``?owner=``, and that name; without one, all tests."""
    rows = access.visible_version_tests().select_related("owner", "version_test")
    owner = request.GET.get("owner", "")[:MAX_OWNER]
    if owner:
        rows = rows.filter(owner__username=owner) if owner.isprintable() else rows.none()
    return rows, owner


@require_safe
@fresh_buttons
@vary_on_headers(PART)
def version_test(request: HttpRequest, slug: str) -> HttpResponse:
    """The course of a test and its terms; a script gets the part that changes, or 204."""
    tournament = find_version_test(request, slug)
    test = tournament.version_test
    waits = not (test.is_over or tournament.games.filter(state=Game.State.CLAIMED).exists())
    seen = f"{tournament.state}-{tournament.games_done}-{test.looked_at}-{tournament.revision}-{waits:d}"
    topics = () if test.is_over else (tournament_topic(tournament.pk),)
    part = LivePart(request, seen, topics)
    if part.is_shown:
        return part.unchanged()
    if shows_other(request, tournament.state):
        return reload()
    versions = entered_versions(tournament)
    context = {
        "tournament": tournament,
        "test": test,
        "files": [table_links("Pairs", "version-test-pairs", slug)],
        **_course(test, versions[0]),
        "outlook": "" if test.is_over else _outlook(test, waits=waits),
    }
    if is_part(request):
        return part.render("version_tests/pieces/version_test_live.html", context)
    (ladder,) = tournament.ladders
    context |= {
        "game": GAMES[ladder],
        "versions": versions,
        "games_address": games_address(tournament=tournament.slug),
        "annulled": count_annulled(tournament),
        "stops": not test.is_over and access.may_edit_tournament(request.user, tournament),
    }
    return part.render("version_tests/version_test.html", context)


@require_safe
def version_test_ratios(request: HttpRequest, slug: str) -> JsonResponse:
    """The ratio after each counted pair, for the chart: ``points`` are the number of games and the ratio."""
    test = find_version_test(request, slug).version_test
    lower, upper = test.bounds
    step = -(-test.looked_at // POINTS) or 1
    thinned = test.counted.alias(rest=F("number") % step).filter(rest=0)
    points = list(thinned.order_by("number").values_list("number", "ratio"))
    last = test.counted.order_by("-number").values_list("number", "ratio").first()
    if last is not None and last not in points:
        points.append(last)
    games = [(GAMES_A_PAIR * number, round(ratio, 3)) for number, ratio in points]
    return JsonResponse({"lower": lower, "upper": upper, "points": [(0, 0.0), *games]})


@require_safe
def pairs(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The counted pairs of a test, in their order; at most as many as a test may have."""
    tournament = find_version_test(request, slug)
    rows = pair_rows(request, tournament)
    return served_rows(kind, "pairs", PairRow, rows, file=f"{slug}-pairs", test=slug, state=tournament.state)


def pair_rows(request: HttpRequest, tournament: Tournament, *, after: int = 0) -> list[PairRow]:
    """The counted pairs of a version test in their order; those after pair ``after``."""
    counted = tournament.version_test.counted.filter(number__gt=after).order_by("number")
    return [
        PairRow(
            number,
            half_points / 2,
            ratio,
            request.build_absolute_uri(games_address(tournament=tournament.slug, round=number)),
        )
        for number, half_points, ratio in counted.values_list("number", "half_points", "ratio")
    ]


def find_version_test(request: HttpRequest, slug: str) -> Tournament:
    """The tournament of a version test that this user may see."""
    tournament = find_tournament(request, slug)
    if not tournament.format.is_sequential:
        raise Http404(f"no version test {slug!r}")
    return tournament


def _course(test: VersionTest, candidate: BotVersion) -> dict[str, Any]:
    """What the test has shown so far, with the addresses of the lists of the counted games."""
    tournament, pairs, (lower, upper) = test.tournament, test.pairs, test.bounds
    total = sum(pairs.cells)
    score = GameScore(test.wins, test.draws, test.losses)
    named = {"bot": candidate.bot.slug, "version": candidate.number}
    return {
        "bar": _bar(test.ratio, lower, upper),
        "lower": lower,
        "upper": upper,
        "interval": test.interval if total else None,
        "games": ScoreRow(score, {"tournament": tournament.slug, "pair": COUNTED, **named}),
        "pairs": [
            {
                "points": format_points(half_points / 2),
                "count": count,
                "share": 100.0 * count / (total or 1),
                "games": games_address(tournament=tournament.slug, pair=half_points),
            }
            for half_points, count in enumerate(pairs.cells)
        ],
        "counted": total,
        "uncounted": tournament.games_done - pairs.games,
        "sentence": course_sentence(test, tournament),
    }


def _bar(ratio: float, lower: float, upper: float) -> dict[str, float]:
    """The ratio as a bar between the bounds, which starts at 0; positions are percents of the width."""

    def percent(value: float) -> float:
        return 100.0 * (min(max(value, lower), upper) - lower) / (upper - lower)

    zero, end = percent(0.0), percent(ratio)
    return {"zero": zero, "start": min(zero, end), "width": abs(end - zero)}


def course_sentence(test: VersionTest, tournament: Tournament) -> str:
    """The state of the test in one sentence."""
    low, high = format_elo(test.elo0), format_elo(test.elo1)
    sentences = {
        Outcome.RUNNING: "The test ends by itself when the ratio reaches one of its bounds.",
        Outcome.H1: f"H1 is accepted: the results favour a difference of {high} normalized Elo over {low}."
        f" The ratio passed the upper bound, {test.bounds[1]:.2f}.",
        Outcome.H0: f"H0 is accepted: the results favour a difference of {low} normalized Elo over {high}."
        f" The ratio passed the lower bound, {test.bounds[0]:.2f}.",
        Outcome.LIMIT: "Undecided: the largest number of games is reached, and neither bound.",
        Outcome.STOPPED: f"Stopped without a verdict: {tournament.state_reason}.",
    }
    return sentences[Outcome(test.outcome)]


def _outlook(test: VersionTest, *, waits: bool) -> str:
    """How long a running test may still take, and whether it waits."""
    tournament = test.tournament
    left, slots = test.most_games - test.games.games, slots_at_work()
    usual = test.question.expected_games()
    takes = f"It may still take {left:,} game{pluralize(left)}"
    if slots:
        takes += f", {about(remaining_seconds(tournament, left, slots))}"
    if left + test.games.games > usual:
        takes += f"; such a test takes {usual:,.0f} games on average"
    if not slots:
        return f"{takes}. It waits: no worker plays games at the moment."
    return f"{takes}. It waits: all other games come first." if waits else f"{takes}."
