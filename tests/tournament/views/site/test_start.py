"""The way from an account to a rated game: the state of each step, and the bots to begin with."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import engines
from engines.bundles.store import inspect_bundle
from tests.support.filled_site import LogIn, Site, add_version
from tests.support.rated_games import play_rated
from tournament import kit
from tournament.models import Bot, RatingEvent, User

pytestmark = pytest.mark.django_db
READY = ("first-move", "hexagons", "moves")


def steps_of(page: str) -> tuple[list[int], list[int]]:
    """The steps that are done, and those that are unfolded."""
    parts = page.partition('<ol class="path">')[2].split('<li class="panel">')[1:]
    done = [number for number, part in enumerate(parts, 1) if "tag done" in part]
    unfolded = [number for number, part in enumerate(parts, 1) if part.startswith("<details open>")]
    return done, unfolded


def start_page(client: Client) -> str:
    response = client.get("/start/")
    assert response.status_code == 200
    return response.content.decode()


def test_a_visitor_begins_with_an_account_and_may_download_at_once(client: Client, site: Site) -> None:
    page = start_page(client)
    assert steps_of(page) == ([], [1, 2])
    assert 'href="/sign-up/?next=/start/"' in page
    assert "data-upload" not in page


def test_somebody_without_a_bot_sees_the_zips_and_the_form(site: Site, as_user: LogIn) -> None:
    page = start_page(as_user(User.objects.create(username="nora")))
    assert steps_of(page) == ([1], [2, 3])
    assert 'action="/upload/"' in page
    assert 'href="/kit/duarena-kit.zip"' in page


@pytest.mark.parametrize(
    ("state", "done", "unfolded"),
    [
        ("waiting", [1, 2, 3], [4]),
        ("validating", [1, 2, 3], [4]),
        ("refused", [1, 2, 3], [4]),
        ("valid", [1, 2, 3, 4], [5]),
    ],
)
def test_the_steps_follow_the_newest_version(
    site: Site, as_user: LogIn, state: str, done: list[int], unfolded: list[int]
) -> None:
    nora = User.objects.create(username="nora")
    version = add_version(nora, "Newcomer", state=state)
    page = start_page(as_user(nora))
    assert steps_of(page) == (done, unfolded)
    assert f'href="{version.get_absolute_url()}"' in page


def test_after_the_first_rated_game_it_is_shown_and_the_bot_is_made_stronger(
    site: Site, as_user: LogIn
) -> None:
    nora = User.objects.create(username="nora")
    version = add_version(nora, "Newcomer")
    play_rated(None, "Autumn", [version, site.white, site.black])
    page = start_page(as_user(nora))
    assert steps_of(page) == ([1, 2, 3, 4, 5], [6])
    first = RatingEvent.objects.filter(version=version).order_by("ladder", "sequence")[0]
    assert f'href="/games/{first.game_id}/"' in page


def test_every_language_of_the_repository_is_offered(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.views.site.start.offered_runtimes", list)
    page = start_page(client)
    assert "<code>dogon.c</code>" in page
    assert "hexagons.zip" not in page, "this site has no Node"
    assert len(kit.samples()) == 1 + len(
        list((Path(engines.__file__).parent / "bots" / "languages").iterdir())
    )


@pytest.mark.parametrize("name", READY)
def test_a_zip_can_be_uploaded_as_it_is_under_a_new_name_each_time(client: Client, name: str) -> None:
    response = client.get(f"/kit/{name}.zip")
    assert response["Content-Disposition"] == f'attachment; filename="{name}.zip"'
    again = client.get(f"/kit/{name}.zip")
    found = [inspect_bundle(one.content, find=lambda word: f"/usr/bin/{word}") for one in (response, again)]
    assert found[0].name != found[1].name
    assert found[0].games == next(one for one in kit.samples() if one.name == name).manifest.games
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert found[0].command[-1] in archive.namelist()


def test_only_what_runs_as_it_is_is_a_zip(client: Client) -> None:
    assert [one.name for one in kit.samples() if one.is_ready] == list(READY)
    for name in ("dogon", "duovallis", "nothing"):
        assert client.get(f"/kit/{name}.zip").status_code == 404


def test_the_script_is_told_where_the_new_version_is(
    site: Site, as_user: LogIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "BUNDLES", tmp_path)
    client = as_user(site.owner)
    file = SimpleUploadedFile("bot.zip", kit.example("first-move") or b"")
    response = client.post("/upload/", {"bundle": file}, headers={"X-Part": "true"})
    version = Bot.objects.latest("pk").versions.get()
    assert (response.status_code, response["X-Location"]) == (204, version.get_absolute_url())
    assert "is uploaded." in client.get(version.get_absolute_url()).content.decode()
