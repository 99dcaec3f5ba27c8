"""Tables of tournaments, with their winners."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from engines.rules.registry import GAMES, Variant
from tournament.models import BotVersion, Entry, OwnRatings, Tournament
from tournament.models.tournaments import TournamentQuerySet
from tournament.views.paging import Page, by_id, numbered
from tournament.views.sorting import Sorting


@dataclass(frozen=True, slots=True)
class ListedTournament:
    """A row of a table of tournaments; only a finished one has winners."""

    tournament: Tournament
    winners: list[BotVersion]

    @property
    def ladders(self) -> list[Variant]:
        return [GAMES[code] for code in self.tournament.ladders if code in GAMES]

    @property
    def plays_all(self) -> bool:
        return len(self.ladders) == len(GAMES)


SORTED = {"name": "name", "bots": "-bots", "games": "-games_total", "started": "-started_at"}
"""The columns by which a table can be sorted."""


def listed_page(
    request: HttpRequest, tournaments: TournamentQuerySet, size: int, sorting: Sorting | None = None
) -> Page:
    """The newest tournaments first, or as ``sorting`` says; one query more than those of the page."""
    rows = tournaments.select_related("owner", "own_ratings").defer("own_ratings__ratings", "book")
    if sorting is not None and sorting.name:
        page = numbered(request, sorting.of_query(counted(rows)), size)
    else:
        page = by_id(request, counted(rows), size)
    won = [_winners(one) for one in page.rows]
    versions = BotVersion.objects.select_related("bot").in_bulk({pk for ids in won for pk in ids})
    listed = [
        ListedTournament(one, [versions[pk] for pk in ids if pk in versions])
        for one, ids in zip(page.rows, won, strict=True)
    ]
    return replace(page, rows=listed)


def counted(tournaments: QuerySet[Tournament]) -> QuerySet[Tournament]:
    """With the number of their ``bots``, by which ``SORTED`` sorts."""
    entries = Entry.objects.filter(tournament=OuterRef("pk")).order_by().values("tournament")
    return tournaments.annotate(bots=Subquery(entries.annotate(n=Count("pk")).values("n")))


def _winners(tournament: Tournament) -> list[int]:
    stored: OwnRatings | None = getattr(tournament, "own_ratings", None)
    is_told = tournament.state == Tournament.State.FINISHED and not tournament.own_workers
    return stored.winners if stored and is_told else []
