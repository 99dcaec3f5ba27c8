"""The page of the interface for people, at the address that programs ask about their tokens."""

from __future__ import annotations

from html import unescape
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.documents import read
from tests.support.schedule import make_user
from tournament.api.v1 import openapi
from tournament.api.v1.openapi import _described
from tournament.api.v1.operations import OPERATIONS, Operation
from tournament.services.accounts.tokens import create_token

pytestmark = pytest.mark.django_db
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_the_page_has_every_operation_with_its_parameters_and_an_example(client: Client) -> None:
    page = client.get("/api/", headers=HTML).content.decode()
    for one in OPERATIONS:
        assert f'id="{one.view.__name__}"' in page
        assert one.summary.partition("`")[0] in unescape(page)
    assert page.count("curl ") == len(OPERATIONS)
    assert f"curl http://testserver/api/v1/ladders/{next(iter(GAMES))}/ratings/" in page
    assert "<code>published</code>" in page
    assert "<code>entry_until</code>" in page, "a field of a body"


def test_document_and_page_are_made_once_for_an_address(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def described(one: Operation, *more: Any) -> Any:
        made.append(one)
        return _described(one, *more)

    monkeypatch.setattr(openapi, "_described", described)
    for path, headers in (("/api/v1/openapi.json", {}), ("/api/", HTML)) * 2:
        assert client.get(path, headers=headers, SERVER_NAME="localhost").status_code == HTTPStatus.OK
    assert len(made) <= len(OPERATIONS)


def test_the_footer_leads_to_it_and_it_leads_to_the_guide(client: Client) -> None:
    assert 'href="/api/"' in client.get("/about/").content.decode()
    assert 'href="/programs/"' in client.get("/api/", headers=HTML).content.decode()
    guide = client.get("/programs/").content.decode()
    for path in ("/programs/events/", "/programs/webhooks/", "/kit/#from-the-shell"):
        assert f'href="{path}"' in guide
        assert client.get(path.partition("#")[0]).status_code == HTTPStatus.OK


def test_the_guide_is_read_in_five_minutes() -> None:
    assert len(read("docs/api.md").split()) <= 1300


def test_programs_are_answered_as_before(client: Client) -> None:
    answer = client.get("/api/")
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/json")
    text = create_token(make_user(), "one", ["logs:read"])[1]
    headers = {**HTML, "Authorization": f"Bearer {text}"}
    assert client.get("/api/", headers=headers).json()["user"] == "ada"
    assert client.post("/api/", headers=HTML).status_code == HTTPStatus.METHOD_NOT_ALLOWED
