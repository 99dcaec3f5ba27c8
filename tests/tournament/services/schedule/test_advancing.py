"""Steps of several tournaments: in order, and one that fails stops no other."""

from __future__ import annotations

import logging

import pytest

from tests.support.schedule import make_event, make_version
from tournament.models import Tournament
from tournament.services.schedule.advancing import take_steps

pytestmark = pytest.mark.django_db


def test_a_tournament_that_fails_is_logged_and_the_others_take_their_steps(
    caplog: pytest.LogCaptureFixture,
) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    events = [make_event(Tournament.Kind.ROUND_ROBIN, versions=versions, name=f"Cup {n}") for n in range(4)]
    called = []

    def advance(pk: int) -> bool:
        called.append(pk)
        if pk == events[1].pk:
            raise ZeroDivisionError
        return pk != events[2].pk

    with caplog.at_level(logging.ERROR, "tournament.advancing"):
        assert take_steps(Tournament.objects.order_by("-id"), advance) == 2
    assert called == [event.pk for event in events]
    assert f"tournament {events[1].pk} cannot continue" in caplog.text
    assert "ZeroDivisionError" in caplog.text
