"""Rows of the ladders' tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import connection
from django.utils.safestring import SafeString, mark_safe

from tournament.arithmetic.estimates import Agreement
from tournament.models import LadderRating, RatingEvent
from tournament.views.games.scores import rated_games, uncertainty
from tournament.views.ladders.drawings import RatingScale, draw_interval, draw_line, draw_results
from tournament.views.links import link_owner, link_version

MOST_PARTS = 200
"""Of one statement; SQLite allows 500."""
RECENT = 24
"""Rated games in a line of recent ratings."""
_NO_PLACE = '<abbr title="no place: provisional, or not the best version of its bot">–</abbr>'
_DISAGREES = '<abbr title="more than two standard errors from the live rating">≠</abbr>'


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row of a ladder's table with its drawings."""

    rating: LadderRating
    agreement: Agreement | None
    """Beside the estimate that does not depend on the order of the games; None if there is none."""
    interval: SafeString
    recent: SafeString
    shares: SafeString

    @property
    def cells(self) -> SafeString:
        """The cells as HTML; not a template, which takes four times as long for a page."""
        rating, version, results = self.rating, self.rating.version, rated_games(self.rating)
        place = _NO_PLACE if rating.place is None else rating.place
        return mark_safe(  # safe: numbers, and pieces that are safe
            f'<td class="num rank tight">{place}</td>\n<td class="player-cell">{link_version(version)}</td>\n'
            f'<td class="num rating">{rating.conservative:.2f}</td>\n'
            f'<td class="num quiet less">{uncertainty(rating):.2f}</td>\n'
            f'<td class="drawn">{self.interval}</td>\n<td class="drawn less">{self.recent}</td>\n'
            f"{self._estimate}\n"
            f'<td class="num">{results.total}</td>\n'
            f'<td class="drawn less tabular"><span class="shares">{results.shares}</span>\n{self.shares}</td>'
            f'<td class="num extra">{rating.mu:.2f}</td>\n<td class="num extra">{rating.sigma:.2f}</td>\n'
            f'<td class="tight quiet less">{link_owner(version.bot.owner)}</td>'
        )

    @property
    def _estimate(self) -> str:
        """The cells of the live rating as Elo and of the estimate."""
        if self.agreement is None:
            return '<td class="num extra"></td><td class="num extra"></td>'
        live, strength = self.agreement.live, self.agreement.strength
        return (
            f'<td class="num extra">{live:+.0f}</td>\n'
            f'<td class="num extra">{_DISAGREES if self.agreement.disagrees else ""} {strength.elo:+.0f} '
            f"<small>± {strength.error:.0f}</small></td>"
        )


def drawn_rows(
    ladder: str, ratings: Collection[LadderRating], agreements: Mapping[int, Agreement]
) -> list[DrawnRow]:
    """Rows of one ladder with their drawings; ``agreements`` by version."""
    scale = RatingScale.of(ratings)
    recent = recent_ratings(ladder, [rating.version_id for rating in ratings])
    return [
        DrawnRow(
            rating,
            agreements.get(rating.version_id),
            draw_interval(rating, scale),
            draw_line(recent.get(rating.version_id, [])),
            draw_results({"won": rating.wins, "drawn": rating.draws, "lost": rating.losses}),
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
        for start in range(0, len(wanted), MOST_PARTS):
            some = wanted[start : start + MOST_PARTS]
            parameters = [value for version in some for value in (version, ladder)]
            cursor.execute(" UNION ALL ".join([part] * len(some)), parameters)
            rows += cursor.fetchall()
    found: dict[int, list[float]] = {}
    for _, version, mu, sigma in sorted(rows):
        found.setdefault(version, []).append(mu - 3 * sigma)
    return found
