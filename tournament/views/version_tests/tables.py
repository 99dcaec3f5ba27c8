"""The tables of version tests as CSV and JSON, with the same columns in both."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from tournament.models import Tournament
from tournament.views.exports import MOST_EXPORTED, as_text, served_table, with_next
from tournament.views.games.filters import games_address
from tournament.views.paging import by_id
from tournament.views.version_tests.version_tests import chosen_tests, find_version_test

TESTS = (
    "test", "ladder", "state", "elo0", "elo1", "ratio", "pairs", "won", "drawn", "lost", "elo",
    "elo_low", "elo_high", "games", "owner", "started", "finished", "page",
)  # fmt: skip
"""``ratio`` is the log-likelihood ratio; ``games`` also counts games of pairs that are not counted."""
PAIRS = ("pair", "points", "ratio", "list")
"""``points`` are the candidate's; ``ratio`` is the one after the pair; ``list`` is that of its games."""


@require_safe
def version_tests_files(request: HttpRequest, kind: str) -> HttpResponse:
    """All version tests, newest first, in parts of ``MOST_EXPORTED``; ``?owner=`` as on their page."""
    rows, _ = chosen_tests(request)
    page = by_id(request, rows, MOST_EXPORTED)
    lines = [_test(request, one) for one in page.rows]
    return with_next(request, served_table(kind, "tests", TESTS, lines, file="version-tests"), page)


@require_safe
def pairs(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The counted pairs of a test, in their order; at most as many as a test may have."""
    tournament = find_version_test(request, slug)
    counted = tournament.version_test.counted.order_by("number")
    rows = [
        (
            number,
            half_points / 2,
            ratio,
            request.build_absolute_uri(games_address(tournament=slug, round=number)),
        )
        for number, half_points, ratio in counted.values_list("number", "half_points", "ratio")
    ]
    return served_table(kind, "pairs", PAIRS, rows, file=f"{slug}-pairs", test=slug, state=tournament.state)


def _test(request: HttpRequest, tournament: Tournament) -> tuple[object, ...]:
    test = tournament.version_test
    found = test.interval if test.looked_at else None
    return (
        tournament.name,
        *tournament.ladders,
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
    )
