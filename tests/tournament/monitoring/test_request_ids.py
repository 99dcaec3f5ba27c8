"""The ids of requests."""

from __future__ import annotations

import io
import logging
import re

import pytest
from django.test import Client

from workers.logs import current_ids

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("given", ["", "two words", "a" * 65, 'quote"', "new\nline", "-é"])
def test_a_request_gets_an_id_unless_it_has_a_good_one(given: str) -> None:
    answer = Client().get("/about/", headers={"X-Request-ID": given})
    assert re.fullmatch(r"[0-9a-f]{16}", answer["X-Request-ID"])
    assert Client().get("/about/", headers={"X-Request-ID": "a-1"})["X-Request-ID"] == "a-1"


def test_an_error_of_a_page_with_a_secret_address_is_logged_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(token: str) -> None:
        raise OSError("away \x1b[2J\nforged")

    monkeypatch.setattr("tournament.views.people.digests.find_by_token", fail)
    (handler,) = logging.getLogger("django.request").handlers
    written = io.StringIO()
    monkeypatch.setattr(handler, "stream", written)
    Client(raise_request_exception=False).get("/account/digest/1:SECRET/")
    assert "Internal Server Error: /account/digest/-" in written.getvalue()
    assert "SECRET" not in written.getvalue()
    assert "\x1b" not in written.getvalue()


def test_lines_that_a_page_logs_have_the_id_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(current_ids().get("request", ""))

    monkeypatch.setattr("tournament.views.site.site.list_families", lambda: 1 / 0)
    logger = logging.getLogger("django.request")
    handler = Watch()
    logger.addHandler(handler)
    try:
        Client(raise_request_exception=False).get("/about/", headers={"X-Request-ID": "mine"})
    finally:
        logger.removeHandler(handler)
    assert seen == ["mine"]
