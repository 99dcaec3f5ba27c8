"""The results of a bot on one ladder: by opponent, colour and opening, forfeits, time, rating changes.

All are rated games, so that the numbers agree with the ratings. Those by opponent and colour are of all
games, summed over the table of pair scores; the rest is of the latest games, see `recent`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from msgspec import Meta

from engines.arithmetic.standings import GameScore
from engines.rules.base import Side
from engines.rules.registry import GAMES
from tournament.models import Bot, BotVersion, LadderRating, PairScore
from tournament.rows.fields import Address
from tournament.views.bots import recent
from tournament.views.exports import table_links
from tournament.views.games.filters import NO_OPENING
from tournament.views.games.scores import (
    ScoreRow,
    Share,
    rated_filters,
    sum_pairs,
    total_and_colours,
)
from tournament.views.links import games_address

MAX_OPPONENTS = 15
"""The most opponents listed, unless all are asked for."""
MAX_OPENINGS = 8


class ResultRow(msgspec.Struct, frozen=True):
    """The results of a bot in some of its rated games on a ladder."""

    by: Annotated[
        str,
        Meta(
            description="`all`, `opponent`, `colour`, `opening` or `forfeit`; the last two of latest games."
        ),
    ]
    name: Annotated[str, Meta(description="Which opponent, colour, moves or termination; of `all` empty.")]
    games: int
    won: Annotated[int | None, Meta(description="Null for forfeits, as the next ones.")]
    drawn: int | None
    lost: int | None
    score: Share
    list: Annotated[Address, Meta(description="The list of these games.")]


class Rated(NamedTuple):
    """A version that is rated on a ladder."""

    ladder: str
    games: int
    pk: int
    number: int


def rated_of(versions: QuerySet[BotVersion]) -> list[Rated]:
    """In the order of the ladders, the newest version first."""
    rows = LadderRating.objects.filter(version__in=versions, ladder__in=GAMES)
    columns = rows.values_list("ladder", "games", "version", "version__number")
    order = list(GAMES)
    return sorted(map(Rated._make, columns), key=lambda one: (order.index(one.ladder), -one.number))


def results_of(
    request: HttpRequest,
    bot: Bot,
    ratings: Sequence[Rated],
    fixed: BotVersion | None = None,
    *,
    all_opponents: bool = False,
) -> dict[str, Any] | None:
    """The results chosen by ``ladder``, ``version`` and ``opponents=all`` in the address, or all opponents.

    None without ratings. By default all versions on the ladder with the most games; a version's own page
    gives it as ``fixed``. Raises ``Http404`` for a ladder or a version without rated games.
    """
    if not ratings:
        return None
    code = _chosen_ladder(request, ratings)
    on_ladder = [rating for rating in ratings if rating.ladder == code]
    version = fixed or _chosen_version(request, on_ladder)
    number = version.number if version else None
    versions = [one.pk for one in on_ladder if version is None or one.pk == version.pk]
    filters = rated_filters(bot, code, number)
    (total, *colours), opponents = _pair_results(code, versions, filters)
    listed = len(opponents) if all_opponents or request.GET.get("opponents") == "all" else MAX_OPPONENTS
    return {
        **_latest_results(code, versions, filters, f"{bot.pk}-{version.pk if version else 0}-{code}"),
        "bot": bot,
        "ladder": GAMES[code],
        "version": version,
        "is_fixed": fixed is not None,
        "ladders": [GAMES[each] for each in dict.fromkeys(rating.ladder for rating in ratings)],
        "numbers": [one.number for one in on_ladder],
        "total": total,
        "colours": colours,
        "opponents": _named(opponents[:listed], filters),
        "more_opponents": len(opponents[listed:]),
        "unrated": games_address(**filters | {"rated": "no"}),
        "files": [table_links("Results", "bot-results", bot.slug, ladder=code, version=number)],
    }


def _latest_results(
    code: str, versions: list[int], filters: Mapping[str, object], key: str
) -> dict[str, Any]:
    """Counts over the latest games of these versions; ``key`` is that of their times in the cache."""
    latest, first = recent.latest_games(code, versions)
    of_latest = {**filters, "min_sequence": first}
    openings = recent.scores_by_opening(latest)
    forfeits = Counter(game.cause for game in latest if game.cause).most_common()
    return {
        "latest": len(latest),
        "since": first,
        "openings": [
            ScoreRow(score, {**of_latest, "opening": opening or NO_OPENING}, opening)
            for opening, score in openings[:MAX_OPENINGS]
        ],
        "more_openings": len(openings[MAX_OPENINGS:]),
        "forfeits": [
            (cause, count, games_address(**of_latest, fault="bot", termination=cause))
            for cause, count in forfeits
        ],
        "changes": recent.rating_changes(latest),
        "time": recent.time_used(latest, key),
    }


def result_rows(request: HttpRequest, results: Mapping[str, Any]) -> Iterator[ResultRow]:
    """The same as rows."""
    rows: list[tuple[str, str, ScoreRow]] = [("all", "", results["total"])]
    rows += [("opponent", row.opponent.name, row) for row in results["opponents"]]
    rows += [("colour", row.name.lower(), row) for row in results["colours"]]
    rows += [("opening", row.name, row) for row in results["openings"]]
    for by, name, row in rows:
        yield ResultRow(by, name, *row.counts, request.build_absolute_uri(row.games))
    for cause, count, address in results["forfeits"]:
        yield ResultRow("forfeit", cause, count, None, None, None, None, request.build_absolute_uri(address))


def _chosen_ladder(request: HttpRequest, ratings: Sequence[Rated]) -> str:
    games: Counter[str] = Counter()
    for rating in ratings:
        games[rating.ladder] += rating.games
    chosen = request.GET.get("ladder", "") or max(games, key=lambda code: games[code])
    if chosen not in games or chosen not in GAMES:
        raise Http404(f"no rated games on ladder {chosen!r}")
    return chosen


def _chosen_version(request: HttpRequest, versions: Sequence[Rated]) -> Rated | None:
    text = request.GET.get("version", "")
    found = next((one for one in versions if str(one.number) == text), None)
    if text and found is None:
        raise Http404(f"no rated games of version {text!r}")
    return found


def _pair_results(
    code: str, versions: list[int], filters: Mapping[str, object]
) -> tuple[list[ScoreRow], list[tuple[int, GameScore]]]:
    """The results of all games and by colour, and by the id of the opponent, the most games first."""
    pairs = PairScore.objects.filter(ladder=code)
    colours, opponents = {}, defaultdict[int, GameScore](GameScore)
    for side in Side:
        scores = sum_pairs(pairs, side, versions, f"{side.other.name.lower()}__bot")
        colours[side] = sum(scores.values(), GameScore())
        for bot, score in scores.items():
            opponents[bot] += score
    in_order = sorted(opponents.items(), key=lambda item: (-item[1].games, item[0]))
    return total_and_colours(colours, filters), in_order


def _named(opponents: Sequence[tuple[int, GameScore]], filters: Mapping[str, object]) -> list[ScoreRow]:
    bots = Bot.objects.only("name", "slug").in_bulk([bot for bot, _ in opponents])
    return [
        ScoreRow(score, {**filters, "opponent": bots[bot].slug}, opponent=bots[bot])
        for bot, score in opponents
    ]
