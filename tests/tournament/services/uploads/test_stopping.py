"""A validation that is stopped: its check and its games end, and the version is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    OnCommit,
    ask,
    make_user,
    make_version,
    make_worker,
    news,
    pack_bot,
    post,
    start_validation,
)
from tournament.models import BotVersion, Exam, Game
from tournament.services.fair_share import used_today
from tournament.services.locks import lock_row, lock_tournaments
from tournament.services.uploads import stopping, validation
from tournament.services.uploads.stopping import stop_validation
from tournament.services.uploads.submission import submit_bundle

pytestmark = pytest.mark.django_db
State = BotVersion.State


def test_a_running_check_is_stopped_and_later_news_of_it_ignored(
    settings: Settings, on_commit: OnCommit
) -> None:
    settings.TRUST_UPLOADS = True
    checker = make_worker(name="checker", takes="checks")
    user = make_user()
    with on_commit():
        version = submit_bundle(user, pack_bot())
    assert ask(checker) is not None
    later = news(version)
    with on_commit():
        assert stop_validation(version, "its owner stopped its validation", timezone.now())
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (State.REFUSED, "its owner stopped its validation")
    exam = version.exams.get()
    assert (exam.end, exam.ended_at is None) == (Exam.End.RETURNED, False)
    assert post(str(exam.pk)).stop == (str(exam.pk),)
    assert not version.bundle.path.exists()
    now = timezone.now()
    assert used_today(user, now, is_validation=True) > 0
    assert used_today(user, now) == 0
    assert not validation.record_news(later, timezone.now())
    assert not stop_validation(version, "again", timezone.now())
    assert ask(checker) is None


def test_the_games_of_a_stopped_validation_are_cancelled() -> None:
    version = make_version(owner=make_user(), state=State.VALIDATING)
    begun = start_validation(version)
    version.refresh_from_db()
    assert stop_validation(version, "its owner stopped its validation", timezone.now())
    begun.refresh_from_db()
    assert begun.state == "cancelled"
    assert set(begun.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert BotVersion.objects.get(pk=version.pk).state == State.REFUSED


@pytest.mark.parametrize("state", [State.VALID, State.WITHDRAWN, State.REFUSED])
def test_a_version_that_is_not_validated_stays_as_it_is(state: BotVersion.State) -> None:
    version = make_version(owner=make_user(), state=state)
    assert not stop_validation(version, "no", timezone.now())
    assert BotVersion.objects.get(pk=version.pk).state == state


def test_validation_games_that_begin_at_the_moment_of_the_stop_are_cancelled_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check ends after the stop has read which games there are, and before it locks the version."""
    version = make_version(owner=make_user(), state=State.VALIDATING)
    begun = start_validation(version)
    reads: list[int | None] = []

    def lock_what_is_known(games: list[int]) -> None:
        reads.append(games[0] if games else None)
        lock_tournaments(games)

    def lock_with_a_newer_validation(rows: Any, pk: int) -> Any:
        locked = lock_row(rows, pk)
        if len(reads) == 1:
            locked.validation_id = begun.pk + 1
        return locked

    monkeypatch.setattr(stopping, "lock_tournaments", lock_what_is_known)
    monkeypatch.setattr(stopping, "lock_row", lock_with_a_newer_validation)
    assert stop_validation(version, "its owner stopped its validation", timezone.now())
    assert reads == [begun.pk, begun.pk]
    assert set(begun.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert BotVersion.objects.get(pk=version.pk).state == State.REFUSED
