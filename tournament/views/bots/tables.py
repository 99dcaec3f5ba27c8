"""The tables of bots as CSV and JSON, with the same columns in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from tournament import access
from tournament.arithmetic.standings import GameScore
from tournament.models import Bot, LadderRating
from tournament.views.bots.bots import BotRow, bot_rows, find_bot, ratings_of
from tournament.views.bots.comparison import Comparison, LadderComparison, compare_bots
from tournament.views.bots.results import BotResults, results_of
from tournament.views.exports import MOST_EXPORTED, as_text, served_table, with_next
from tournament.views.games.scores import ScoreRow
from tournament.views.paging import numbered

Line = tuple[object, ...]

SCORE = ("games", "won", "drawn", "lost")
BOTS = ("bot", "owner", "since", "newest_version", "state", "ladders", "page")
"""``newest_version`` and ``state`` are those of the newest version that the reader may see."""
RATINGS = ("bot", "ladder", "version", "rating", "mu", "sigma", *SCORE, "page")
RESULTS = ("by", "name", *SCORE, "score", "list")
"""``by`` is all, opponent, colour, opening or forfeit; of a forfeit the name is the termination.

``score`` is the share of points, 0 to 1; ``list`` is the address of the list of games.
"""
COMPARISON = ("ladder", "colour", *SCORE, "score", "elo", "elo_low", "elo_high", "superiority", "list")
"""The first bot's. Lines of both colours together have no colour; only they have Elo and superiority.

``superiority`` is the likelihood that the first bot is the better one, 0 to 1.
"""
ESTIMATES = ("ladder", "version", "opponent_version", "elo", "elo_error", "superiority")


@require_safe
def bots_files(request: HttpRequest, kind: str) -> HttpResponse:
    """All bots this user may see, by name, in parts of ``MOST_EXPORTED``."""
    visible = access.visible_bots(request.user).select_related("owner")
    page = numbered(request, visible, MOST_EXPORTED)
    rows = [_bot(request, row) for row in bot_rows(page.rows, request.user)]
    return with_next(request, served_table(kind, "bots", BOTS, rows, file="bots"), page)


@require_safe
def bot_ratings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The ratings of a bot's versions on all ladders."""
    bot = find_bot(request, slug)
    versions = list(access.visible_versions(request.user, bot.versions.select_related("bot")))
    rows = rating_lines(request, (row.rating for row in ratings_of(versions)))
    return served_table(kind, "ratings", RATINGS, rows, file=f"{slug}-ratings", bot=bot.name)


@require_safe
def bot_results(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The results on the page of a bot, chosen as there by ``ladder`` and ``version``; all opponents."""
    bot = find_bot(request, slug)
    versions = list(access.visible_versions(request.user, bot.versions.select_related("bot")))
    results = results_of(request, bot, ratings_of(versions), all_opponents=True)
    if results is None:
        raise Http404(f"no rated games of {slug!r}")
    rows = _results(request, results)
    ladder, version = results.ladder.code, results.version.number if results.version else None
    about = {"bot": bot.name, "ladder": ladder, "version": version}
    return served_table(kind, "results", RESULTS, rows, file=f"{slug}-{ladder}-results", **about)


@require_safe
def comparison_results(request: HttpRequest, slug: str, other: str, kind: str) -> HttpResponse:
    """The rated games of two bots by ladder and colour, with the filters of their comparison."""
    compared = compare_bots(request, slug, other)
    rows = [line for one in compared.ladders for line in _compared(request, one)]
    return _answer(compared, "results", kind, COMPARISON, rows)


@require_safe
def comparison_estimates(request: HttpRequest, slug: str, other: str, kind: str) -> HttpResponse:
    """The differences of two bots by the estimates of ladders, with the filters of their comparison."""
    compared = compare_bots(request, slug, other)
    rows = [
        (one.game.code, one.first, one.second, one.gap.elo, one.gap.error, one.gap.superiority)
        for one in compared.gaps
    ]
    return _answer(compared, "estimates", kind, ESTIMATES, rows)


def rating_lines(request: HttpRequest, ratings: Iterable[LadderRating]) -> Iterator[Line]:
    """Lines with the columns ``RATINGS``; reads the versions' bots."""
    for rating in ratings:
        version = rating.version
        score = (rating.games, rating.wins, rating.draws, rating.losses)
        page = request.build_absolute_uri(version.get_absolute_url())
        numbers = (rating.conservative, rating.mu, rating.sigma)
        yield version.bot.name, rating.ladder_id, version.number, *numbers, *score, page


def _answer(
    compared: Comparison, name: str, kind: str, columns: Sequence[str], rows: Sequence[Line]
) -> HttpResponse:
    first, second = compared.first, compared.second
    return served_table(
        kind,
        name,
        columns,
        rows,
        file=f"{first.bot.slug}-{second.bot.slug}-{name}",
        bot=first.bot.name,
        version=first.number,
        opponent=second.bot.name,
        opponent_version=second.number,
    )


def _bot(request: HttpRequest, row: BotRow) -> Line:
    newest = row.newest
    return (
        row.bot.name,
        _owner(row.bot),
        as_text(row.bot.created_at),
        newest.number if newest else None,
        newest.state if newest else None,
        " ".join(newest.games) if newest else "",
        request.build_absolute_uri(row.bot.get_absolute_url()),
    )


def _owner(bot: Bot) -> str | None:
    return bot.owner.username if bot.owner else None


def _results(request: HttpRequest, results: BotResults) -> Iterator[Line]:
    yield _result(request, "all", "", results.total)
    for row in results.opponents:
        yield _result(request, "opponent", row.opponent.name if row.opponent else "", row)
    for row in results.colours:
        yield _result(request, "colour", row.name.lower(), row)
    for row in results.openings.rows:
        yield _result(request, "opening", row.name, row)
    for forfeit in results.forfeits:
        address = request.build_absolute_uri(forfeit.address)
        yield "forfeit", forfeit.termination, forfeit.games, None, None, None, None, address


def _result(request: HttpRequest, by: str, name: str, row: ScoreRow) -> Line:
    return by, name, *_score(row.score), request.build_absolute_uri(row.games)


def _compared(request: HttpRequest, one: LadderComparison) -> Iterator[Line]:
    estimates = (one.interval.elo, one.interval.low, one.interval.high, one.interval.los)
    for colour, row in [(None, one.total), *((row.name.lower(), row) for row in one.colours)]:
        found = estimates if colour is None else (None,) * len(estimates)
        yield one.game.code, colour, *_score(row.score), *found, request.build_absolute_uri(row.games)


def _score(score: GameScore) -> Line:
    """The columns ``SCORE`` and the share of points, None without games."""
    return score.games, score.wins, score.draws, score.losses, score.share if score.games else None
