"""Tables of tournaments, with their winners."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Count
from django.http import HttpRequest

from engines.rules.registry import GAMES, Variant
from tournament.models import BotVersion, Tournament, TournamentTables
from tournament.models.tournaments import TournamentQuerySet
from tournament.views.paging import Page, by_id


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


def listed_page(request: HttpRequest, tournaments: TournamentQuerySet, size: int) -> Page:
    """The newest tournaments first; three queries more than ``by_id``."""
    page = by_id(request, tournaments, size)
    keys = [one.pk for one in page.rows]
    known = Tournament.objects.select_related("owner").annotate(bots=Count("entries")).in_bulk(keys)
    stored = TournamentTables.objects.filter(tournament__in=keys).values_list("pk", "winners")
    won = {pk: ids or [] for pk, ids in stored if known[pk].state == Tournament.State.FINISHED}
    versions = BotVersion.objects.select_related("bot").in_bulk({pk for ids in won.values() for pk in ids})
    rows = [
        ListedTournament(known[pk], [versions[one] for one in won.get(pk, ()) if one in versions])
        for pk in keys
    ]
    return replace(page, rows=rows)
