"""The evidence of a ladder: once a month, of all its games so far, in agreement with the command."""

from __future__ import annotations

import datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone

from engines.__main__ import main
from engines.evidence.format import EvidenceDocument, EvidenceVersion, read_document
from tests.support.evidence import lines_of
from tests.support.played_evidence import make_evidence, play_event, read_manifest, rows_of
from tests.support.schedule import (
    LADDER,
    make_test,
    make_user,
    make_version,
    make_worker,
    record_short,
    take_jobs,
)
from tournament.models import Act, Evidence, Game, Ladder
from tournament.services.annulments import annul
from tournament.services.evidence.ladders import due_ladders
from tournament.services.evidence.tournaments import CORRECTED
from tournament.services.results import estimates
from tournament.services.results.rebuilding import rebuild_outdated
from workers.jobs import Work

pytestmark = pytest.mark.django_db
MONTH = datetime.timedelta(days=32)


@pytest.fixture(autouse=True)
def counted_in_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "CHUNK", 5)


def age() -> None:
    """Let everything have been a month ago."""
    Evidence.objects.update(made_at=timezone.now() - MONTH)
    Game.objects.update(finished_at=timezone.now() - MONTH)


def check(row: Evidence, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    main(["evidence", str(row.path), *more])
    out = capsys.readouterr().out
    not_checked = [line for line in lines_of(out, "not checked") if "signature" not in line]
    assert (lines_of(out, "DIFFERS"), not_checked) == ([], []), out
    return out


def test_a_ladder_with_annulments_agrees_and_its_revisions_follow_each_other(
    capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    cup = play_event("round-robin", opening_plies=2)
    assert due_ladders(timezone.now()) == []
    age()
    make_evidence()
    first = Evidence.objects.get(ladder=LADDER)
    check(first, capsys)
    assert due_ladders(timezone.now() + MONTH) == []  # nothing is new
    annul(Game.objects.filter(pk=cup.games.earliest("pk").pk), "Its clock was wrong.", timezone.now())
    assert due_ladders(timezone.now() + MONTH) == []  # its ratings are of before
    rebuild_outdated()
    make_evidence()
    assert Evidence.objects.filter(ladder=LADDER).count() == 1  # in the same month
    age()
    make_evidence()
    second = Evidence.objects.filter(ladder=LADDER)[0]
    manifest = read_manifest(second.path)
    assert (manifest.kind, manifest.name, manifest.previous) == ("ladder", LADDER, first.manifest_sha256)
    assert second.games == Ladder.objects.get(pk=LADDER).sequence
    check(second, capsys, "--previous", str(first.path))
    page = client.get(f"/ladders/{LADDER}/evidence/").content.decode()
    assert f"/ladders/{LADDER}/evidence/1.zip" in page
    assert f"/ladders/{LADDER}/evidence/2.zip" in page
    assert client.get(f"/ladders/{LADDER}/evidence.zip").getvalue() == second.path.read_bytes()
    rows = client.get(f"/api/v1/ladders/{LADDER}/evidence/").json()["rows"]
    assert [row["revision"] for row in rows] == [2, 1]


def test_names_are_in_one_order_whatever_the_collation_of_the_database(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["ab", "Aa", "a-c", "b 10", "b 2"]
    bots = [make_version(name, owner=make_user(f"of{number}")) for number, name in enumerate(names)]
    play_event("round-robin", versions=bots)
    age()
    make_evidence()
    for row in Evidence.objects.all():
        check(row, capsys)
        found = [one.version for one in rows_of(row.path, EvidenceVersion, "versions.jsonl")]
        assert found == ["Aa/1", "a-c/1", "ab/1", "b 10/1", "b 2/1"]


def test_the_newest_two_archives_are_kept_and_the_manifests_of_all(
    client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cup = play_event("gauntlet")
    games = list(cup.games.order_by("pk"))
    for game in games[:3]:
        age()
        annul(Game.objects.filter(pk=game.pk), "Its clock was wrong.", timezone.now())
        rebuild_outdated()
        make_evidence()
    found = Evidence.objects.filter(ladder=LADDER)
    assert [(row.revision, row.is_stored) for row in found] == [(3, True), (2, True), (1, False)]
    assert "deleted" in client.get(f"/ladders/{LADDER}/evidence/").content.decode()
    assert client.get(f"/ladders/{LADDER}/evidence/1.zip").status_code == 404
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(client.get(f"/ladders/{LADDER}/evidence/1/manifest.json").content)
    check(found.get(revision=2), capsys, "--previous", str(manifest))


def test_staff_has_a_revision_made_before_the_month_is_over(client: Client) -> None:
    cup, address = play_event("gauntlet"), f"/ladders/{LADDER}/evidence/"
    make_evidence()
    found = Evidence.objects.filter(ladder=LADDER)
    assert client.post(address).status_code == 403
    client.force_login(make_user("boss", staff=True))
    assert "Make a revision now" in client.get(address).content.decode()
    assert client.post(address).status_code == 302
    assert "is being made" in client.get(address).content.decode()
    make_evidence()
    assert [row.revision for row in found.all()] == [1]
    page = client.get(address).content.decode()
    assert "is being made" not in page
    assert "Make a revision now" not in page  # nothing is new
    client.post(address)
    make_evidence()
    annul(Game.objects.filter(pk=cup.games.earliest("pk").pk), "Its clock was wrong.", timezone.now())
    client.post(address)
    make_evidence()
    assert found.all().count() == 1  # its ratings are of before
    rebuild_outdated()
    make_evidence()
    assert [(row.revision, row.reason) for row in found.all()] == [(2, CORRECTED), (1, "")]
    assert Act.objects.filter(deed="had its evidence made").count() == 3


def test_version_tests_are_part_of_it_and_planned_like_its_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    make_test(make_user("ada"), most_games=4)
    make_worker(name="east", takes=str(Work.GAMES))
    record_short(take_jobs())
    age()
    make_evidence()
    out = check(Evidence.objects.get(ladder=LADDER), capsys)
    assert "openings and seeds of 2 pairs follow from their numbers" in out


def test_a_book_of_a_tournament_is_in_its_own_evidence_alone(capsys: pytest.CaptureFixture[str]) -> None:
    play_event("round-robin", book="Dd3")
    age()
    make_evidence()
    sizes = {}
    for row in Evidence.objects.all():
        with ZipFile(row.path) as archive:
            document = read_document(EvidenceDocument, archive.read("event.json"), "event.json")
        sizes[row.ladder_id] = len(document.events[0].book)
        check(row, capsys)
    assert sizes == {None: 1, LADDER: 0}
