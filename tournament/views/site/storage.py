"""What takes how much space in the database, for staff."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.db.models import Sum
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Ladder
from tournament.services.pruning import ATTEMPTS, NOTICES, READ_NOTICES
from tournament.services.sizes import TableSize, table_sizes
from tournament.views.exports import served_table, table_links
from tournament.views.requests import AuthenticatedRequest
from tournament.views.unsent import login_required

KEPT_S = 600
"""Measuring reads the whole file on SQLite, so a measurement is shown for some minutes."""
COLUMNS = ("table", "title", "content", "indexes", "total")
"""The last three are bytes."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The sizes of the tables at one time, and the number of recorded games then."""

    tables: list[TableSize]
    games: int
    at: datetime.datetime

    @property
    def total(self) -> int:
        return sum(table.total for table in self.tables)

    @property
    def rows(self) -> list[tuple[TableSize, float, float | None]]:
        """Each table, its share in percent, and its bytes for each recorded game."""
        return [
            (table, 100.0 * table.total / (self.total or 1), table.total / self.games if self.games else None)
            for table in self.tables
        ]


@require_safe
@login_required
def storage(request: AuthenticatedRequest) -> HttpResponse:
    """The tables by size, and how long rows are kept that are not kept for good."""
    measured = _measured(request)
    context = {
        "measured": measured,
        "files": [table_links("Tables", "storage-files")] if measured.tables else [],
        "kept": [
            ("Engines' logs of games", settings.LOG_DAYS),
            ("Engines' logs of forfeits and validations", settings.FAULT_LOG_DAYS),
            ("Ended attempts to play a game", ATTEMPTS.days),
            ("Notices that were read", READ_NOTICES.days),
            ("Notices that were not read", NOTICES.days),
        ],
    }
    return render(request, "storage.html", context)


@require_safe
@login_required
def storage_files(request: AuthenticatedRequest, kind: str) -> HttpResponse:
    """The table of sizes as a file."""
    measured = _measured(request)
    rows = [(one.name, one.title, one.content, one.indexes, one.total) for one in measured.tables]
    about = {"games": measured.games, "measured": measured.at.isoformat()}
    return served_table(kind, "tables", COLUMNS, rows, file="storage", **about)


def _measured(request: AuthenticatedRequest) -> Measurement:
    """The latest measurement, or a new one; raises ``Http404`` for those who are not staff."""
    if not access.may_see_storage(request.user):
        raise Http404("staff only")
    measured: Measurement | None = cache.get("storage")
    if measured is None:
        games: int = Ladder.objects.aggregate(games=Sum("sequence"))["games"] or 0
        measured = Measurement(table_sizes(), games, timezone.now())
        cache.set("storage", measured, KEPT_S)
    return measured
