"""Services that change the same games at the same time: none of them ends the other by a deadlock.

On PostgreSQL, which ``test_postgresql.py`` uses for these tests too, one of the two holds a lock until the
other waits for it. SQLite has one lock for everything; there they run one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from tests.support.jobs import wait_until
from tests.support.schedule import (
    FakeBroker,
    make_tournament,
    make_user,
    make_version,
    make_workers,
    pass_exam,
    play_short,
    void,
    word_of,
)
from tests.support.threads import at_once
from tournament.models import Attempt, BotVersion, Exam, Game, Ladder, Tournament
from tournament.services.dispatch import dispatch
from tournament.services.dispatch.leases import renew
from tournament.services.dispatch.recalls import release_queued
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import cancel, extend, pause
from tournament.services.shares import charge
from tournament.services.uploads.stopping import stop_validation
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tournament(transactional_db: None, queues: FakeBroker) -> Tournament:
    make_workers()
    tournament = make_tournament(owner=make_user(), pairs=4)
    dispatch.fill_buffer()
    return tournament


@pytest.fixture
def jobs(tournament: Tournament, queues: FakeBroker) -> list[GameJob]:
    return queues.take()


class Other(threading.Thread):
    """Calls a service in a thread of its own; ``result`` is what it returned or raised."""

    result: Any = None

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__()
        self._call = call

    def run(self) -> None:
        try:
            self.result = self._call()
        except Exception as error:
            self.result = error
        finally:
            connections.close_all()

    def waits(self) -> bool:
        """Whether it is over, or some transaction waits for a lock."""
        if connection.vendor != "postgresql" or not self.is_alive():
            return True
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(cursor.fetchone()[0])


def meet(locked: Any, other_call: Callable[[], Any], call: Callable[[], Any]) -> Any:
    """Call ``call`` in a transaction that has locked these rows, while ``other_call`` waits for them."""
    other = Other(other_call)
    with transaction.atomic():
        list(locked.select_for_update(no_key=True))
        other.start()
        assert wait_until(other.waits)
        call()
    other.join()
    assert not isinstance(other.result, Exception), repr(other.result)
    return other.result


def test_a_void_report_and_a_cancellation(tournament: Tournament, jobs: list[GameJob]) -> None:
    """The report may not hold its attempt while it waits for the tournament."""
    report = void(next(play_short(jobs[0])))
    locked = Tournament.objects.filter(pk=tournament.pk)
    assert meet(locked, lambda: keeper.record(report), lambda: cancel(tournament)) == keeper.IgnoredReport(
        "late"
    )
    assert set(Game.objects.values_list("state", flat=True)) == {"cancelled"}


def test_a_progress_message_and_a_pause(tournament: Tournament, jobs: list[GameJob]) -> None:
    keeper.progress(word_of(jobs[0].games[0]))
    locked = Tournament.objects.filter(pk=tournament.pk)
    meet(locked, lambda: keeper.progress(word_of(jobs[0].games[1])), lambda: pause(tournament))
    assert not Attempt.objects.filter(ended_at=None).exists()


def test_a_result_and_more_games_of_its_ladder(tournament: Tournament, jobs: list[GameJob]) -> None:
    """New games refer to the ladder, whose row the result has locked."""
    report = next(play_short(jobs[0]))
    locked = Tournament.objects.filter(pk=tournament.pk)
    recorded = meet(locked, lambda: keeper.record(report), lambda: extend(tournament, 1))
    assert isinstance(recorded, keeper.Recorded)
    assert tournament.games.count() == 10
    assert Ladder.objects.get(pk="duploline").sequence == 1


def test_a_lease_that_is_renewed_waits_for_its_attempts_in_their_order(
    tournament: Tournament, jobs: list[GameJob]
) -> None:
    ids = [attempt.job for attempt in Attempt.objects.all()]
    last, first = Attempt.objects.order_by("-pk")[0], Attempt.objects.order_by("pk")[0]

    def end_the_last() -> None:
        assert release_queued(Attempt.objects.filter(pk=last.pk), timezone.now()) == 1

    meet(Attempt.objects.filter(pk=first.pk), lambda: renew(ids, timezone.now()), end_the_last)


def test_the_end_of_a_check_and_the_stop_of_its_validation(queues: FakeBroker) -> None:
    """The stop has read that there are no validation games, which the end of the check begins."""
    version = make_version(owner=make_user(), state=BotVersion.State.VALIDATING)
    exams = Exam.objects.filter(
        pk=Exam.objects.create(version=version, assigned="checker", sent_at=timezone.now()).pk
    )
    assert meet(
        exams,
        lambda: stop_validation(version, "its owner stopped it", timezone.now()),
        lambda: pass_exam(version),
    )
    version.refresh_from_db()
    assert version.state == BotVersion.State.REFUSED
    assert version.validation is not None
    assert version.validation.state == Tournament.State.CANCELLED
    assert set(version.validation.games.values_list("state", flat=True)) == {"cancelled"}


def test_owners_are_charged_in_one_order(tournament: Tournament) -> None:
    ada, bob = tournament.owner, make_user("bob")
    assert ada is not None
    now = timezone.now()
    calls = [lambda: charge({ada.pk: 1.0, bob.pk: 1.0}, now), lambda: charge({bob.pk: 1.0, ada.pk: 1.0}, now)]
    for _ in range(5):
        assert at_once(*calls * 2) == [None] * 4


def test_whatever_is_called_at_once_ends_without_a_deadlock(
    tournament: Tournament, jobs: list[GameJob]
) -> None:
    reports = [report for job in jobs for report in play_short(job)]
    results = at_once(
        lambda: keeper.record_all([reports[0], void(reports[1]), reports[2]]),
        lambda: keeper.record_all([void(reports[3]), reports[1]]),
        lambda: [keeper.progress(word_of(job.games[1])) for job in jobs],
        lambda: pause(tournament),
        dispatch.recall,
    )
    assert not [result for result in results if isinstance(result, Exception)]
    assert not Attempt.objects.filter(ended_at=None).exists()
    assert set(Game.objects.values_list("state", flat=True)) <= {"waiting", "done"}
