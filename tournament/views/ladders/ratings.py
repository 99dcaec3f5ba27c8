"""The columns of the ladders' tables, and the rows that pages draw; those of files are in `rows.py`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from django.db import connection
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from engines.estimation.estimates import Agreement
from tournament.models import LadderRating, RatingEvent
from tournament.views.games.scores import ScoreRow, rated_games, uncertainty
from tournament.views.ladders.drawings import RatingScale, draw_curve, draw_interval, draw_results
from tournament.views.links import link_owner, link_version
from tournament.views.moments import show_moment

MAX_PARTS = 200
"""The most parts of one statement; SQLite allows 500."""
RECENT = 24
"""Rated games in a line of recent ratings."""
_RETIRED = '<abbr title="no place: it no longer plays here">–</abbr>'
_NO_PLACE = '<abbr title="no place: provisional, or not the best version of its bot">–</abbr>'
_DISAGREES = '<abbr title="more than two standard errors from the live rating">≠</abbr>'


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row of a ladder's table with its drawings."""

    rating: LadderRating
    agreement: Agreement | None
    """Beside the estimate that does not depend on the order of the games; None if there is none."""
    results: ScoreRow
    interval: SafeString
    recent: SafeString
    shares: SafeString
    last_game: datetime.datetime | None
    """Of a version that no longer plays."""

    @property
    def group(self) -> str:
        """The heading above its part of the table; "" for the ratings that have places."""
        if not self.rating.plays:
            return "retired"
        return "provisional" if self.rating.is_provisional else ""

    @property
    def place(self) -> object:
        if not self.rating.plays:
            return _RETIRED
        return _NO_PLACE if self.rating.place is None else self.rating.place

    @property
    def until(self) -> SafeString:
        """When a version that no longer plays was rated last."""
        if self.last_game is None:
            return SafeString()
        return format_html(' <small class="quiet">last rated {}</small>', show_moment(self.last_game, "day"))

    @property
    def cells(self) -> SafeString:
        """The cells as HTML; not a template, which takes four times as long for a page."""
        cells = (f'<td class="{one.css} {one.cell_css}">{one.cell(self)}</td>\n' for one in COLUMNS)
        return mark_safe("".join(cells))  # safe: numbers, and pieces that are safe

    @property
    def estimate(self) -> str:
        if self.agreement is None:
            return ""
        sign, strength = _DISAGREES if self.agreement.disagrees else "", self.agreement.strength
        return f"{sign} {strength.elo:+.0f} <small>± {strength.error:.0f}</small>"


@dataclass(frozen=True, slots=True)
class LadderColumn:
    """A column of a ladder's table; ``cell`` returns HTML.

    ``css`` are classes of the heading and the cells: ``less`` is hidden on narrow screens, ``extra`` at
    first; ``cell_css`` are more of the cells. ``title`` explains the label. ``sort`` is the word for
    ``?sort=``, with the ``path`` that ``Sorting`` takes; "" if the table cannot be sorted by it.
    """

    label: str
    cell: Callable[[DrawnRow], object]
    css: str = ""
    cell_css: str = ""
    title: str = ""
    sort: str = ""
    path: str = ""


COLUMNS = (
    LadderColumn(
        "#",
        lambda row: row.place,
        css="num",
        cell_css="rank tight",
        title="the bot's place, beside its best version; none if provisional or no longer playing",
    ),
    LadderColumn(
        "Bot",
        lambda row: link_version(row.rating.version) + row.until,
        cell_css="player-cell",
        sort="bot",
        path="version__bot__name_key",
    ),
    LadderColumn(
        "Rating",
        lambda row: f"{row.rating.conservative:.2f}",
        css="num",
        cell_css="rating",
        sort="rating",
        path="-conservative",
    ),
    LadderColumn(
        "±",
        lambda row: f"{uncertainty(row.rating):.2f}",
        css="num less",
        cell_css="quiet",
        title="three sigma: the uncertainty of the mean",
        sort="sigma",
        path="sigma",
    ),
    LadderColumn(
        "Interval",
        lambda row: row.interval,
        cell_css="drawn",
        title="from mu − 3 sigma, the rating, to mu + 3 sigma, with a dot at the mean;"
        " the same scale in all rows",
    ),
    LadderColumn(
        "Recent",
        lambda row: row.recent,
        css="less",
        cell_css="drawn",
        title=f"the rating after each of the latest {RECENT} rated games, each bot on a scale of its own",
    ),
    LadderColumn(
        "Live Elo",
        lambda row: f"{row.agreement.live:+.0f}" if row.agreement else "",
        css="num extra",
        title="mu as Elo, with the same zero as the estimate",
    ),
    LadderColumn(
        "Estimated Elo",
        lambda row: row.estimate,
        css="num extra",
        title="Elo estimated from all games in any order, with the 95 % interval; the zero is stated below",
    ),
    LadderColumn(
        "Games",
        lambda row: row.results.total,
        css="num",
        sort="games",
        path="-games",
    ),
    LadderColumn(
        "Won, drawn, lost",
        lambda row: f'<span class="shares">{row.results.shares}</span>\n{row.shares}',
        css="less",
        cell_css="drawn tabular",
    ),
    LadderColumn(
        "mu",
        lambda row: f"{row.rating.mu:.2f}",
        css="num extra",
        sort="mu",
        path="-mu",
    ),
    LadderColumn(
        "sigma",
        lambda row: f"{row.rating.sigma:.2f}",
        css="num extra",
        sort="sigma",
        path="sigma",
    ),
    LadderColumn(
        "Owner",
        lambda row: link_owner(row.rating.version.bot.owner),
        css="less",
        cell_css="tight quiet",
        sort="owner",
        path="version__bot__owner__username",
    ),
)
"""The columns in the order of the table; `rows.RatingRow` has those of the files in the same order."""
SORTED = {column.sort: column.path for column in COLUMNS if column.sort}


def drawn_rows(
    ladder: str, ratings: Collection[LadderRating], agreements: Mapping[int, Agreement]
) -> list[DrawnRow]:
    """Rows of one ladder with their drawings; ``agreements`` by version."""
    scale = RatingScale.of(ratings)
    recent = recent_ratings(ladder, [rating.version_id for rating in ratings])
    retired = [rating.pk for rating in ratings if not rating.plays]
    last_games = LadderRating.objects.filter(pk__in=retired).last_games(ladder) if retired else {}
    return [
        DrawnRow(
            rating,
            agreements.get(rating.version_id),
            rated_games(rating),
            draw_interval(rating, scale),
            draw_curve(recent.get(rating.version_id, [])),
            draw_results({"won": rating.wins, "drawn": rating.draws, "lost": rating.losses}),
            last_games.get(rating.pk),
        )
        for rating in ratings
    ]


def recent_ratings(ladder: str, versions: Collection[int], count: int = RECENT) -> dict[int, list[float]]:
    """The published ratings of each version after its latest ``count`` games, the oldest first.

    Reads ``count`` rows of the index ``event_history`` for each version. In SQL, because PostgreSQL reads all
    events of the ladder for a query with a limit that depends on the version.
    """
    table = connection.ops.quote_name(RatingEvent._meta.db_table)
    part = (
        f"SELECT * FROM (SELECT sequence, version_id, mu_after, sigma_after FROM {table}"
        f" WHERE version_id = %s AND ladder_id = %s ORDER BY sequence DESC LIMIT {count:d}) AS part"
    )
    rows: list[tuple[int, int, float, float]] = []
    wanted = list(versions)
    with connection.cursor() as cursor:
        for start in range(0, len(wanted), MAX_PARTS):
            some = wanted[start : start + MAX_PARTS]
            parameters = [value for version in some for value in (version, ladder)]
            cursor.execute(" UNION ALL ".join([part] * len(some)), parameters)
            rows += cursor.fetchall()
    found: dict[int, list[float]] = {}
    for _, version, mu, sigma in sorted(rows):
        found.setdefault(version, []).append(mu - 3 * sigma)
    return found
