"""The evidence of tournaments: what is in it, when it is made, and the same bytes of the same state."""

from __future__ import annotations

import hashlib
import re
from dataclasses import astuple
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone

from engines.evidence.format import (
    TABLES,
    EvidenceAttempt,
    EvidenceCorrection,
    EvidenceCross,
    EvidenceDocument,
    EvidenceEntry,
    EvidenceGame,
    EvidenceKind,
    EvidencePairing,
    EvidenceRating,
    EvidenceStanding,
    EvidenceVersion,
    EvidenceWorker,
    read_document,
)
from engines.evidence.signatures import SIGNERS_PATH, Signature, check_signature
from tests.support.played_evidence import make_evidence, newest, play_event, play_on, read_manifest, rows_of
from tests.support.schedule import make_tournament, play_short, record, void
from tests.support.ssh_keygen import put_in_path
from tournament.models import Correction, Evidence, Game, GameRecord, Tournament
from tournament.services.annulments import annul, count_again
from tournament.services.evidence.tournaments import CORRECTED
from tournament.services.schedule.tournaments import extend
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
KINDS = ["round-robin", "gauntlet", "swiss", "knock-out"]
EMPTY = {"attempts.jsonl", "corrections.jsonl", "tables/pairings.jsonl"}
"""Files that may have no lines."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_has_every_file_of_its_format_and_its_manifest_lists_them(kind: str) -> None:
    cup = play_event(kind)
    make_evidence()
    row = newest(cup)
    manifest = read_manifest(row.path)
    assert (manifest.kind, manifest.name, manifest.title) == ("tournament", cup.slug, "Test event")
    assert (manifest.revision, manifest.previous, manifest.reason) == (1, None, "")
    with ZipFile(row.path) as archive:
        listed = {path: (one.sha256, one.bytes) for path, one in manifest.files.items()}
        content = {name: archive.read(name) for name in archive.namelist()}
    found = {name: (hashlib.sha256(text).hexdigest(), len(text)) for name, text in content.items()}
    found.pop("manifest.json.sig")
    assert found.pop("manifest.json") == (row.manifest_sha256, len(content["manifest.json"]))
    assert found == listed
    bundle = cup.entries.get(number=1).version.bundle_id
    expected = {"event.json", "records.pgn", *TABLES[EvidenceKind.TOURNAMENT], f"bundles/{bundle}.zip"}
    assert set(found) == expected
    for name, of in TABLES[EvidenceKind.TOURNAMENT].items():
        assert rows_of(row.path, of, name) or name in EMPTY
    assert row.sha256 == hashlib.sha256(row.path.read_bytes()).hexdigest()
    assert row.size == row.path.stat().st_size


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_are_those_of_the_downloads(kind: str, client: Client) -> None:
    cup = play_event(kind)
    make_evidence()
    path, base = newest(cup).path, f"/tournaments/{cup.slug}/"

    def published(name: str, *columns: str) -> list[tuple[Any, ...]]:
        rows = client.get(f"{base}{name}.json").json()[name]
        return [tuple(row[column] for column in columns) for row in rows]

    def named(bot: str | None, number: int | None) -> str | None:
        return bot and f"{bot}/{number}"

    values = ("points", "games", "won", "drawn", "lost", "not_played")
    more = ("byes", "buchholz", "sonneborn_berger", "matches_won", "performance", "rating", "withdrawn")
    found = [astuple(row) for row in rows_of(path, EvidenceStanding, "tables/standings.jsonl")]
    rows = published("standings", "ladder", "rank", "bot", "version", *values, *more)
    assert found == [(code, rank, named(a, b), *rest) for code, rank, a, b, *rest in rows]
    found = [astuple(row) for row in rows_of(path, EvidenceCross, "tables/crosstable.jsonl")]
    rows = published("crosstable", "ladder", "bot", "version", "opponent", "opponent_version", *values)
    assert found == [(code, named(a, b), named(c, d), *rest) for code, a, b, c, d, *rest in rows]
    pairings = [astuple(row) for row in rows_of(path, EvidencePairing, "tables/pairings.jsonl")]
    if kind not in {"swiss", "knock-out"}:
        assert pairings == []
        return
    sides = ("seed", "bot", "version", "points", "opponent_seed", "opponent", "opponent_version")
    rows = published("pairings", "ladder", "round", *sides, "opponent_points", "winner", "note")
    assert [(*row[:8], row[8] and row[8].rpartition("/")[0], row[9]) for row in pairings] == [
        (code, number, seed, named(a, b), points, other, named(c, d), *rest)
        for code, number, seed, a, b, points, other, c, d, *rest in rows
    ]


def test_schedule_records_and_own_ratings_belong_together() -> None:
    cup = play_event("swiss", rounds=2)
    make_evidence()
    path = newest(cup).path
    schedule = rows_of(path, EvidenceGame, "schedule.jsonl")
    assert [row.game for row in schedule] == list(cup.games.order_by("pk").values_list("key", flat=True))
    with ZipFile(path) as archive:
        text = archive.read("records.pgn").decode()
        document = read_document(EvidenceDocument, archive.read("event.json"), "event.json")
    keys = re.findall(r'^\[GameId "(.*)"\]$', text, re.MULTILINE)
    assert keys == [row.game for row in schedule]
    assert text == "\n".join(GameRecord.objects.order_by("pk").values_list("text", flat=True))
    (event,), names = document.events, {row.version for row in rows_of(path, EvidenceEntry, "entries.jsonl")}
    assert {row.white for row in schedule} | {row.black for row in schedule} == names
    assert set(event.seeds[cup.ladders[0]]) == names
    assert event.criteria == ("points", "buchholz", "sonneborn_berger", "direct_encounter")
    ratings = rows_of(path, EvidenceRating, "tables/ratings.jsonl")
    assert sum(row.wins + row.draws + row.losses for row in ratings) == 2 * len(schedule)
    assert {row.version: row.published for row in ratings} == {
        row.version: row.rating for row in rows_of(path, EvidenceStanding, "tables/standings.jsonl")
    }
    workers = rows_of(path, EvidenceWorker, "workers.jsonl")
    assert sum(row.games for row in workers) == len(schedule)
    assert {(row.release, row.sandbox) for row in workers} == {("1.2.3", "A")}
    published = {row.version: row.licence for row in rows_of(path, EvidenceVersion, "versions.jsonl")}
    assert published == dict.fromkeys(names, "") | {"Open/1": "MIT"}


def test_void_attempts_are_in_it_with_their_reasons() -> None:
    voided: list[str] = []

    def once_void(jobs: list[GameJob]) -> None:
        reports = [report for job in jobs for report in play_short(job)]
        if not voided:
            voided.append(reports[0].key)
            record(void(reports.pop(0), "the disk is full"))
        for report in reports:
            record(report)

    cup = play_event("round-robin", report=once_void)
    make_evidence()
    (attempt,) = rows_of(newest(cup).path, EvidenceAttempt, "attempts.jsonl")
    assert (attempt.game, attempt.end, attempt.reason) == (voided[0], "void", "the disk is full")
    assert attempt.worker in {"east", "west"}


def test_the_same_state_gives_the_same_bytes_and_no_further_revision() -> None:
    cup = play_event("knock-out")
    make_evidence()
    first = newest(cup)
    make_evidence()
    assert Evidence.objects.count() == 1
    content = first.path.read_bytes()
    first.path.unlink()
    first.delete()
    make_evidence()
    assert newest(cup).sha256 == first.sha256
    assert newest(cup).path.read_bytes() == content


def test_a_tournament_of_an_old_site_whose_end_is_not_known_has_one_revision() -> None:
    cup = play_event("gauntlet")
    Tournament.objects.filter(pk=cup.pk).update(finished_at=None)
    make_evidence()
    make_evidence()
    assert [(row.revision, row.at) for row in Evidence.objects.all()] == [(1, cup.created_at)]


def test_annulments_make_revisions_that_name_the_one_before() -> None:
    cup = play_event("round-robin")
    make_evidence()
    game = Game.objects.filter(tournament=cup, pk=cup.games.earliest("pk").pk)
    annul(game, "The clock was wrong.", timezone.now())
    make_evidence()
    first, second = cup.evidence_revisions.order_by("revision")
    manifest = read_manifest(second.path)
    assert (manifest.revision, manifest.previous) == (2, first.manifest_sha256)
    assert manifest.reason == "Games were annulled, or count again."
    assert manifest.at == Correction.objects.get().at.isoformat()
    (correction,) = rows_of(second.path, EvidenceCorrection, "corrections.jsonl")
    assert (correction.effect, correction.reason) == ("annulled", "The clock was wrong.")
    assert [row.annulled for row in rows_of(second.path, EvidenceGame, "schedule.jsonl")].count(True) == 1
    assert rows_of(first.path, EvidenceCorrection, "corrections.jsonl") == []
    count_again(Game.objects.filter(tournament=cup), timezone.now())
    make_evidence()
    assert read_manifest(newest(cup).path).previous == second.manifest_sha256


def test_a_game_that_is_rated_since_another_tournament_s_was_annulled_makes_a_revision() -> None:
    first = play_event("round-robin")
    again = play_event("round-robin", versions=[entry.version for entry in first.entries.order_by("number")])
    rated = again.games.filter(rated=True).count()
    marks = again.games.filter(rated=False).values("fingerprint")
    repeated = next(
        game
        for game in first.games.filter(rated=True, fingerprint__in=marks)
        if first.games.filter(fingerprint=game.fingerprint).count() == 1
    )
    make_evidence()
    annul(Game.objects.filter(pk=repeated.pk), "a faulty worker", timezone.now())
    assert again.games.filter(rated=True).count() == rated + 1
    make_evidence()
    assert (newest(again).revision, newest(again).reason) == (2, CORRECTED)
    (correction,) = rows_of(newest(again).path, EvidenceCorrection, "corrections.jsonl")
    assert correction.effect == "rated"


def test_games_played_after_the_end_make_a_revision() -> None:
    cup = play_event("round-robin")
    make_evidence()
    extend(cup, 1)
    make_evidence()
    assert newest(cup).revision == 1  # it runs
    play_on(cup)
    make_evidence()
    assert (newest(cup).revision, newest(cup).reason) == (2, "More games were played.")
    assert len(rows_of(newest(cup).path, EvidenceGame, "schedule.jsonl")) == 24


def test_no_evidence_of_what_runs_nor_of_what_own_workers_played() -> None:
    cup = play_event("round-robin")
    make_tournament(bots=3)
    Tournament.objects.filter(pk=cup.pk).update(own_workers=True)
    make_evidence()
    assert not Evidence.objects.exists()


def test_the_manifest_is_signed_with_the_site_s_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    put_in_path(tmp_path, monkeypatch)
    cup = play_event("gauntlet")
    make_evidence()
    with ZipFile(newest(cup).path) as archive:
        manifest, signature = archive.read("manifest.json"), archive.read("manifest.json.sig")
    signers = client.get(SIGNERS_PATH).content.decode()
    assert check_signature(manifest, signature, signers, at=timezone.now())[0] is Signature.GOOD
    assert check_signature(manifest + b" ", signature, signers, at=timezone.now())[0] is Signature.BAD
