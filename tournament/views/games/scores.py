"""Counts of a bot's games, with the addresses of the lists of exactly these games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django import template
from django.db.models import QuerySet, Sum
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from msgspec import Meta

from engines.arithmetic.standings import GameScore
from engines.rules.base import Side
from tournament.models import Bot, LadderRating, PairScore
from tournament.views.links import address_of, comparison_address, games_address

register = template.Library()

Share = Annotated[float | None, Meta(description="The share of points, 0 to 1; null without games.")]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The results of a bot in some games; ``filters`` find these games and name the bot."""

    score: GameScore
    filters: Mapping[str, object]
    name: str = ""
    opponent: Bot | None = None

    @property
    def games(self) -> str:
        return games_address(**self.filters)

    @property
    def counts(self) -> tuple[int, int, int, int, float | None]:
        """Games, won, drawn, lost, and the share of points, None without games."""
        score = self.score
        return score.games, score.wins, score.draws, score.losses, score.share if score.games else None

    @property
    def cells(self) -> SafeString:
        """The four cells of a table with its counts, each with a link to its games."""
        games = self.games
        cells = (f'<td class="num {kind}">{count}</td>' for kind, count in self._linked(games))
        total = f'<td class="num">{_link(self.score.games, games)}</td>'
        return mark_safe("\n".join((total, *cells)))  # safe, as in ``_link``

    @property
    def opponent_cells(self) -> SafeString:
        """All cells of a row of the table by opponent; a page has hundreds."""
        opponent = self.opponent
        if opponent is None:
            raise ValueError("a row without an opponent")
        name, page = escape(opponent.name), address_of("bot", opponent.slug)
        chosen = {key: self.filters[key] for key in ("ladder", "version")}
        compared = comparison_address(str(self.filters["bot"]), opponent.slug, **chosen)
        return mark_safe(  # safe: the name is escaped, the rest are numbers and our addresses
            f'<td><a class="bot" href="{page}">{name}</a></td>\n{self.cells}\n'
            f'<td class="num">{int(percent(self.score.share) + 0.5)} %</td>\n'
            f'<td class="tight"><a href="{compared.replace("&", "&amp;")}">Compare'
            f'<span class="unseen"> with <bdi>{name}</bdi></span></a></td>'
        )

    @property
    def total(self) -> SafeString:
        """The number of games with a link to them."""
        return _link(self.score.games, self.games)

    @property
    def shares(self) -> SafeString:
        """The numbers won, drawn and lost as three elements, each with a link to its games."""
        counts = (f'<span class="{kind}">{count}</span>' for kind, count in self._linked(self.games))
        return mark_safe("\n".join(counts))  # safe, as in ``_link``

    def _linked(self, games: str) -> Iterator[tuple[str, SafeString]]:
        """The class and the linked number of games won, drawn and lost; ``games`` is the address of all."""
        yield "win", _link(self.score.wins, f"{games}&result=won")
        yield "draw", _link(self.score.draws, f"{games}&result=draw")
        yield "loss", _link(self.score.losses, f"{games}&result=lost")


def _link(count: int, address: str) -> SafeString:
    # Safe: a number and our address.
    return mark_safe(f'<a href="{address.replace("&", "&amp;")}">{count}</a>' if count else "0")


@register.filter
def percent(share: float) -> float:
    return 100 * share


def rated_filters(bot: Bot, ladder: str | None, version: int | None = None) -> dict[str, object]:
    """The filters of the rated games of a bot, or of its version with this number, on one ladder or all."""
    return {"ladder": ladder, "bot": bot.slug, "version": version, "rated": "yes"}


@register.filter
def rated_games(rating: LadderRating) -> ScoreRow:
    """The games that a rating comes from; reads the version's bot."""
    score = GameScore(rating.wins, rating.draws, rating.losses)
    return ScoreRow(score, rated_filters(rating.version.bot, rating.ladder_id, rating.version.number))


@register.filter
def uncertainty(rating: LadderRating) -> float:
    """Three sigma: subtracted from the mean for the published number, and shown after ±."""
    return 3 * rating.sigma


def sum_pairs(
    pairs: QuerySet[PairScore], side: Side, versions: Sequence[int], by: str
) -> dict[Any, GameScore]:
    """The scores of these versions as ``side``, summed in the database by the column ``by``."""
    own = pairs.filter(**{f"{side.name.lower()}__in": versions})
    rows = own.values_list(by).annotate(Sum("wins"), Sum("draws"), Sum("losses"))
    if side is Side.WHITE:
        return {key: GameScore(wins, draws, losses) for key, wins, draws, losses in rows}
    return {key: GameScore(losses, draws, wins) for key, wins, draws, losses in rows}


def total_and_colours(scores: Mapping[Side, GameScore], filters: Mapping[str, object]) -> list[ScoreRow]:
    """The row of all games with these filters, then those of the games with each colour, White's first."""
    colours = [
        ScoreRow(scores[side], {**filters, "colour": side.name.lower()}, side.name.title()) for side in Side
    ]
    return [ScoreRow(sum(scores.values(), GameScore()), filters), *colours]
