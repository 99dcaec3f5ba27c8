"""The page of a tournament's evidence, its archives by range, and the same for programs."""

from __future__ import annotations

import hashlib
from typing import cast
from zipfile import ZipFile

import pytest
from django.db import connection
from django.http import FileResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support.played_evidence import make_evidence, newest, play_event
from tests.support.schedule import make_tournament
from tournament.models import Game, Tournament
from tournament.services.annulments import annul

pytestmark = pytest.mark.django_db


@pytest.fixture
def cup() -> Tournament:
    """With two revisions."""
    cup = play_event("gauntlet")
    make_evidence()
    annul(Game.objects.filter(pk=cup.games.earliest("pk").pk), "Its clock was wrong.", timezone.now())
    make_evidence()
    return cup


def content_of(client: Client, address: str, **headers: str) -> bytes:
    response = client.get(address, headers=headers)
    assert response["Content-Type"] == "application/zip"
    return response.getvalue()


def test_the_page_lists_the_revisions_and_says_how_to_check_them(client: Client, cup: Tournament) -> None:
    page = client.get(f"/tournaments/{cup.slug}/evidence/").content.decode()
    for row in cup.evidence_revisions.all():
        assert f"/tournaments/{cup.slug}/evidence/{row.revision}.zip" in page
        assert f'href="/tournaments/{cup.slug}/evidence/{row.revision}/"' in page
    assert "Games were annulled, or count again." in page
    assert f"python3 -m engines evidence http://testserver/tournaments/{cup.slug}/evidence.zip" in page
    assert f'href="/tournaments/{cup.slug}/evidence/"' in client.get(cup.get_absolute_url()).content.decode()


@pytest.mark.parametrize("address", ["/tournaments/{}/evidence/", "/api/v1/tournaments/{}/evidence/"])
def test_lists_of_revisions_read_no_manifests(address: str, client: Client, cup: Tournament) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address.format(cup.slug)).status_code == 200
    assert not [query for query in queries if '"tournament_evidence"."manifest"' in query["sql"]]


def test_archives_are_served_whole_and_by_range(client: Client, cup: Tournament) -> None:
    base = f"/tournaments/{cup.slug}/evidence"
    second, first = cup.evidence_revisions.all()
    for address, row in [(f"{base}.zip", second), (f"{base}/2.zip", second), (f"{base}/1.zip", first)]:
        assert hashlib.sha256(content_of(client, address)).hexdigest() == row.sha256
    part = client.get(f"{base}.zip", headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.getvalue()) == (206, second.path.read_bytes()[10:20])
    tag = part["ETag"]
    assert client.get(f"{base}.zip", headers={"If-None-Match": tag}).status_code == 304
    assert client.get(f"{base}/1.zip", headers={"If-None-Match": tag}).status_code == 200
    assert client.get(f"{base}/3.zip").status_code == 404


def test_an_archive_that_is_gone_is_named(client: Client, cup: Tournament) -> None:
    newest(cup).path.unlink()
    assert client.get(f"/tournaments/{cup.slug}/evidence.zip").status_code == 404


def test_the_page_of_a_revision_lists_its_files_and_each_is_served_by_its_own_address(
    client: Client, cup: Tournament
) -> None:
    row, base = newest(cup), f"/tournaments/{cup.slug}/evidence/2/"
    page = client.get(base).content.decode()
    with ZipFile(row.path) as archive:
        for name in archive.namelist():
            assert f'href="{base}{name}"' in page
            response = client.get(f"{base}{name}")
            content = response.getvalue()
            assert content == archive.read(name)
            is_bundle = name.startswith("bundles/")
            kind = "application/zip" if is_bundle else "text/plain; charset=utf-8"
            assert response["Content-Type"] == kind
            assert response.get("Content-Disposition", "").startswith("attachment") == is_bundle
            if name not in {"manifest.json", "manifest.json.sig"}:
                assert row.files[name].sha256 == hashlib.sha256(content).hexdigest()
                assert row.files[name].sha256 in page
                assert int(response["Content-Length"]) == len(content)
                tag = response["ETag"]
                assert client.get(f"{base}{name}", headers={"If-None-Match": tag}).status_code == 304
    for wrong in ("nothing", "records.pgn/", "../2.zip", "bundles/", "manifest.json.sig.sig"):
        assert client.get(f"{base}{wrong}").status_code == 404
    assert client.get(f"/tournaments/{cup.slug}/evidence/3/records.pgn").status_code == 404


def test_a_file_is_unpacked_while_it_is_sent(client: Client, cup: Tournament) -> None:
    response = cast(FileResponse, client.get(f"/tournaments/{cup.slug}/evidence/2/records.pgn"))
    response.block_size = 100
    parts = list(response)
    assert len(parts) > 1
    assert max(map(len, parts)) == 100
    response.close()


def test_a_revision_whose_archive_is_gone_keeps_its_manifest(client: Client, cup: Tournament) -> None:
    row, base = newest(cup), f"/tournaments/{cup.slug}/evidence/2/"
    with ZipFile(row.path) as archive:
        kept = [archive.read(name) for name in ("manifest.json", "manifest.json.sig")]
    row.path.unlink()
    assert [client.get(f"{base}{name}").content for name in ("manifest.json", "manifest.json.sig")] == kept
    assert client.get(f"{base}records.pgn").status_code == 404
    page = client.get(base).content.decode()
    assert "The archive is not on this site any more." in page
    assert f'href="{base}manifest.json"' in page
    assert f'href="{base}records.pgn"' not in page


def test_programs_read_the_revisions_and_the_archives(client: Client, cup: Tournament) -> None:
    rows = client.get(f"/api/v1/tournaments/{cup.slug}/evidence/").json()["rows"]
    assert [(row["revision"], row["reason"]) for row in rows] == [
        (2, "Games were annulled, or count again."),
        (1, ""),
    ]
    row = rows[0]
    assert (
        hashlib.sha256(client.get(f"{row['files']}manifest.json").content).hexdigest()
        == row["manifest_sha256"]
    )
    assert hashlib.sha256(content_of(client, row["archive"])).hexdigest() == row["sha256"]
    again = content_of(client, f"/api/v1/tournaments/{cup.slug}/evidence/2/", Range="bytes=0-3")
    assert again == b"PK\x03\x04"


def test_programs_find_the_archive_of_a_tournament_that_is_over(client: Client, cup: Tournament) -> None:
    address = client.get(f"/api/v1/tournaments/{cup.slug}/").json()["evidence"]
    assert client.get(address).status_code == 200
    running = make_tournament()
    assert client.get(f"/api/v1/tournaments/{running.slug}/").json()["evidence"] is None


def test_the_page_of_a_running_tournament_says_when_it_is_made(client: Client) -> None:
    running = make_tournament()
    page = client.get(f"/tournaments/{running.slug}/evidence/").content.decode()
    assert "It is made when the tournament is over" in page
    assert client.get(f"/tournaments/{running.slug}/evidence.zip").status_code == 404
    assert f"{running.slug}/evidence/" not in client.get(running.get_absolute_url()).content.decode()
    Tournament.objects.filter(pk=running.pk).update(own_workers=True)
    assert client.get(f"/tournaments/{running.slug}/evidence/").status_code == 404
