"""Error reports: off by default, and without anything private."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import sentry_sdk
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from tests.support.schedule import make_user
from tournament.embedded.plan import ROOT
from tournament.monitoring.errors import start_error_reports
from workers.logs import log_ids

DSN = "https://public@sentry.example/1"
SECRET = "hunter2"
"""Stands in every place from which a report could take it."""
Reports = list[dict[str, Any]]


@pytest.fixture
def reports(settings: Settings) -> Iterator[Reports]:
    """The reports that would be sent."""
    found: Reports = []

    class Kept(Transport):
        def capture_envelope(self, envelope: Envelope) -> None:
            found.extend(json.loads(item.get_bytes()) for item in envelope.items)

    settings.SENTRY_DSN = DSN
    start_error_reports(Kept)
    yield found
    sentry_sdk.get_client().close()
    sentry_sdk.init(dsn="", default_integrations=False)


def fail(*_: object) -> None:
    password = SECRET
    raise ValueError(f"the key (email)=({password}@a.example) exists")


@pytest.mark.django_db
def test_a_page_that_fails_is_reported_without_anything_private(
    reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.views.people.profiles.access.may_see_profile", fail)
    make_user(SECRET)
    client = Client(raise_request_exception=False, headers={"X-Request-ID": "r-1"})
    client.cookies["sessionid"] = SECRET
    answer = client.get(
        f"/people/{SECRET}/?token={SECRET}",
        headers={"Authorization": f"Bearer {SECRET}", "User-Agent": SECRET},
        REMOTE_ADDR="203.0.113.77",
    )
    assert answer.status_code == 500
    (report,) = reports
    (error,) = report["exception"]["values"]
    assert error["type"] == "ValueError"
    assert error["stacktrace"]["frames"][-1]["function"] == "fail"
    assert report["transaction"] == "/people/{name}/"
    assert report["tags"] == {"request": "r-1"}
    text = json.dumps(report)
    assert SECRET not in text
    assert "203.0.113.77" not in text
    assert "request" not in set(report) - {"tags"}


def test_a_line_of_the_log_is_reported_without_its_values(reports: Reports) -> None:
    with log_ids(job="7", game="spring/1/1/1"):
        logging.getLogger("tournament.keeper").error("the report of %s is wrong: %s", SECRET, SECRET)
    logging.getLogger("tournament.keeper").warning("%s", SECRET)
    (report,) = reports
    assert report["logentry"] == {"message": "the report of %s is wrong: %s"}
    assert report["tags"] == {"job": "7", "game": "spring/1/1/1"}
    assert SECRET not in json.dumps(report)


def test_without_a_dsn_nothing_is_reported(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr(sentry_sdk, "init", lambda **options: called.append(options))
    settings.SENTRY_DSN = ""
    start_error_reports()
    assert called == []


def test_a_dsn_without_the_package_is_refused_with_the_command_that_helps(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentry_sdk", None)
    settings.SENTRY_DSN = DSN
    with pytest.raises(ImproperlyConfigured, match=r"pip install -r requirements-sentry\.txt"):
        start_error_reports()


def test_the_pins_of_the_package_are_those_of_the_tests() -> None:
    def pins(name: str) -> set[str]:
        return {line for line in (ROOT / name).read_text().splitlines() if "==" in line}

    assert pins("requirements-sentry.txt") <= pins("requirements-dev.txt")
    assert not pins("requirements-sentry.txt") & pins("requirements.txt")
