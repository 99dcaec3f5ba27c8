"""The record keeper's memory of messages, over its restarts."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from tournament.models import ReceivedMessage
from tournament.services.results.received import CLEANING_SECONDS, SiteMemory
from workers.service.messaging.replays import WINDOW_SECONDS, Received

pytestmark = pytest.mark.django_db
NOW = 1_800_000_000


def message(name: str, sent: int = NOW) -> Received:
    return Received(name, "records", sent)


def test_a_message_is_known_after_a_restart() -> None:
    first = SiteMemory()
    assert not first.has(message("a"), NOW)
    first.add(message("a"), NOW)
    first.add(message("a"), NOW)
    assert first.has(message("a"), NOW)
    assert SiteMemory().has(message("a"), NOW)
    assert not SiteMemory().has(message("b"), NOW)


def test_a_message_of_the_beat_is_known_to_the_process_only() -> None:
    """After a restart it may come again; its time must not make older messages of workers look repeated."""
    memory, late = SiteMemory(), NOW + 10 * WINDOW_SECONDS
    tick = Received("tick", "beat", late)
    memory.add(tick, late)
    assert memory.has(tick, late)
    assert not memory.has(message("a"), late - 9 * WINDOW_SECONDS)
    assert not SiteMemory().has(message("a"), late)


def test_messages_are_forgotten_when_their_age_shows_that_they_were_received() -> None:
    memory, later = SiteMemory(), NOW + WINDOW_SECONDS + CLEANING_SECONDS
    memory.add(message("a"), NOW)
    memory.add(message("b", later), later)
    assert list(ReceivedMessage.objects.values_list("name", flat=True)) == ["b"]
    assert SiteMemory().has(message("a"), later)


def test_a_message_costs_one_query(django_assert_num_queries: object) -> None:
    memory = SiteMemory()
    memory.add(message("a"), NOW)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert not memory.has(message("b"), NOW)
        memory.add(message("b"), NOW)


def test_while_the_database_is_away_messages_are_remembered_by_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = SiteMemory()
    memory.add(message("a"), NOW)

    def away(*_: object, **__: object) -> None:
        raise DatabaseError("server closed the connection unexpectedly")

    monkeypatch.setattr(ReceivedMessage.objects, "bulk_create", away)
    memory.add(message("b"), NOW)
    assert memory.has(message("b"), NOW)
    monkeypatch.setattr(ReceivedMessage.objects, "values_list", away)
    assert not SiteMemory().has(message("a"), NOW)
