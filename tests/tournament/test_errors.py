"""Answers while the database is away or busy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import Client


@pytest.fixture
def client_of_broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], Client]:
    """A client of a site whose database raises this at every query."""

    def make(error: Exception) -> Client:
        def fail(*_: Any) -> None:
            raise error

        monkeypatch.setattr(CursorWrapper, "execute", fail)
        return Client(raise_request_exception=False)

    return make


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError("connection refused"), InterfaceError("closed")])
@pytest.mark.parametrize("address", ["/", "/bots/", "/games/", "/account/", "/staff/", "/tournaments/new/"])
def test_pages_say_that_the_site_is_not_available_while_its_database_is_away(
    client_of_broken: Callable[[Exception], Client], error: Exception, address: str
) -> None:
    client = client_of_broken(error)
    client.cookies["sessionid"] = "a" * 32  # read before the view
    answer = client.get(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "The site is not available" in answer.content.decode()


@pytest.mark.django_db
def test_programs_are_told_in_json_while_the_database_is_away(
    client_of_broken: Callable[[Exception], Client],
) -> None:
    client = client_of_broken(OperationalError("database is locked"))
    answer = client.get("/api/bots/x/1/", headers={"Authorization": "Bearer duarena_x"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert answer.json() == {"ok": False, "error": "The database is busy or away."}


@pytest.mark.django_db
def test_other_errors_are_errors_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.views.site.site.list_families", lambda: 1 / 0)
    answer = Client(raise_request_exception=False).get("/about/")
    assert answer.status_code == 500
    assert "Server error" in answer.content.decode()
