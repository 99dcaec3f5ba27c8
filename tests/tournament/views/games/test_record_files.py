"""The files behind the downloads of records: what they hold, when they are written, ranges of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines.records import Record, read_records
from tests.support.filled_site import Site, fill_site, finish
from tournament.models import Game, GameRecord, Tournament
from tournament.services.results import record_texts
from tournament.views.games import record_files
from tournament.views.games.record_files import NotWritten, ladder_file, tournament_file

LADDER = "/ladders/dogon-kulei/records.pgn"
SPRING = "/tournaments/spring/records.pgn"


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.RECORDS = tmp_path / "records"
    folder: Path = settings.RECORDS
    return folder


@pytest.fixture
def site(db: None) -> Site:
    return fill_site()


def body(client: Client, address: str, **headers: str) -> bytes:
    response: Any = client.get(address, headers=headers)
    assert response.status_code in {200, 206}
    return bytes(response.getvalue())


def games_in(text: bytes) -> list[str]:
    found = list(read_records(text.decode().splitlines(), "file"))
    assert {type(record) for record in found} <= {Record}
    return re.findall(r'\[GameId "(.*)"\]', text.decode())


def test_a_ladder_without_games_has_an_empty_file(site: Site, client: Client) -> None:
    assert body(client, "/ladders/dualma/records.pgn") == b""
    assert body(client, "/ladders/dualma/records.pgn") == b""


def test_a_new_game_is_appended_and_the_earlier_ones_are_not_read_again(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = body(client, LADDER)
    GameRecord.objects.update(text="changed")
    finish(Game.objects.get(pk=site.live.pk), 2)
    both = body(client, LADDER)
    assert both.startswith(first + b"\n")
    assert games_in(both) == [site.played.key, site.live.key]


def test_pages_of_any_size_give_the_same_file(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    finish(Game.objects.get(pk=site.live.pk), 2)
    whole = [body(client, address) for address in (LADDER, SPRING)]
    for path in folder.iterdir():
        path.unlink()
    monkeypatch.setattr(record_texts, "PAGE", 1)
    assert [body(client, address) for address in (LADDER, SPRING)] == whole


def test_a_file_that_is_up_to_date_costs_no_query_of_records(site: Site, client: Client) -> None:
    body(client, LADDER)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        body(client, LADDER)
    assert len(queries) == 2
    assert "gamerecord" not in str(queries.captured_queries)


def test_an_unfinished_write_is_cut_off_and_continued(
    site: Site, client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(Game.objects.get(pk=site.live.pk), 2)
    whole = body(client, LADDER)
    for path in folder.iterdir():
        path.unlink()
    monkeypatch.setattr(record_texts, "PAGE", 1)
    monkeypatch.setattr(record_files, "WRITING_SECONDS", -1.0)
    response = client.get(LADDER)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    with (folder / "ladder-dogon-kulei.pgn").open("ab") as file:
        file.write(b"half a record")
    assert body(client, LADDER) == whole


def test_records_of_another_database_are_not_served(site: Site, client: Client) -> None:
    body(client, LADDER)
    Game.objects.filter(pk=site.played.pk).update(finished_at="2020-01-01T00:00:00Z")
    GameRecord.objects.filter(pk=site.played.pk).update(text="another\n")
    assert body(client, LADDER) == b"another\n"


def test_a_tournament_s_file_is_written_again_when_it_has_ended(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "REST", 1_000_000_000)
    assert games_in(body(client, SPRING)) == [site.played.key]
    finish(Game.objects.get(pk=site.live.pk), 2)
    assert games_in(body(client, SPRING)) == [site.played.key]
    Tournament.objects.filter(slug="spring").update(state="finished")
    assert games_in(body(client, SPRING)) == [site.played.key, site.live.key]


def test_while_another_request_writes_the_old_file_is_served_or_the_client_waits(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ladder_file("dogon-kulei").path
    finish(Game.objects.get(pk=site.live.pk), 2)
    with record_files._sole_writer(path) as is_mine:
        assert is_mine
        assert games_in(body(client, LADDER)) == [site.played.key]
        other = path.with_name(f"tournament-{site.running.pk}.pgn")
        with record_files._sole_writer(other), pytest.raises(NotWritten):
            tournament_file(site.running)
    assert len(games_in(body(client, LADDER))) == 2


def test_files_that_nobody_downloads_are_deleted(
    site: Site, client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body(client, SPRING)
    monkeypatch.setattr(record_files, "UNUSED_SECONDS", -1)
    finish(Game.objects.get(pk=site.live.pk), 2)
    monkeypatch.setattr(record_files, "REST", 0)
    record_files._delete_unused(folder)
    assert not list(folder.glob("tournament-*.pgn"))


@pytest.mark.parametrize(
    ("asked", "part"),
    [("bytes=2-5", slice(2, 6)), ("bytes=5-", slice(5, None)), ("bytes=-4", slice(-4, None))],
)
def test_a_part_of_a_file_can_be_fetched(site: Site, client: Client, asked: str, part: slice) -> None:
    whole = body(client, LADDER)
    response: Any = client.get(LADDER, headers={"Range": asked})
    assert response.status_code == 206
    assert response.getvalue() == whole[part]
    start = range(len(whole))[part].start
    assert response["Content-Range"].startswith(f"bytes {start}-")
    assert response["Content-Length"] == str(len(whole[part]))


@pytest.mark.parametrize("asked", ["bytes=-", "bytes=1-2,5-6", "lines=1-2", "bytes=x-"])
def test_other_ranges_get_the_whole_file(site: Site, client: Client, asked: str) -> None:
    assert body(client, LADDER, Range=asked) == body(client, LADDER)


def test_a_part_beyond_the_end_is_refused(site: Site, client: Client) -> None:
    response = client.get(LADDER, headers={"Range": "bytes=99999999-"})
    assert response.status_code == 416
    assert response["Content-Range"].startswith("bytes */")


def test_a_client_that_has_the_file_is_told_so_until_it_changes(site: Site, client: Client) -> None:
    tag = client.get(LADDER)["ETag"]
    assert client.get(LADDER, headers={"If-None-Match": tag}).status_code == 304
    finish(Game.objects.get(pk=site.live.pk), 2)
    assert client.get(LADDER, headers={"If-None-Match": tag}).status_code == 200
    assert client.get(LADDER, headers={"Range": "bytes=2-5", "If-Range": tag}).status_code == 200
