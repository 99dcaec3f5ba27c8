"""Permissions of every address of the site, for every kind of visitor.

The table is checked against the resolver: an address without a line in it fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from tests.support.addresses import CASES, EXPECTED, VISITORS, address_of, example_worker
from tests.support.filled_site import STDERR, LogIn, Site, add_version
from tournament.caches import cache
from tournament.models import ComplianceCheck

pytestmark = pytest.mark.slow

SAME = {"account_login": "log-in", "account_signup": "sign-up"}
"""Second names of addresses, for allauth."""


@pytest.fixture(autouse=True)
def _bundles(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the bundles of both bots, so that a refusal is not caused by a missing file."""
    monkeypatch.setattr(settings, "BUNDLES", tmp_path)
    add_version(site.owner, "Hopeless", state="refused")
    add_version(site.rival, site.black.bot.name, state="refused")
    for version in (site.white, site.black):
        version.bundle.path.parent.mkdir(parents=True, exist_ok=True)
        version.bundle.path.write_bytes(b"zip")


def test_every_address_answers_each_visitor_with_the_status_of_the_table(site: Site, as_user: LogIn) -> None:
    found = {}
    for name, (method_and_path, _) in CASES.items():
        statuses = []
        for visitor in VISITORS:
            with transaction.atomic():  # what one visitor changes is undone for the next
                client = _client(site, as_user, visitor)
                statuses.append(_ask(client, address_of(site, method_and_path)).status_code)
                transaction.set_rollback(True)
            cache.clear()
        found[name] = tuple(statuses)
    assert found == {name: expected for name, (_, expected) in CASES.items()}


def test_every_address_of_the_site_is_in_the_table() -> None:
    assert {name for name, _ in _named(get_resolver().url_patterns)} == set(EXPECTED)


def test_every_address_has_a_name() -> None:
    assert [pattern for name, pattern in _named(get_resolver().url_patterns) if not name] == []


def test_the_table_leads_to_the_addresses_it_names(site: Site) -> None:
    for name, (method_and_path, _) in EXPECTED.items():
        path = address_of(site, method_and_path).removeprefix("POST ").partition("?")[0]
        assert get_resolver().resolve(path).url_name == SAME.get(name, name)


@pytest.mark.parametrize("visitor", VISITORS[:3])
def test_only_staff_has_access_to_the_administration(site: Site, as_user: LogIn, visitor: str) -> None:
    for address in _admin_addresses():
        assert _client(site, as_user, visitor).get(address).status_code in {302, 404}, address


def test_staff_reaches_the_administration(site: Site, as_user: LogIn) -> None:
    assert as_user(site.staff).get("/admin/").status_code == 200


def test_no_page_shows_the_output_of_another_user_s_engine(site: Site, as_user: LogIn) -> None:
    for address, _ in EXPECTED.values():
        path = "" if address.startswith("POST") else address_of(site, address)
        for visitor, secrets in (
            (("anonymous", STDERR.values()), ("another", [STDERR["white"]])) if path else ()
        ):
            response = _client(site, as_user, visitor).get(path)
            assert not any(secret.encode() in response.getvalue() for secret in secrets), (path, visitor)


@pytest.mark.parametrize("visitor", VISITORS)
def test_only_the_owner_and_staff_see_a_compliance_check(site: Site, as_user: LogIn, visitor: str) -> None:
    finding = {
        "check": "quit",
        "ladder": "",
        "fault": "it stayed",
        "lines": "> quit",
        "stderr": "a secret word",
    }
    ComplianceCheck.objects.create(
        version=site.white, sent_at=timezone.now(), heard_at=timezone.now(), found=[finding]
    )
    for address, headers in (("", {}), ("?seen=valid-", {"X-Part": "true"})):
        client = _client(site, as_user, visitor)
        page = client.get(f"/bots/stone-age/1/{address}", headers=headers).content.decode()
        assert ("a secret word" in page) == (visitor in {"owner", "staff"})
        assert ("it stayed" in page) == (visitor in {"owner", "staff"})


@pytest.mark.parametrize("visitor", VISITORS)
def test_only_staff_sees_the_host_and_the_trouble_of_a_worker(
    site: Site, as_user: LogIn, visitor: str
) -> None:
    example_worker()
    for headers in ({}, {"X-Part": "true"}):
        page = _client(site, as_user, visitor).get("/workers/", headers=headers).content.decode()
        assert "players@east" in page
        shown = ["cellar-7" in page, "the disk is full" in page, "Quarantine<" in page]
        assert shown == [visitor == "staff"] * 3


@pytest.mark.parametrize(
    ("visitor", "seen"),
    [("anonymous", []), ("another", ["black"]), ("owner", ["white"]), ("staff", ["white", "black"])],
)
def test_a_game_shows_each_visitor_his_own_engine_s_log(
    site: Site, as_user: LogIn, visitor: str, seen: list[str]
) -> None:
    page = _client(site, as_user, visitor).get(f"/games/{site.played.pk}/").content.decode()
    shown = page.replace("&#x27;", "'")
    assert [side for side, stderr in STDERR.items() if stderr in shown] == seen


def test_changes_require_a_post_with_a_token(site: Site) -> None:
    for address, _ in CASES.values():
        if address.startswith("POST ") and not address.startswith("POST /api/"):
            path = address_of(site, address).removeprefix("POST ")
            strict = Client(enforce_csrf_checks=True)
            strict.force_login(site.owner)
            assert (strict.post(path).status_code, strict.get(path).status_code) == (403, 405), path


def _client(site: Site, as_user: LogIn, visitor: str) -> Client:
    users = {"anonymous": None, "another": site.rival, "owner": site.owner, "staff": site.staff}
    return as_user(users[visitor])


def _ask(client: Client, address: str) -> HttpResponse:
    ask = client.post if address.startswith("POST ") else client.get
    return ask(address.removeprefix("POST "))  # type: ignore[return-value]


def _named(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, str]]:
    """The site's addresses by name; the administration is checked separately."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            assert pattern.namespace == "admin"
        else:
            yield pattern.name or "", str(pattern.pattern)


def _admin_addresses() -> list[str]:
    """Every address of the administration without a row's number in it."""
    resolver = next(p for p in get_resolver().url_patterns if isinstance(p, URLResolver))
    return [f"/admin/{'/'.join(part)}" for part in _plain_paths(resolver)]


def _plain_paths(resolver: URLResolver) -> Iterator[list[str]]:
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from ([route.rstrip("/"), *rest] for rest in _plain_paths(pattern))
        elif "<" not in route and "(" not in route and pattern.name not in {"login", "logout", "jsi18n"}:
            yield [route]
