"""What is asked and changed at the same moment: no game is taken twice, and nothing ends in a deadlock.

On PostgreSQL, which ``test_postgresql.py`` uses for these tests too, one of the two holds a lock until the
other waits for it. SQLite has one lock for everything; there they run one after the other.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone
from pytest_django import Settings

from tests.support.jobs import wait_until
from tests.support.schedule import (
    ask,
    begin_game,
    charge,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    news,
    pass_check,
    play_short,
    record,
    record_all,
    take_all,
    void,
)
from tests.support.threads import at_once
from tournament.models import Attempt, BotVersion, Game, Job, Ladder, Tournament, Worker
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import cancel, extend, pause
from tournament.services.stopping import release
from tournament.services.uploads.stopping import stop_validation
from tournament.services.uploads.validation import begin, record_news
from tournament.services.work.leases import renew
from workers.jobs import ComplianceEnding, GameJob

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(transactional_db: None) -> Worker:
    return make_worker(8)


@pytest.fixture
def tournament(worker: Worker) -> Tournament:
    return make_tournament(owner=make_user(), pairs=4)


@pytest.fixture
def jobs(tournament: Tournament) -> list[GameJob]:
    return [job for batch in take_all() for job in batch.jobs]


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

    def waits(self, beside: int = 0) -> bool:
        """Whether it is over, or some transaction waits for a lock ``beside`` so many others."""
        if connection.vendor != "postgresql" or not self.is_alive():
            return True
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return int(cursor.fetchone()[0]) > beside


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


def test_slots_that_ask_at_the_same_moment_get_different_games(
    tournament: Tournament, worker: Worker
) -> None:
    for _ in range(3):
        batches = at_once(*[partial(ask, worker, slot) for slot in range(8)])
        assert not [batch for batch in batches if isinstance(batch, Exception)], batches
        games = Counter(game.key for batch in batches if batch for job in batch.jobs for game in job.games)
        assert set(games.values()) <= {1}
        assert len(games) == 8
        assert sum(batch is not None for batch in batches) == 4
        assert Attempt.objects.filter(ended_at=None).count() == 8
        release(Job.objects.all(), timezone.now())


def test_slots_that_ask_at_the_same_moment_leave_one_free_of_long_games(
    worker: Worker, settings: Settings
) -> None:
    settings.MAX_GAME_MINUTES = 0
    for number in range(8):
        make_tournament(name=f"Long {number}", owner=make_user(f"user{number}"), time_control="9999+0")
    for _ in range(3):
        batches = at_once(*[partial(ask, worker, slot) for slot in range(8)])
        assert not [batch for batch in batches if isinstance(batch, Exception)], batches
        held = Job.objects.held().count()
        assert 1 <= held <= 7
        assert [ask(worker, slot) for slot in range(8)].count(None) >= 1
        assert Job.objects.held().count() == 7
        release(Job.objects.all(), timezone.now())


def test_an_ask_that_is_repeated_at_the_same_moment_leaves_one_batch(
    tournament: Tournament, worker: Worker
) -> None:
    name = str(uuid.uuid4())
    batches = at_once(*[partial(ask, worker, 0, ask_id=name, holds=())] * 4)
    assert not [batch for batch in batches if isinstance(batch, Exception)], batches
    last = ask(worker, 0, ask_id=name, holds=())
    assert set(batches) == {last}
    assert Job.objects.held().count() == 1


def test_a_void_report_and_a_cancellation(tournament: Tournament, jobs: list[GameJob]) -> None:
    """The report may not hold its attempt while it waits for the tournament."""
    report = void(next(play_short(jobs[0])))
    locked = Tournament.objects.filter(pk=tournament.pk)
    assert meet(locked, lambda: record(report), lambda: cancel(tournament)) == keeper.IgnoredReport("late")
    assert set(Game.objects.values_list("state", flat=True)) == {"cancelled"}


def test_a_progress_message_and_a_pause(tournament: Tournament, jobs: list[GameJob]) -> None:
    begin_game(jobs[0].games[0])
    locked = Tournament.objects.filter(pk=tournament.pk)
    meet(locked, lambda: begin_game(jobs[0].games[1]), lambda: pause(tournament))
    assert not Attempt.objects.filter(ended_at=None).exists()


def test_a_result_and_more_games_of_its_ladder(tournament: Tournament, jobs: list[GameJob]) -> None:
    """New games refer to the ladder, whose row the result has locked."""
    report = next(play_short(jobs[0]))
    locked = Tournament.objects.filter(pk=tournament.pk)
    recorded = meet(locked, lambda: record(report), lambda: extend(tournament, 1))
    assert isinstance(recorded, keeper.Recorded)
    assert tournament.games.count() == 10
    assert Ladder.objects.get(pk="duploline").sequence == 1


def test_a_lease_that_is_renewed_and_the_release_of_its_job(
    tournament: Tournament, jobs: list[GameJob]
) -> None:
    held = Job.objects.filter(pk=jobs[0].job)
    held.update(lease_until=timezone.now())

    def give_up() -> None:
        assert len(release(held, timezone.now())) == 1

    meet(held, lambda: renew(Job.objects.get(pk=jobs[0].job), timezone.now()), give_up)


def test_the_end_of_a_check_and_the_stop_of_its_validation() -> None:
    """The stop has read that there are no validation games, which the end of the check begins."""
    version = make_version(owner=make_user(), state=BotVersion.State.VALIDATING)
    begin(version, timezone.now())
    assert ask(make_worker(name="checker", takes="checks"))
    assert meet(
        Job.objects.filter(version=version),
        lambda: stop_validation(version, "its owner stopped it", timezone.now()),
        lambda: pass_check(version),
    )
    version.refresh_from_db()
    assert version.state == BotVersion.State.REFUSED
    assert version.validation is not None
    assert version.validation.state == Tournament.State.CANCELLED
    assert set(version.validation.games.values_list("state", flat=True)) == {"cancelled"}


def test_news_of_a_check_and_the_stop_of_its_validation_end_without_a_deadlock() -> None:
    """The stop has found the check, and waits for its version, when the news come."""
    version = make_version(owner=make_user(), state=BotVersion.State.VALIDATING)
    begin(version, timezone.now())
    assert ask(make_worker(name="checker", takes="checks"))
    told = news(version, ComplianceEnding.FAILED, why="no room")
    stop = Other(lambda: stop_validation(version, "its owner stopped it", timezone.now()))
    hear = Other(lambda: record_news(told, timezone.now()))
    with transaction.atomic():
        list(BotVersion.objects.filter(pk=version.pk).select_for_update(no_key=True))
        stop.start()
        assert wait_until(stop.waits)
        hear.start()
        assert wait_until(lambda: hear.waits(beside=1))
    stop.join()
    hear.join()
    assert (stop.result, hear.result) in {(True, False), (True, True)}
    version.refresh_from_db()
    assert version.state == BotVersion.State.REFUSED
    assert not Job.objects.held().exists()


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
        lambda: record_all([reports[0], void(reports[1]), reports[2]]),
        lambda: record_all([void(reports[3]), reports[1]]),
        lambda: [begin_game(job.games[1]) for job in jobs],
        lambda: pause(tournament),
        lambda: [ask(slot=slot, holds=()) for slot in range(8)],
    )
    assert not [result for result in results if isinstance(result, Exception)]
    assert not Attempt.objects.filter(ended_at=None).exists()
    assert set(Game.objects.values_list("state", flat=True)) <= {"waiting", "done"}
