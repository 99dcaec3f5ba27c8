"""What ``arena up`` prints while it runs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.support.schedule import make_worker
from tournament.embedded import up
from tournament.embedded.console import Console
from tournament.embedded.up import describe_workers
from tournament.services import disk

pytestmark = pytest.mark.django_db


def printed(monkeypatch: pytest.MonkeyPatch, *looks: list[str] | OperationalError) -> list[str]:
    """The lines that ``watch`` prints when it gets these notices, one after the other."""
    left = list(looks)
    supervisor = SimpleNamespace(stopping=False, tend=lambda: None)

    def notices() -> list[str]:
        look = left.pop(0)
        supervisor.stopping = not left
        if isinstance(look, OperationalError):
            raise look
        return look

    instance: Any = SimpleNamespace(supervisor=supervisor)
    output = io.StringIO()
    monkeypatch.setattr(up, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr("tournament.embedded.console.PLAIN_EVERY_SECONDS", 0.0)
    up.watch(instance, Console(output), notices)
    return output.getvalue().splitlines()


def test_a_notice_is_printed_when_it_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, full, run = "Uploaded bots wait.", "The disk is full.", "Uploaded bots are run."
    lines = printed(monkeypatch, [waits], [waits], [waits, full], [run, full], [waits])
    idle = "No tournament is running."
    assert [line for line in lines if line != idle] == [waits, full, run, waits]


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_does_not_end_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, ["One."], OperationalError("server closed the connection"), ["One."])
    idle = "No tournament is running."
    assert lines == ["One.", idle, "The database does not answer.", idle]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"held": 2, "trouble": "the canary crashed"},
            "plays on no slot, its self-test fails: the canary crashed.",
        ),
        ({"held": 1}, "plays on not every slot, its self-test fails: see its log."),
        (
            {"quarantined_at": timezone.now(), "quarantine_reason": "it voids all games"},
            "is quarantined and gets no work: it voids all games.",
        ),
        ({"barred": "it has another version"}, "is barred and gets no work: it has another version."),
        ({"state": "lost", "held": 2}, ""),
        ({}, ""),
    ],
)
def test_a_worker_that_gets_no_work_is_a_notice_with_the_reason(fields: dict[str, Any], said: str) -> None:
    make_worker(**fields)
    assert describe_workers() == ([f"players@east {said}"] if said else [])


def test_a_full_disk_is_a_notice_without_a_number_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert up.describe_disk() == []
    monkeypatch.setattr(disk, "LEAST_BYTES", 1 << 62)
    assert up.describe_disk() == ["The disk of the data folder is full."]
