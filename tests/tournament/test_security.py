"""The headers of every answer, and the limits of requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import Client, RequestFactory

from tests.support.filled_site import Site, fill_site
from tournament.models import Bot
from tournament.security import BoundedUploadHandler


@pytest.fixture
def site(db: None) -> Site:
    return fill_site()


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
    assert "HX-Request" in client.get(address.format(site))["Vary"]


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


def test_an_upload_over_the_limit_gets_one_sentence_and_leaves_nothing(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "MAX_BUNDLE_BYTES", 3_000_000)
    client.force_login(site.owner)
    before = Bot.objects.count()
    response = client.post("/upload/", {"bundle": SimpleUploadedFile("bot.zip", b"x" * 7_000_000)})
    assert response.context["form"].errors["bundle"] == [
        "The file has 6.7\xa0MB, a bundle at most 2.9\xa0MB."
    ]
    assert Bot.objects.count() == before


@pytest.mark.parametrize("method", ["put", "delete", "patch", "options"])
@pytest.mark.parametrize("address", ["/rules/", "/kit/", "/upload/", "/tournaments/new/", "/sign-up/"])
def test_a_page_refuses_other_methods(site: Site, client: Client, address: str, method: str) -> None:
    client.force_login(site.owner)
    assert getattr(client, method)(address).status_code == 405
