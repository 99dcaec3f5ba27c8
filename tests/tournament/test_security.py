"""The headers of every answer, and the limits of requests."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.http import HttpRequest
from django.test import Client, RequestFactory

from tests.support.filled_site import Site, fill_site
from tests.support.remembered import remembered
from tournament.http.limits import TOO_LARGE
from tournament.security import BoundedUploadHandler


@pytest.fixture
def site(db: None) -> Site:
    return remembered(fill_site)


@pytest.mark.parametrize(
    ("address", "status"),
    [("/", 200), ("/nope/", 404), ("/static/duarena.css", 200), ("/static/nope.css", 404), ("/admin/", 302)],
)
def test_every_answer_carries_the_policy(site: Site, client: Client, address: str, status: int) -> None:
    response = client.get(address)
    assert response.status_code == status
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_another_host_name_is_refused_with_a_page_that_loads_nothing(client: Client) -> None:
    response = client.get("/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert b"another host name" in response.content
    assert b"evil" not in response.content
    assert "default-src 'none'" in response["Content-Security-Policy"]


@pytest.mark.parametrize(
    "address", ["/", "/games/{0.played.pk}/", "/tournaments/spring/", "/bots/stone-age/1/"]
)
def test_caches_distinguish_a_page_from_its_fragments(site: Site, client: Client, address: str) -> None:
    assert "X-Part" in client.get(address.format(site))["Vary"]


def test_a_file_over_the_limit_is_not_written_beyond_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MAX_BUNDLE_BYTES", 10)
    request = RequestFactory().post("/")
    handler = BoundedUploadHandler(request)
    handler.new_file("bundle", "bot.zip", "application/zip", 0, None)
    for start in range(0, 40, 8):
        handler.receive_data_chunk(b"x" * 8, start)
    file = handler.file_complete(40)
    assert file is not None
    assert isinstance(file, TemporaryUploadedFile)
    assert (file.size, Path(file.temporary_file_path()).stat().st_size) == (40, 16)


def test_an_upload_over_the_limit_is_refused_before_it_is_read(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr(settings, "MAX_BUNDLE_BYTES", 3_000_000)
    monkeypatch.setattr(HttpRequest, "_load_post_and_files", fail)
    response = client.post("/upload/", {"bundle": SimpleUploadedFile("bot.zip", b"x" * 7_000_000)})
    assert response.status_code == 413
    assert "Nothing was stored." in response.content.decode()


@pytest.mark.parametrize(
    ("address", "size"),
    [("/upload/", 2_000_000), ("/log-in/", 600_000), ("/api/bots/", 2_000_000), ("/api/", 600_000)],
)
def test_each_address_has_a_limit_for_bodies(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch, address: str, size: int
) -> None:
    monkeypatch.setattr(settings, "MAX_BUNDLE_BYTES", 1_000_000)
    response = client.generic("POST", address, b"x" * size)
    assert response.status_code == 413
    assert response["Content-Type"].startswith("application/json" if "api" in address else "text/html")


def test_a_request_whose_body_the_server_dropped_is_refused(site: Site, client: Client) -> None:
    response = client.post("/log-in/", **{TOO_LARGE: True})  # type: ignore[arg-type]
    assert response.status_code == 413


def test_pages_are_compressed_with_a_random_length(site: Site, client: Client) -> None:
    responses = [client.get("/rules/dualma/", headers={"Accept-Encoding": "gzip"}) for _ in range(8)]
    assert {response["Content-Encoding"] for response in responses} == {"gzip"}
    assert len({len(response.content) for response in responses}) > 1
    assert len(responses[0].content) < len(gzip.decompress(responses[0].content)) / 2


@pytest.mark.parametrize("address", ["/account/tokens/", "/tournaments/spring/records.pgn"])
def test_secrets_and_files_are_not_compressed(site: Site, client: Client, address: str) -> None:
    client.force_login(site.owner)
    assert "Content-Encoding" not in client.get(address, headers={"Accept-Encoding": "gzip"})


PAGES_WITH_BUTTONS = ["/tournaments/spring/", "/bots/stone-age/", "/bots/stone-age/1/", "/workers/"]


@pytest.mark.parametrize("address", PAGES_WITH_BUTTONS)
def test_a_browser_asks_again_for_a_page_with_buttons_and_gets_it_compressed(
    site: Site, client: Client, address: str
) -> None:
    assert "no-store" not in client.get(address).get("Cache-Control", "")
    client.force_login(site.owner)
    response = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert (response["Cache-Control"], response["Content-Encoding"]) == ("no-store", "gzip")


def test_the_style_of_the_boards_is_kept_for_a_year_under_its_own_address(site: Site, client: Client) -> None:
    (address,) = re.findall(r'href="(/boards\.[^"]+)"', client.get("/").content.decode())
    response = client.get(address)
    assert "max-age=31536000" in response["Cache-Control"]
    assert "immutable" in response["Cache-Control"]
    for other in ("/boards.css", "/boards.0123.css"):
        assert client.get(other).content == response.content
        assert "max-age=3600" in client.get(other)["Cache-Control"]
