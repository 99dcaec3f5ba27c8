"""Published versions: who may publish, what everybody may download then, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.filled_site import LogIn, Site, add_version
from tournament.models import Act, BotVersion
from tournament.services.closing import close_account
from tournament.services.results.withdrawal import delete_program, withdraw

PAGE = "/bots/stone-age/1/"
PUBLISH = f"{PAGE}publish/"
BUNDLE = f"{PAGE}bundle.zip"
BYTES = bytes(range(100))
GIVEN = {"licence": "GPL-3.0-or-later", "source": "https://code.example/stone-age"}


@pytest.fixture(autouse=True)
def stored(site: Site, settings: Any, tmp_path: Path) -> Path:
    settings.BUNDLES = tmp_path
    path = site.white.bundle.path
    path.parent.mkdir(parents=True)
    path.write_bytes(BYTES)
    return path


@pytest.fixture
def owner(site: Site, as_user: LogIn) -> Client:
    return as_user(site.owner)


def published(site: Site, **changes: Any) -> BotVersion:
    BotVersion.objects.filter(pk=site.white.pk).update(**(GIVEN | changes))
    return BotVersion.objects.get(pk=site.white.pk)


def test_a_published_version_is_downloaded_by_everybody_with_its_licence_and_source_shown(
    site: Site, owner: Client, client: Client, as_user: LogIn
) -> None:
    assert client.get(BUNDLE).status_code == 404
    assert owner.post(PUBLISH, GIVEN).headers["Location"] == PAGE
    for user in (None, site.rival, site.owner, site.staff):
        response: Any = as_user(user).get(BUNDLE)
        assert response.getvalue() == BYTES
        assert response["Content-Type"] == "application/zip"
    page = client.get(PAGE).content.decode()
    assert site.white.bundle_id in page
    assert "GPL-3.0-or-later" in page
    assert 'href="https://code.example/stone-age" rel="nofollow noopener ugc"' in page
    assert f'href="{BUNDLE}"' in page
    assert "python3 -m engines get stone-age@1 --site http://testserver" in page


def test_a_part_of_a_bundle_is_downloaded_and_one_that_is_known_is_not_sent_again(
    site: Site, client: Client
) -> None:
    published(site)
    part: Any = client.get(BUNDLE, headers={"Range": "bytes=90-"})
    assert (part.status_code, part.getvalue()) == (206, BYTES[90:])
    assert part["Content-Range"] == "bytes 90-99/100"
    again = client.get(BUNDLE, headers={"If-None-Match": part["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"licence": "", "source": ""}, "Choose a licence"),
        ({"licence": "MIT", "source": "javascript:alert(1)"}, "begins with https:// or http://"),
        ({"licence": "MIT", "source": "ftp://code.example/x"}, "begins with https:// or http://"),
        ({"licence": "a\u202eb", "source": ""}, "an invisible character"),
        ({"licence": "MIT", "source": "https://code.example/\u202ecod"}, "an invisible character"),
        ({"licence": "MIT", "source": "https://github.com@evil.example/"}, "names a user"),
        ({"licence": "x" * 101, "source": ""}, "at most 100 characters"),
    ],
)
def test_a_licence_or_an_address_that_cannot_be_used_is_refused_beside_its_field(
    site: Site, owner: Client, given: dict[str, str], words: str
) -> None:
    page = owner.post(PUBLISH, given)
    assert words in page.content.decode()
    assert BotVersion.objects.get(pk=site.white.pk).licence == ""


def test_words_of_ones_own_are_a_licence(site: Site, owner: Client) -> None:
    owner.post(PUBLISH, {"licence": "You may play against it", "source": ""})
    assert BotVersion.objects.get(pk=site.white.pk).licence == "You may play against it"


def test_unpublishing_ends_the_downloads_and_says_that_copies_stay(
    site: Site, owner: Client, client: Client
) -> None:
    published(site)
    assert "Who has a copy keeps it" in owner.get(PUBLISH).content.decode()
    page = owner.post(PUBLISH, {"unpublish": ""}, follow=True).content.decode()
    assert "Copies that were taken stay." in page
    assert client.get(BUNDLE).status_code == 404
    assert "code.example" not in client.get(PAGE).content.decode()
    assert owner.get(BUNDLE).status_code == 200


def test_staff_ends_downloads_and_licenses_nothing(site: Site, as_user: LogIn) -> None:
    staff = as_user(site.staff)
    assert staff.post(PUBLISH, GIVEN).status_code == 404
    published(site)
    assert 'name="licence"' not in staff.get(PUBLISH).content.decode()
    staff.post(PUBLISH, {"licence": "0BSD"})
    assert BotVersion.objects.get(pk=site.white.pk).licence == GIVEN["licence"]
    staff.post(PUBLISH, {"unpublish": ""})
    assert BotVersion.objects.get(pk=site.white.pk).licence == ""
    assert Act.objects.get().deed == "ended its downloads"


def test_nobody_else_publishes_a_version(site: Site, client: Client, as_user: LogIn) -> None:
    assert client.post(PUBLISH, GIVEN).headers["Location"].startswith("/log-in/")
    assert as_user(site.rival).post(PUBLISH, GIVEN).status_code == 404
    assert BotVersion.objects.get(pk=site.white.pk).licence == ""


def test_what_an_owner_licenses_is_noted(site: Site, owner: Client) -> None:
    owner.post(PUBLISH, GIVEN)
    act = Act.objects.get()
    assert (act.actor, act.deed) == (site.owner, "published it under GPL-3.0-or-later")
    assert act.subject == "version Stone Age v1"


@pytest.mark.parametrize("state", ["waiting", "validating", "refused"])
def test_only_a_version_that_has_passed_its_validation_is_published(
    site: Site, owner: Client, state: str
) -> None:
    BotVersion.objects.filter(pk=site.white.pk).update(state=state)
    assert owner.post(PUBLISH, GIVEN).status_code == 404
    assert PUBLISH not in owner.get(PAGE).content.decode()


def test_a_withdrawn_version_is_downloaded_while_its_program_is_kept(site: Site, client: Client) -> None:
    version = published(site)
    withdraw(version, "its owner withdrew it")
    assert client.get(BUNDLE).status_code == 200
    BotVersion.objects.update(has_games_to_end=False)
    assert delete_program(version)
    assert client.get(BUNDLE).status_code == 404
    assert BotVersion.objects.get(pk=version.pk).licence == ""


def test_a_closed_account_ends_downloads_and_its_source_is_forgotten(site: Site, client: Client) -> None:
    published(site)
    close_account(site.owner, timezone.now())
    assert client.get(BUNDLE).status_code == 404
    assert "code.example" not in client.get(PAGE).content.decode()


def test_the_list_of_bots_is_filtered_by_published_versions(site: Site, client: Client) -> None:
    published(site)
    add_version(None, "Sample")
    page = client.get("/bots/?published=on").content.decode()
    assert "<title>Published bots" in page
    found = client.get("/bots/bots.json?published=on").json()["bots"]
    assert [row["bot"] for row in found] == ["Sample", "Stone Age"]


def test_programs_elsewhere_find_a_version_by_the_name_of_its_bot_and_its_hash(
    site: Site, client: Client
) -> None:
    published(site)
    for name in ("stone age", "stone-age"):
        found = client.get("/bots/engine.json", {"name": name}).json()
        assert found == {
            "name": "Stone Age",
            "version": "1",
            "sha256": site.white.bundle_id,
            "page": PAGE,
            "bundle": BUNDLE,
            **GIVEN,
        }
    assert client.get("/bots/engine.json?name=nobody").status_code == 404
    assert client.get("/bots/engine.json?name=stone-age&number=7").status_code == 404


def test_without_a_number_programs_get_the_newest_published_version(site: Site, client: Client) -> None:
    add_version(site.owner, "Stone Age")
    newest = client.get("/bots/engine.json?name=stone-age").json()
    assert (newest["version"], newest["bundle"]) == ("2", None)
    published(site)
    assert client.get("/bots/engine.json?name=stone-age").json()["bundle"] == BUNDLE
    assert client.get("/bots/engine.json?name=stone-age&number=2").json()["bundle"] is None
