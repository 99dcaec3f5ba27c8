"""Bots that never passed a validation, and refused versions: seen by their owners and by staff alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.support.filled_site import Site, add_version, fill_site
from tests.support.remembered import remembered
from tournament import access
from tournament.models import BotVersion

State = BotVersion.State


@pytest.fixture
def site(db: None) -> Site:
    return remembered(fill_site)


def client_of(user: object) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)  # type: ignore[arg-type]
    return client


@pytest.mark.parametrize(
    ("states", "is_public"),
    [
        ([], False),
        ([State.WAITING], False),
        ([State.VALIDATING], False),
        ([State.REFUSED, State.REFUSED, State.WAITING], False),
        ([State.VALID], True),
        ([State.VALID, State.REFUSED], True),
        ([State.WITHDRAWN], True),
    ],
)
def test_a_bot_is_public_once_a_version_has_passed(site: Site, states: list[str], is_public: bool) -> None:
    for state in states or [State.WAITING]:
        version = add_version(site.owner, "Novice", state=state)
    if not states:
        version.delete()
    bot = version.bot
    for user, sees in ((None, is_public), (site.rival, is_public), (site.owner, True), (site.staff, True)):
        client = client_of(user)
        assert ("Novice" in client.get("/bots/").content.decode()) == sees
        assert client.get(f"/bots/{bot.slug}/").status_code == (200 if sees else 404)
        assert client.get(f"/bots/{bot.slug}/ratings/dualma.json").status_code == (200 if sees else 404)
    assert Client().get(f"/bots/{bot.slug}/feed.atom").status_code == (200 if is_public else 404)


def test_a_refused_version_is_shown_to_its_owner_alone(site: Site) -> None:
    add_version(site.owner, "Stone Age", state=State.REFUSED)
    for user, sees in ((None, False), (site.rival, False), (site.owner, True), (site.staff, True)):
        client = client_of(user)
        for address in ("/bots/stone-age/", "/bots/"):
            page = client.get(address).content.decode()
            shown = bool(re.search(r"\bv2\b", page))  # not a part of a random token
            assert (shown, "refused" in page) == (sees, sees), address
        assert client.get("/bots/stone-age/2/").status_code == (200 if sees else 404)
    assert ">v1" in Client().get("/bots/stone-age/").content.decode()


def test_the_newest_version_in_a_list_is_the_newest_that_the_reader_may_see(site: Site) -> None:
    add_version(site.owner, "Stone Age", state=State.VALIDATING)
    add_version(site.owner, "Stone Age", state=State.REFUSED)

    def newest(user: object) -> int:
        bots = client_of(user).get("/bots/").context["page"].rows
        return next(int(bot.newest[0].number) for bot in bots if bot.slug == "stone-age")

    assert (newest(None), newest(site.owner)) == (2, 3)


def test_a_version_that_is_validated_is_visible_only_if_its_bot_is(site: Site) -> None:
    known = add_version(site.owner, "Stone Age", state=State.VALIDATING)
    unknown = add_version(site.owner, "Novice", state=State.VALIDATING)
    visible = access.visible_versions(access.PUBLIC, BotVersion.objects.filter(state=State.VALIDATING))
    assert list(visible) == [known]
    own = access.visible_versions(site.owner, BotVersion.objects.filter(state=State.VALIDATING))
    assert set(own) == {known, unknown}


def test_a_bot_of_the_site_without_a_valid_version_is_hidden_from_visitors(site: Site) -> None:
    add_version(None, "Sample", state=State.REFUSED)
    assert Client().get("/bots/sample/").status_code == 404
    assert client_of(site.staff).get("/bots/sample/").status_code == 200


def test_only_this_module_decides_what_staff_may_do() -> None:
    """Services have queries for accounts of staff, but ask it too about the rights of one user."""
    folders = [
        Path(settings.ROOT) / "tournament" / name for name in ("views", "templates", "api", "services")
    ]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".html"}]
    files.append(Path(settings.ROOT) / "tournament" / "forms.py")
    assert len(files) > 100
    assert [path for path in files if ".is_staff" in path.read_text(encoding="utf-8")] == []
