"""The evidence of a tournament that is over: when a revision is due, and its files."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Coalesce

from engines.arithmetic.ratings import OwnTable, Standing, tournament_scale
from engines.evidence.format import (
    BUNDLES,
    EVENT,
    RECORDS,
    EvidenceDocument,
    EvidenceEntry,
    EvidenceFile,
    EvidenceManifest,
    write_document,
)
from engines.evidence.rating_checks import constants_of
from engines.rules.registry import GAMES
from tournament.formats import kinds
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Correction, Entry, Evidence, Tournament
from tournament.models.tournaments import TournamentQuerySet
from tournament.services.evidence import rows, tables
from tournament.services.locks import lock_tournament
from tournament.services.results.record_texts import tournament_pages
from tournament.services.schedule.tables import add_games, tables_of

State = Tournament.State
MORE, CORRECTED = "More games were played.", "Games were annulled, or count again."
Files = Iterator[tuple[str, Iterable[bytes]]]
"""Paths and contents in chunks."""


def has_evidence(tournament: Tournament) -> bool:
    """Whether it has evidence once it is over.

    Not what users' own workers played, which nobody else can judge, nor an event of a game that the program
    does not have.
    """
    form = tournament.format
    is_published = form.has_places and form.is_public and not tournament.own_workers
    return is_published and set(tournament.ladders) <= GAMES.keys()


def due_tournaments() -> TournamentQuerySet:
    """Those that are over and whose newest evidence is missing or of another state, the oldest first.

    Of some ``has_evidence`` is false.
    """
    published = kinds(lambda one: one.has_places and one.is_public)
    over = Tournament.objects.filter(state__in=[State.FINISHED, State.HALTED, State.CANCELLED])
    over = over.filter(kind__in=published, own_workers=False, started_at__isnull=False, games_done__gt=0)
    over = over.annotate(ended_at=Coalesce("finished_at", "created_at"))
    of_now = Evidence.objects.filter(
        tournament=OuterRef("pk"), at=OuterRef("ended_at"), corrected=OuterRef("revision")
    )
    return over.filter(~Exists(of_now)).order_by("pk")


@dataclass(frozen=True, slots=True)
class TournamentEvidence:
    """The next revision of the evidence of a tournament as it was when this was made."""

    tournament: Tournament
    previous: Evidence | None

    @classmethod
    def next_of(cls, pk: int) -> TournamentEvidence:
        tournament = Tournament.objects.get(pk=pk)
        return cls(tournament, tournament.evidence_revisions.first())

    def is_current(self) -> bool:
        """Whether the tournament is as it was; locks it for the caller's transaction."""
        now, seen = lock_tournament(self.tournament.pk), self.tournament
        return _state_of(now) == _state_of(seen)

    @property
    def at(self) -> datetime.datetime:
        return self.tournament.finished_at or self.tournament.created_at

    @property
    def _changed_at(self) -> datetime.datetime:
        """When the tournament ended, or its last game was annulled."""
        corrections = Correction.objects.filter(game__tournament=self.tournament)
        return max(self.at, corrections.aggregate(at=Max("at"))["at"] or self.at)

    def row(self) -> Evidence:
        """Without what is known only of the archive."""
        return rows.next_row(
            self.previous,
            CORRECTED if self.previous and self.previous.at == self.at else MORE,
            tournament=self.tournament,
            games=self.tournament.games_done,
            corrected=self.tournament.revision,
            at=self.at,
        )

    def manifest_of(self, files: Mapping[str, EvidenceFile]) -> EvidenceManifest:
        return rows.manifest_of(self.row(), self.previous, files, at=self._changed_at)

    def files(self) -> Files:
        """Each is to be read to its end before the next one."""
        tournament = self.tournament
        entries = list(tournament.entries.select_related("version__bot__owner", "version__bundle"))
        versions = [entry.version for entry in sorted(entries, key=lambda one: one.number)]
        names = {version.pk: tables.name_of(version) for version in versions}
        published = rows.published_among(versions)
        played, games = Counter[str](), tournament.games.all()
        scales = [constants_of(code, tournament_scale(code)) for code in tournament.ladders]
        document = EvidenceDocument(tuple(scales), (rows.event_of(tournament, names),))
        yield EVENT, [write_document(document)]
        yield "entries.jsonl", rows.in_lines(_entries(tournament, entries))
        yield "versions.jsonl", rows.in_lines(rows.version_rows(versions, published))
        yield "schedule.jsonl", rows.in_lines(rows.game_rows(games, names, "pk", played))
        yield RECORDS, rows.record_chunks(tournament_pages(tournament))
        yield "attempts.jsonl", rows.attempt_chunks(games, "pk")
        yield "corrections.jsonl", rows.in_lines(rows.correction_rows(games, "pk"))
        yield "workers.jsonl", rows.in_lines(rows.worker_rows(played))
        yield from self._table_files(versions)
        for sha256 in published:
            yield f"{BUNDLES}{sha256}.zip", rows.bundle_chunks(sha256)

    def _table_files(self, versions: Sequence[BotVersion]) -> Files:
        tournament, by_id = self.tournament, {version.pk: version for version in versions}
        own: dict[str, dict[int, Standing]] = {}
        rated: list[StandingsTable] = []

        def standings() -> Iterator[bytes]:
            """The first file: computes what the others need too."""
            for table in map(OwnTable, tournament.ladders):
                yield from (b"" for _ in add_games(table, tournament))
                own[table.ladder] = table.standings
            rated.extend(_rated(table, own[table.ladder]) for table in tables_of(tournament, versions))
            yield from rows.in_lines(row for table in rated for row in tables.standings(tournament, table))

        yield "tables/standings.jsonl", standings()
        kinds_of_rows = {
            "crosstable": (row for table in rated for row in tables.crosstable(tournament, table)),
            "pairings": (row for table in rated for row in tables.pairings(table)),
            "ratings": (row for code in own for row in tables.ratings(code, by_id, own[code])),
        }
        for name, found in kinds_of_rows.items():
            yield f"tables/{name}.jsonl", rows.in_lines(found)


def _rated(table: StandingsTable, own: Mapping[int, Standing]) -> StandingsTable:
    return replace(table, ratings={pk: found.rating.conservative for pk, found in own.items()})


def _state_of(tournament: Tournament) -> tuple[object, ...]:
    """Changes with everything that a revision is of."""
    return tournament.state, tournament.finished_at, tournament.revision, tournament.games_done


def _entries(tournament: Tournament, entries: Iterable[Entry]) -> Iterator[EvidenceEntry]:
    for entry in sorted(entries, key=lambda one: one.number):
        version = entry.version
        yield EvidenceEntry(
            entry.number,
            tables.name_of(version),
            tuple(filter(version.plays, tournament.ladders)),
            version.state == BotVersion.State.WITHDRAWN,
        )
