"""The evidence of a ladder up to its latest recorded game: made once a month."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from django.db.models import Max

from engines.arithmetic.ratings import ladder_scale
from engines.estimation.estimates import Estimate
from engines.estimation.openings import OpeningScore
from engines.evidence.format import (
    BUNDLES,
    EVENT,
    RECORDS,
    EvidenceDocument,
    EvidenceEvent,
    EvidenceFile,
    EvidenceGame,
    EvidenceManifest,
    EvidenceRating,
    EvidenceStrength,
    write_document,
)
from engines.evidence.rating_checks import constants_of
from engines.rules.registry import GAMES
from tournament import access
from tournament.models import BotVersion, Correction, Evidence, Game, Ladder, LadderRating, Tournament
from tournament.models.games import GameQuerySet
from tournament.services.evidence import rows, tables
from tournament.services.evidence.tournaments import CORRECTED, MORE, Files
from tournament.services.locks import lock
from tournament.services.results.estimates import LadderResults, Opening, add_openings
from tournament.services.results.record_texts import ladder_pages

KEPT = 2
"""Archives of a ladder whose files are kept: each has all games, and so is larger than the one before."""
WAIT_SECONDS = 0.05
"""Between two looks whether the estimate is computed."""


def due_ladders(now: datetime.datetime) -> list[str]:
    """Those with new games or annulments whose newest evidence was made before this month, or for which
    staff asked since."""
    begin = now.astimezone(datetime.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return [ladder.code for ladder in Ladder.objects.order_by("code") if _is_due(ladder, begin)]


def ask(code: str, now: datetime.datetime) -> None:
    """Have the next revision of a ladder's evidence made now, if there is anything new; may be repeated."""
    Ladder.objects.filter(pk=code).update(evidence_asked_at=now)


def is_asked(ladder: Ladder) -> bool:
    """Whether a revision that staff asked for is to be made."""
    newest = ladder.evidence_revisions.first()
    since = newest.made_at if newest else None
    asked = ladder.evidence_asked_at
    return has_news(ladder, newest) and asked is not None and (since is None or since < asked)


def has_news(ladder: Ladder, newest: Evidence | None) -> bool:
    """Whether there are games or annulments that are not in its newest evidence."""
    if not ladder.sequence or ladder.code not in GAMES:
        return False
    return newest is None or (newest.games, newest.corrected) != (ladder.sequence, ladder.revision)


def _is_due(ladder: Ladder, begin: datetime.datetime) -> bool:
    newest = ladder.evidence_revisions.first()
    if ladder.is_outdated or not has_news(ladder, newest):
        return False
    if newest is not None:
        return newest.made_at < begin or is_asked(ladder)
    return (
        is_asked(ladder)
        or Game.objects.filter(ladder=ladder, sequence__isnull=False, finished_at__lt=begin).exists()
    )


@dataclass(frozen=True, slots=True)
class LadderEvidence:
    """The next revision of a ladder's evidence, with its tables as they were when this was made."""

    ladder: Ladder
    previous: Evidence | None
    ratings: Sequence[LadderRating]
    results: LadderResults

    @classmethod
    def next_of(cls, code: str) -> LadderEvidence:
        """Reads the tables at once: only the record keeper, which calls it, changes them."""
        ladder = Ladder.objects.get(pk=code)
        ratings = list(LadderRating.objects.filter(ladder=ladder).select_related("version__bot"))
        return cls(ladder, ladder.evidence_revisions.first(), ratings, LadderResults.of(code))

    @property
    def games(self) -> GameQuerySet:
        """Those of its file of records."""
        games = Game.objects.filter(ladder=self.ladder, sequence__lte=self.ladder.sequence)
        return games.filter(access.counted_games("tournament__"))

    def is_current(self) -> bool:
        (now,) = lock(Ladder.objects.filter(pk=self.ladder.pk))
        return bool(now.revision == self.ladder.revision)

    def row(self) -> Evidence:
        """Without what is known only of the archive."""
        corrected = self.ladder.revision
        return rows.next_row(
            self.previous,
            MORE if self.previous and self.previous.corrected == corrected else CORRECTED,
            ladder=self.ladder,
            games=self.ladder.sequence,
            corrected=corrected,
            at=self._changed_at,
        )

    @property
    def _changed_at(self) -> datetime.datetime:
        """When its last game was recorded as ended or annulled."""
        last = Game.objects.filter(ladder=self.ladder, sequence=self.ladder.sequence)
        ended = last.values_list("finished_at", flat=True).first()
        corrections = Correction.objects.filter(game__ladder=self.ladder)
        annulled = corrections.aggregate(at=Max("at"))["at"]
        return max(
            filter(None, (ended, annulled)), default=datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        )

    def manifest_of(self, files: Mapping[str, EvidenceFile]) -> EvidenceManifest:
        row = self.row()
        return rows.manifest_of(row, self.previous, files, at=row.at)

    def files(self) -> Files:
        """Each is to be read to its end before the next one."""
        code, games = self.ladder.code, self.games
        known = BotVersion.objects.select_related("bot").only("number", "bot__name")
        names = {version.pk: tables.name_of(version) for version in known}
        played, events, players = Counter[str](), set[str](), set[str]()

        def seen() -> Iterator[EvidenceGame]:
            for row in rows.game_rows(games, names, "sequence", played):
                events.add(row.event)
                players.update((row.white, row.black))
                yield row

        yield "schedule.jsonl", rows.in_lines(seen())
        pages = (texts for _, texts in ladder_pages(code, 0, self.ladder.sequence))
        yield RECORDS, rows.record_chunks(pages)
        yield "attempts.jsonl", rows.attempt_chunks(games, "sequence")
        yield "corrections.jsonl", rows.in_lines(rows.correction_rows(games, "sequence"))
        yield "workers.jsonl", rows.in_lines(rows.worker_rows(played))
        found = BotVersion.objects.filter(pk__in=[pk for pk, name in names.items() if name in players])
        versions = list(found.select_related("bot__owner", "bundle"))
        published = rows.published_among(versions)
        yield "versions.jsonl", rows.in_lines(rows.version_rows(versions, published))
        terms = sorted(Tournament.objects.filter(slug__in=events), key=lambda one: one.slug)
        constants = constants_of(code, ladder_scale(code))
        document = EvidenceDocument((constants,), tuple(_terms(one, names) for one in terms))
        yield EVENT, [write_document(document)]
        yield "tables/ratings.jsonl", rows.in_lines(_ratings(self.ratings))
        yield "tables/estimate.jsonl", self._estimate_lines()
        for sha256 in published:
            yield f"{BUNDLES}{sha256}.zip", rows.bundle_chunks(sha256)

    def _estimate_lines(self) -> Iterator[bytes]:
        """The estimate from all rated games; computed in a thread, as it takes seconds of many versions."""
        openings: dict[Opening, OpeningScore] = {}
        yield from (b"" for _ in add_openings(openings, self.ladder.code, self.ladder.sequence))
        with ThreadPoolExecutor(1) as pool:
            computed = pool.submit(self.results.estimate, openings.values())
            while not computed.done():
                wait([computed], WAIT_SECONDS)
                yield b""
        yield from rows.in_lines(_strengths(self.ladder.code, computed.result()))


def drop_old_files(code: str) -> None:
    """Delete the archives of a ladder but the newest ones; rows keep manifests. May be repeated."""
    for row in Evidence.objects.filter(ladder=code)[KEPT:]:
        row.path.unlink(missing_ok=True)


def _terms(tournament: Tournament, names: rows.Names) -> EvidenceEvent:
    """Of a tournament without what only its own evidence needs: books are long."""
    event = rows.event_of(tournament, names)
    return event if tournament.format.is_endless else replace(event, book={}, seeds={}, absent={})


def _by_name(version: BotVersion) -> tuple[str, int]:
    return version.bot.name, version.number


def _ratings(found: Sequence[LadderRating]) -> Iterator[EvidenceRating]:
    for row in sorted(found, key=lambda one: _by_name(one.version)):
        counts = (row.wins, row.draws, row.losses)
        name = tables.name_of(row.version)
        yield EvidenceRating(row.ladder_id, name, row.mu, row.sigma, *counts, row.conservative)


def _strengths(code: str, found: Estimate) -> Iterator[EvidenceStrength]:
    yield EvidenceStrength(code, None, found.advantage.elo, _finite(found.advantage.error))
    versions = BotVersion.objects.select_related("bot").in_bulk(list(found.strengths))
    for pk in sorted(found.strengths, key=lambda pk: _by_name(versions[pk])):
        one = found.strengths[pk]
        yield EvidenceStrength(code, tables.name_of(versions[pk]), one.elo, _finite(one.error))


def _finite(error: float) -> float | None:
    return error if math.isfinite(error) else None
