"""The page of a ladder's dumps, their files by range, and the same for programs."""

from __future__ import annotations

import gzip

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.dumped import DECEMBER, NOVEMBER, OCTOBER, make_dumps, play_ladder
from tests.support.schedule import LADDER
from tournament.models import Dump, Game
from tournament.services.annulments import annul
from tournament.services.dumps import growing, making
from tournament.services.results.rebuilding import rebuild_outdated

pytestmark = pytest.mark.django_db
BASE = f"/ladders/{LADDER}/dumps/"


@pytest.fixture
def dumps(monkeypatch: pytest.MonkeyPatch) -> list[Dump]:
    """October with two revisions, November with one, and a December that is not over."""
    monkeypatch.setattr(growing, "MEMBER", 2)
    monkeypatch.setattr(making, "MEMBER", 2)
    monkeypatch.setattr("tournament.services.dumps.published.timezone.now", lambda: DECEMBER)
    play_ladder([OCTOBER] * 4 + [NOVEMBER] * 3 + [DECEMBER])
    make_dumps()
    annul(Game.objects.filter(ladder=LADDER, sequence=3), "Its clock was wrong.", timezone.now())
    rebuild_outdated()
    return make_dumps()


def test_the_page_lists_months_and_says_how_to_check_them(client: Client, dumps: list[Dump]) -> None:
    page = client.get(BASE).content.decode()
    for row in dumps:
        assert all(name in page for name in row.files)
    assert f"{LADDER}-2026-12.pgn.gz" in page
    assert "The month is not over." in page
    assert "Games of this month were annulled, or count again." in page
    assert f"sha256sum -c {LADDER}-2026-11-sha256.txt" in page
    assert f'href="{BASE}"' in client.get(f"/ladders/{LADDER}/").content.decode()


def test_a_ladder_without_games_has_a_page(client: Client) -> None:
    assert "The first is made when" in client.get(BASE).content.decode()
    assert client.get("/ladders/chess/dumps/").status_code == 404


def test_files_are_served_whole_and_by_range(client: Client, dumps: list[Dump]) -> None:
    row = next(one for one in dumps if one.name == f"{LADDER}-2026-10")
    name = f"{row.name}.pgn.gz"
    whole = client.get(f"{BASE}{name}")
    assert whole["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in whole
    content = whole.getvalue()
    assert content == row.path(name).read_bytes()
    part = client.get(f"{BASE}{name}", headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.getvalue()) == (206, content[10:20])
    assert client.get(f"{BASE}{name}", headers={"If-None-Match": part["ETag"]}).status_code == 304
    assert client.get(f"{BASE}{row.name}-ratings.csv")["Content-Type"] == "text/csv; charset=utf-8"


def test_the_month_that_is_not_over_is_served_as_far_as_it_is(client: Client, dumps: list[Dump]) -> None:
    content = client.get(f"{BASE}{LADDER}-2026-12.pgn.gz").getvalue()
    assert gzip.decompress(content).decode().count("[GameId ") == 4  # of five, in members of two
    assert client.get(f"{BASE}{LADDER}-2026-12-ratings.csv").status_code == 404
    assert client.get(f"{BASE}{LADDER}-2026-12-sha256.txt").status_code == 404


def test_a_download_of_a_file_that_has_grown_begins_again(
    client: Client, dumps: list[Dump], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{BASE}{LADDER}-2026-12.pgn.gz"
    before = client.get(address)
    content, tag = before.getvalue(), {"Range": "bytes=10-", "If-Range": before["ETag"]}
    head = client.head(address)
    assert (head["ETag"], head["Content-Length"]) == (before["ETag"], str(len(content)))
    part = client.get(address, headers=tag)
    assert (part.status_code, part.getvalue()) == (206, content[10:])
    monkeypatch.setattr(growing, "MEMBER", 1)
    monkeypatch.setattr(making, "MEMBER", 1)
    make_dumps()
    whole = client.get(address, headers=tag)
    grown = whole.getvalue()
    assert (whole.status_code, grown[: len(content)]) == (200, content)
    assert gzip.decompress(grown).decode().count("[GameId ") == 5


def test_the_lists_of_all_revisions_stay(client: Client, dumps: list[Dump]) -> None:
    newest, first = (one for one in dumps if one.name == f"{LADDER}-2026-10")
    list_ = f"{BASE}{newest.name}-sha256"
    for address, row in [(list_, newest), (f"{list_}-2", newest), (f"{list_}-1", first)]:
        assert client.get(f"{address}.txt").content.decode() == row.listing
        assert client.get(f"{address}.txt.sig").content.decode() == row.signature
    assert client.get(f"{list_}-3.txt").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        f"{LADDER}-2026-09.pgn.gz",
        f"{LADDER}-2026-13.pgn.gz",
        f"{LADDER}-0000-10.pgn.gz",
        f"{LADDER}-\u0662\u0660\u0662\u0666-10.pgn.gz",
        f"{LADDER}-2026-10.pgn",
        f"{LADDER}-2026-10-sha256-0.txt",
        "dogon-kulei-2026-10.pgn.gz",
        f"{LADDER}-2026-12.pgn.json",
        f"{LADDER}-2026-10%00.pgn.gz",
        "..%2Fdb.sqlite3",
    ],
)
def test_other_names_are_not_found(client: Client, dumps: list[Dump], name: str) -> None:
    assert client.get(f"{BASE}{name}").status_code == 404


def test_a_file_that_is_gone_is_not_found_until_it_is_made_again(client: Client, dumps: list[Dump]) -> None:
    name = f"{dumps[0].name}.pgn.gz"
    dumps[0].path(name).unlink()
    assert client.get(f"{BASE}{name}").status_code == 404
    make_dumps()
    assert client.get(f"{BASE}{name}").status_code == 200


def test_programs_get_the_same(client: Client, dumps: list[Dump]) -> None:
    rows = client.get(f"/api/v1{BASE}").json()["rows"]
    found = [(row["month"], row["revision"], row["games"]) for row in rows]
    assert found == [
        ("2026-12", None, 4),
        ("2026-11", 2, 3),
        ("2026-11", 1, 3),
        ("2026-10", 2, 4),
        ("2026-10", 1, 4),
    ]
    files = rows[0]["files"] + rows[3]["files"]
    for file in files:
        assert len(client.get(file["file"]).getvalue()) == file["bytes"]
    assert [file["file"] is None for file in rows[4]["files"]] == [False, True, True]
    assert rows[0]["list"] is None
    assert client.get(rows[4]["list"]).status_code == client.get(rows[4]["signature"]).status_code == 200
