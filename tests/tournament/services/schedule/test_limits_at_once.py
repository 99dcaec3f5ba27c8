"""Limits of an account when several requests come at the same time, with a database in a file."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.support.schedule import make_tournament, make_user, make_version
from tests.support.threads import at_once
from tournament.models import Tournament
from tournament.services.schedule.limits import LimitError
from tournament.services.schedule.tournaments import extend, pause, resume, start

pytestmark = pytest.mark.django_db(transaction=True)
State = Tournament.State


def refused(results: list[object]) -> int:
    assert all(result is None or isinstance(result, (LimitError, Tournament)) for result in results), results
    return sum(isinstance(result, LimitError) for result in results)


def test_requests_at_once_pass_no_limit_together(settings: Settings) -> None:
    user = make_user()
    versions = [make_version(name) for name in ("Ada", "Bob")]

    def draft() -> Tournament:
        return make_tournament(owner=user, versions=versions, running=False)

    settings.MAX_DRAFTS = 3
    assert refused(at_once(*[draft] * 6)) == 3
    settings.MAX_RUNNING = 1
    drafts = list(Tournament.objects.filter(state=State.DRAFT))
    assert refused(at_once(*[lambda one=one: start(one) for one in drafts])) == 2
    settings.MAX_RUNNING = 3
    for one in Tournament.objects.filter(state=State.DRAFT):
        start(one)
    for one in Tournament.objects.running():
        pause(one)
    settings.MAX_RUNNING = 1
    paused = list(Tournament.objects.filter(state=State.PAUSED))
    assert refused(at_once(*[lambda one=one: resume(one) for one in paused])) == 2
    Tournament.objects.update(state=State.FINISHED)
    ended = list(Tournament.objects.all())
    assert refused(at_once(*[lambda one=one: extend(one, 1) for one in ended])) == 2
