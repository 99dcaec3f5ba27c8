"""The results of a bot on one ladder: by opponent, colour and opening, forfeits, time, rating changes.

All are rated games, so that the numbers agree with the ratings. Those by opponent and colour are of all
games, summed over the table of pair scores; the rest is of the latest games, see `recent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest

from engines.rules.base import Side
from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament.arithmetic.standings import GameScore
from tournament.models import Bot, BotVersion, PairScore
from tournament.views.bots import recent
from tournament.views.exports import TableLinks, table_links
from tournament.views.games.filters import games_address
from tournament.views.games.scores import ScoreRow, joined, rated_filters, sum_pairs
from tournament.views.ladders.ratings import RatingRow
from tournament.views.paging import LAST_ID, is_whole

MOST_OPPONENTS = 15
"""The most opponents listed, unless all are asked for."""


@dataclass(frozen=True, slots=True)
class BotResults:
    """What the page shows of one ladder; with ``version`` of this version alone."""

    bot: Bot
    ladder: Rules
    version: BotVersion | None
    is_fixed: bool
    """Whether the page is about this version, so that no other can be chosen."""
    ladders: list[Rules]
    """The ladders that can be chosen."""
    numbers: list[int]
    """The numbers of the versions that have rated games on the ladder."""
    total: ScoreRow
    colours: list[ScoreRow]
    opponents: list[ScoreRow]
    more_opponents: int
    """How many opponents are not listed."""
    latest: recent.Latest
    openings: recent.FrequentOpenings
    forfeits: list[recent.ForfeitRow]
    changes: list[recent.RatingChange]
    time: recent.TimeUsed | None

    @property
    def files(self) -> list[TableLinks]:
        """The same results as files."""
        number = self.version.number if self.version else None
        return [table_links("Results", "bot-results", self.bot.slug, ladder=self.ladder.code, version=number)]

    @property
    def unrated(self) -> str:
        """The address of the games that are not counted."""
        return games_address(**(dict(self.total.filters) | {"rated": "no"}))


def results_of(
    request: HttpRequest,
    bot: Bot,
    ratings: Sequence[RatingRow],
    fixed: BotVersion | None = None,
    *,
    all_opponents: bool = False,
) -> BotResults | None:
    """The results chosen by ``ladder`` and ``version`` in the address, and by ``all_opponents``.

    None without ratings. By default all versions on the ladder with the most games; a version's own page
    gives it as ``fixed``. Raises ``Http404`` for a ladder or a version without rated games.
    """
    if not ratings:
        return None
    code = _chosen_ladder(request, ratings)
    on_ladder = [row.rating.version for row in ratings if row.rating.ladder_id == code]
    version = fixed or _chosen_version(request, on_ladder)
    versions = [one.pk for one in on_ladder if version is None or one.pk == version.pk]
    filters = rated_filters(bot, code, version.number if version else None)
    colours, opponents = _pair_results(code, versions, filters)
    shown = len(opponents) if all_opponents else MOST_OPPONENTS
    latest = recent.latest_games(code, versions)
    return BotResults(
        bot=bot,
        ladder=GAMES[code],
        version=version,
        is_fixed=fixed is not None,
        ladders=[GAMES[each] for each in dict.fromkeys(row.rating.ladder_id for row in ratings)],
        numbers=[one.number for one in on_ladder],
        total=ScoreRow(joined(colours[0].score, colours[1].score), filters),
        colours=colours,
        opponents=_named(opponents[:shown], filters),
        more_opponents=len(opponents[shown:]),
        latest=latest,
        openings=recent.openings_of(latest, filters),
        forfeits=recent.forfeits_of(latest, filters),
        changes=recent.rating_changes(latest),
        time=recent.time_used(latest, f"{bot.pk}-{version.pk if version else 0}-{code}"),
    )


def asks_for_all(request: HttpRequest) -> bool:
    """Whether the address of a page asks for all opponents."""
    return request.GET.get("opponents") == "all"


def _chosen_ladder(request: HttpRequest, ratings: Sequence[RatingRow]) -> str:
    games: dict[str, int] = {}
    for row in ratings:
        games[row.rating.ladder_id] = games.get(row.rating.ladder_id, 0) + row.rating.games
    chosen = request.GET.get("ladder", "") or max(games, key=lambda code: games[code])
    if chosen not in games or chosen not in GAMES:
        raise Http404(f"no rated games on ladder {chosen!r}")
    return chosen


def _chosen_version(request: HttpRequest, versions: Sequence[BotVersion]) -> BotVersion | None:
    text = request.GET.get("version", "")
    if not text:
        return None
    number = int(text) if is_whole(text, LAST_ID) else 0
    for version in versions:
        if version.number == number:
            return version
    raise Http404(f"no rated games of version {text!r}")


def _pair_results(
    code: str, versions: list[int], filters: dict[str, object]
) -> tuple[list[ScoreRow], list[tuple[int, GameScore]]]:
    """The results by colour, White's first, and by the id of the opponent, the most games first."""
    pairs = PairScore.objects.filter(ladder=code)
    colours, opponents = [], dict[int, GameScore]()
    for side in Side:
        scores = sum_pairs(pairs, side, versions, f"{side.other.name.lower()}__bot")
        total = GameScore()
        for bot, score in scores.items():
            total = joined(total, score)
            opponents[bot] = joined(opponents.get(bot, GameScore()), score)
        colours.append(ScoreRow(total, filters | {"colour": side.name.lower()}, side.name.title()))
    return colours, sorted(opponents.items(), key=lambda item: (-item[1].games, item[0]))


def _named(opponents: Sequence[tuple[int, GameScore]], filters: dict[str, object]) -> list[ScoreRow]:
    bots = Bot.objects.only("name", "slug").in_bulk([bot for bot, _ in opponents])
    return [
        ScoreRow(score, filters | {"opponent": bots[bot].slug}, opponent=bots[bot])
        for bot, score in opponents
    ]
