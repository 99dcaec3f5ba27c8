"""Tournaments whose evidence is made, and the archives read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from django.conf import settings
from django.utils import timezone

from engines.bundles.store import store_bundle
from engines.evidence.format import EvidenceManifest, read_document, read_lines
from tests.support.schedule import (
    make_event,
    make_user,
    make_version,
    make_worker,
    pack_bot,
    record_short,
    take_jobs,
)
from tournament.models import BotVersion, Bundle, Evidence, Game, Tournament, Worker
from tournament.services import calendar, stepwise
from tournament.services.evidence.making import EvidenceMaker
from workers.jobs import GameJob, Work

Report = Callable[[list[GameJob]], object]
MAX_IDLE = 20
"""Batches in which no game ends, after which a test fails."""


def published_version(name: str) -> BotVersion:
    """A version whose owner has published its bundle, which is stored."""
    version = make_version(name, owner=make_user(f"owner-of-{name.lower()}"))
    content = pack_bot(name)
    sha256 = store_bundle(settings.BUNDLES, content)
    bundle = Bundle.objects.create(sha256=sha256, size=len(content))
    BotVersion.objects.filter(pk=version.pk).update(bundle=bundle, licence="MIT")
    version.refresh_from_db()
    return version


def play_event(kind: str, *, report: Report = record_short, **terms: Any) -> Tournament:
    """A tournament of four bots, one of them published, that is played to its end on two workers."""
    if "versions" not in terms:
        others = [make_version(f"Bot {number}", owner=make_user(f"user{number}")) for number in range(3)]
        terms["versions"] = [published_version("Open"), *others]
    tournament = make_event(kind, **terms)
    for name in () if Worker.objects.exists() else ("east", "west"):
        make_worker(name=name, version="1.2.3", slots=50, takes=str(Work.GAMES))
    return play_on(tournament, report)


def play_on(tournament: Tournament, report: Report = record_short) -> Tournament:
    """Play a running tournament to its end; ``report`` records the games of jobs.

    A game of which every attempt is void never ends: only the first worker is asked, so it is not halted.
    """
    tournament.refresh_from_db()
    idle = 0
    while not tournament.is_over:
        done = tournament.games_done
        report(take_jobs())
        calendar.tend()
        tournament.refresh_from_db()
        idle = idle + 1 if tournament.games_done == done else 0
        assert idle < MAX_IDLE, f"{tournament}: no game has ended in {MAX_IDLE} batches"
    now = timezone.now()
    Game.objects.update(started_at=now, finished_at=now)  # the month of its ladders goes on
    return tournament


def make_evidence(maker: EvidenceMaker | None = None) -> None:
    """Make all that is due, at once."""
    maker = maker or EvidenceMaker()
    known = stepwise.QUIET_SECONDS, stepwise.LOOK_SECONDS
    stepwise.QUIET_SECONDS = stepwise.LOOK_SECONDS = 0.0
    try:
        made = -1
        while made != (made := Evidence.objects.count()):
            while maker.step(60.0):
                pass
    finally:
        stepwise.QUIET_SECONDS, stepwise.LOOK_SECONDS = known


def newest(tournament: Tournament) -> Evidence:
    found = tournament.evidence_revisions.first()
    assert found is not None
    return found


def read_manifest(path: Path) -> EvidenceManifest:
    with ZipFile(path) as archive:
        return read_document(EvidenceManifest, archive.read("manifest.json"), "manifest.json")


def rows_of(path: Path, kind: type[Any], name: str) -> list[Any]:
    """The rows of a file of JSON lines."""
    with ZipFile(path) as archive, archive.open(name) as file:
        return list(read_lines(kind, file, name))  # type: ignore[arg-type]
