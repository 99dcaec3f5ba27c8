"""Who may do what: every operation of the registry with tokens of every scope, and private objects."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from tests.support.addresses import ALSO, EXPECTED, WITH_TOKEN, address_of
from tests.support.filled_site import Site, add_version
from tournament.api.v1.openapi import document
from tournament.api.v1.operations import OPERATIONS, PREFIX, SEES
from tournament.models import Bot, Token, User
from tournament.services.accounts.tokens import create_token

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SCOPES = Token.Scope.values
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


@pytest.fixture(autouse=True)
def refused_versions(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "BUNDLES", tmp_path)
    add_version(site.owner, "Hopeless", state="refused")
    add_version(site.rival, site.black.bot.name, state="refused")


def status(
    method: str, path: str, user: User | None = None, scopes: Sequence[str] = (), *, bot: Bot | None = None
) -> int:
    """The status for a token of the user; what the request changes is undone."""
    with transaction.atomic():
        headers = {}
        if user is not None:
            headers["Authorization"] = f"Bearer {create_token(user, 'one', scopes, bot=bot)[1]}"
        code = Client().generic(method, path, headers=headers).status_code
        transaction.set_rollback(True)
    return code


def example_addresses(site: Site) -> dict[str, str]:
    """An address of each route."""
    found: dict[str, str] = {}
    for address, _ in [*EXPECTED.values(), *ALSO.values()]:
        if "/api/v1/" in address:
            path = address_of(site, address).removeprefix("POST ")
            route = get_resolver().resolve(path.partition("?")[0]).route
            found.setdefault(route, path)
    return found


def test_every_operation_takes_the_tokens_that_it_names_and_no_others(site: Site) -> None:
    examples = example_addresses(site)
    for one in OPERATIONS:
        path = examples[PREFIX + one.path]
        guest = status(one.method, path)
        assert (guest == HTTPStatus.UNAUTHORIZED) == bool(one.scopes), path
        for scope in SCOPES:
            found = status(one.method, path, site.staff, [scope])
            is_lacking = bool(one.scopes) and scope not in one.scopes
            assert (found in REFUSED) == is_lacking, (one.method, path, scope, found)


def test_the_document_names_the_same_scopes() -> None:
    named: dict[str, list[str]] = {
        entry["operationId"]: next((need["token"] for need in entry["security"] if "token" in need), [])
        for methods in document("https://duarena.example")["paths"].values()
        for entry in methods.values()
    }
    assert named == {one.view.__name__: list(one.scopes) for one in OPERATIONS}
    assert {scope for scopes in named.values() for scope in scopes} <= set(SCOPES)


def test_tokens_show_what_their_users_see_if_a_scope_says_so(site: Site) -> None:
    found = {}
    for address in WITH_TOKEN:
        path = address_of(site, address)
        guest = status("GET", path)
        by_user = [
            {status("GET", path, user, [scope]) for scope in SEES}
            for user in (site.rival, site.owner, site.staff)
        ]
        found[address] = (guest, *(code for codes in by_user for code in codes))
        assert status("GET", path, site.staff, ["play", "tests:write"]) == guest, path
    assert found == WITH_TOKEN


def test_a_token_of_one_bot_shows_no_other_private_object(site: Site) -> None:
    hopeless = Bot.objects.get(slug="hopeless")
    for address, statuses in WITH_TOKEN.items():
        is_of_bot = address.startswith("/api/v1/bots/hopeless/") and "/against/" not in address
        expected = statuses[2] if is_of_bot else statuses[0]
        assert status("GET", address_of(site, address), site.owner, ["logs:read"], bot=hopeless) == expected
