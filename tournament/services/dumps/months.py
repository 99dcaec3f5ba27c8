"""The months of a ladder, as its dumps have them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from tournament import access
from tournament.models import Dump, Game, Ladder
from tournament.models.dumps import name_of_dump

RECORDS, GAMES, RATINGS = ".pgn.gz", "-games.csv.gz", "-ratings.csv"
"""The endings of the names of a dump's files."""
GROWING = "growing"
"""The folder of the files that are not final."""


@dataclass(frozen=True, slots=True)
class DumpMonth:
    """A month of a ladder, and what is known of its games."""

    code: str
    month: datetime.date
    """Its first day, UTC."""
    corrected: int
    """The ``revision`` of the ladder."""
    after: int
    """The completion sequence before its first game."""
    final: Dump | None = None
    """Its newest revision."""

    @property
    def name(self) -> str:
        return name_of_dump(self.code, self.month)

    @property
    def end(self) -> datetime.datetime:
        """The first moment after it."""
        return datetime.datetime.combine(month_after(self.month), datetime.time(), datetime.UTC)

    def draft(self, ending: str) -> Path:
        """Where its file with this ending is written."""
        return settings.DUMPS / GROWING / f"{self.name}{ending}"

    def records_key(self, last: int) -> str:
        """Identifies the games up to this number: a database may be replaced by another."""
        found = Game.objects.filter(ladder=self.code, sequence=last)
        row = found.values_list("pk", "attempt", "finished_at").first()
        return f"{self.after} {row}"

    def games_key(self, last: int) -> str:
        """Also their corrections."""
        return f"{self.records_key(last)} {self.corrected} {settings.SITE}"


def running_month(ladder: Ladder, now: datetime.datetime) -> DumpMonth | None:
    """The first month of a ladder that is not final; None without a game after the last one that is."""
    final = ladder.dumps.first()
    after = final.last if final else 0
    games = access.public_records(ladder.code).filter(game__sequence__gt=after)
    begun = games.values_list("game__finished_at", flat=True).first()
    if begun is None:
        return None
    month = min(month_of(begun), month_of(now))
    if final is not None:
        month = max(month, month_after(final.month))
    return DumpMonth(ladder.code, month, ladder.revision, after)


def newest_dumps(code: str) -> list[Dump]:
    """The newest revision of each final month of a ladder, the newest month first."""
    found: dict[datetime.date, Dump] = {}
    for row in Dump.objects.filter(ladder=code):
        found.setdefault(row.month, row)
    return list(found.values())


def month_of(moment: datetime.datetime) -> datetime.date:
    return moment.astimezone(datetime.UTC).date().replace(day=1)


def month_after(month: datetime.date) -> datetime.date:
    return (month + datetime.timedelta(days=31)).replace(day=1)
