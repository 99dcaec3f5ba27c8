"""``/metrics``: who reads it, and that its values are those of the tables, of Redis and of the requests."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import redis
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from engines import __version__
from engines.records import Fault, Termination
from engines.rules.base import Result
from tests.support.brokers import running_redis
from tests.support.exchanges import get
from tests.support.schedule import forfeit, make_tournament, make_user, play_all, post, record_all
from tests.tournament.conftest import FakeRedis
from tournament import celery, queues, tasks
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.redis_server import broker_url
from tournament.http.application import _note
from tournament.models import (
    Act,
    Attempt,
    EventCount,
    Game,
    InboxReport,
    Keeper,
    Tournament,
    Worker,
)
from tournament.services import event_counts
from tournament.services.accounts.acts import BACKUP, record_act
from tournament.services.work.attempts import end_attempt
from workers.jobs import GameJob
from workers.service.broker import KEEPER, open_redis

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Deal = Callable[[], list[GameJob]]
TOKEN = "a token of tests"
QUERIES = 27
look_at_broker = queues.look_at_broker


@pytest.fixture(autouse=True)
def _fresh(settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    event_counts.store_counts()
    EventCount.objects.all().delete()


def read() -> dict[tuple[str, ...], float]:
    """The samples: their name and the values of their labels, in the order of the labels' names."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_only_the_token_opens_the_metrics(settings: Settings) -> None:
    def status(header: str) -> int:
        return Client().get("/metrics", headers={"Authorization": header}).status_code

    assert status(f"Bearer {TOKEN}") == status(f"bearer {TOKEN} ") == 200
    assert status("Bearer other") == status(TOKEN) == status(f"Basic {TOKEN}") == 404
    settings.METRICS_TOKEN = ""
    assert status("Bearer ") == status("Bearer") == status(f"Bearer {TOKEN}") == 404


def test_an_address_with_the_token_is_not_stored_by_caches() -> None:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert "no-store" in answer["Cache-Control"]
    assert answer["Content-Type"].startswith("text/plain; version=")


def test_games_are_counted_by_state_and_by_the_way_they_ended(
    deal: Deal, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=4)
    first, *others = [report for job in deal() for report in play_all(job)]
    with django_capture_on_commit_callbacks(execute=True):
        record_all([forfeit(first), others[0]])
    event_counts.store_counts()
    values = read()
    assert values["duarena_games_recorded_total", "dogon-kulei"] == 2
    assert values["duarena_games_ended_total", str(Termination.TIME)] == 1
    assert values["duarena_games_ended_total", str(others[0].termination)] == 1
    assert values["duarena_games", "claimed"] == Game.objects.filter(state="claimed").count() > 0
    assert values["duarena_games", "waiting"] == Game.objects.filter(state="waiting").count()
    assert values["duarena_info", __version__] == 1


def test_a_void_and_a_lost_lease_are_counted_by_the_end_of_the_attempt(
    deal: Deal, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=2)
    first, second, *_ = [report for job in deal() for report in play_all(job)]
    void = replace(
        first, result=Result.UNDECIDED, termination=Termination.VOID, fault=Fault.INFRASTRUCTURE, moves=()
    )
    with django_capture_on_commit_callbacks(execute=True):
        record_all([void])
        end_attempt(Attempt.objects.get(pk=second.attempt), Attempt.End.LOST, timezone.now())
    event_counts.store_counts()
    values = read()
    assert values["duarena_attempts_failed_total", "void"] == 1
    assert values["duarena_attempts_failed_total", "lost"] == 1


def test_what_was_counted_is_stored_once(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        event_counts.count_event(EventCount.Kind.ERROR, "tournament.sweep", 2)
    event_counts.store_counts()
    event_counts.store_counts()
    assert read()["duarena_keeper_errors_total", "tournament.sweep"] == 2


def test_answers_that_are_errors_of_the_site_are_counted_by_status_without_the_health_check() -> None:
    for path, status in (("/a/", 500), ("/b/", 503), ("/c/", 503), ("/d/", 404), ("/healthz", 503)):
        _note(get(path).scope, HttpResponse(status=status), 0.0)
    event_counts.store_counts()
    values = read()
    assert values["duarena_server_errors_total", "500"] == 1
    assert values["duarena_server_errors_total", "503"] == 2
    assert ("duarena_server_errors_total", "404") not in values


def test_the_age_of_the_last_backup_is_known_once_there_is_one() -> None:
    assert ("duarena_backup_age_seconds",) not in read()
    record_act(None, "wrote a backup", "file a.zip", command=BACKUP)
    Act.objects.update(at=timezone.now() - datetime.timedelta(hours=5))
    assert read()["duarena_backup_age_seconds",] == pytest.approx(5 * 3600, abs=30)


def test_a_task_that_fails_is_counted(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("a fault of the test")

    monkeypatch.setattr(tasks.RESTED[-1], "run", fail)
    monkeypatch.setattr(tasks.RESTED[-1], "due_at", 0.0)
    with django_capture_on_commit_callbacks(execute=True):
        celery.app.tasks["tournament.prune"].apply()
    event_counts.store_counts()
    assert read()["duarena_keeper_errors_total", "prune"] == 1


def test_waits_are_the_ages_of_the_oldest(deal: Deal) -> None:
    assert read()["duarena_idle_wait_seconds",] == 0
    make_tournament(ladders=["dogon-kulei"], pairs=3)
    first, *_ = deal()
    post(str(Attempt.objects.get(pk=first.games[0].attempt).job_id), reports=tuple(play_all(first)))
    now = timezone.now()
    ages = [datetime.timedelta(seconds=seconds) for seconds in (100, 200, 300, 500)]
    one, two, *_ = Attempt.objects.filter(reported_at__isnull=True)
    InboxReport.objects.update(received_at=now - ages[0])
    Attempt.objects.filter(pk=one.pk).update(started_at=now - ages[1])
    Game.objects.filter(pk=two.game_id).update(state="waiting", attempt=None)
    Keeper.objects.update_or_create(pk=1, defaults={"seen_at": now - ages[2]})
    values = read()
    assert values["duarena_oldest_report_seconds",] == pytest.approx(100, abs=30)
    assert values["duarena_longest_game_seconds",] == pytest.approx(200, abs=30)
    assert values["duarena_keeper_silence_seconds",] == pytest.approx(300, abs=30)
    assert values["duarena_idle_wait_seconds",] == 0
    assert values["duarena_attempts", "playing"] == 1
    reported = Attempt.objects.filter(reported_at__isnull=False).count()
    assert values["duarena_attempts", "reported"] == values["duarena_inbox_reports",] == reported > 0
    Attempt.objects.update(ended_at=now, end=Attempt.End.RELEASED, sent_at=now - ages[3])
    Tournament.objects.update(started_at=now - ages[3] - ages[3])
    assert read()["duarena_idle_wait_seconds",] == pytest.approx(500, abs=30)
    assert values["duarena_attempts", "taken"] == Attempt.objects.count() - reported - 1


def test_workers_and_their_slots_are_counted_by_condition(deal: Deal, broker: FakeRedis) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    deal()
    Worker.objects.update(slots=4, busy=3)
    broker.lengths = {"games": 5, KEEPER: 1}
    values = read()
    assert values["duarena_workers", "busy", "games"] == 1
    assert ("duarena_workers", "lost", "games") not in values
    assert values["duarena_slots", "all", "games"] == 4
    assert values["duarena_slots", "busy", "games"] == 3
    assert values["duarena_messages", "games"] == 5
    assert values["duarena_messages", KEEPER] == 1
    Worker.objects.update(state="lost")
    values = read()
    assert values["duarena_workers", "lost", "games"] == 1
    assert ("duarena_slots", "all", "games") not in values


def test_without_redis_all_other_values_are_there(broker: FakeRedis) -> None:
    broker.is_away = True
    values = read()
    assert values["duarena_redis_up",] == 0
    assert ("duarena_messages", KEEPER) not in values
    assert values["duarena_disk_free_bytes", "data"] > 0
    assert values["duarena_database_bytes",] > 0


def test_redis_is_read_in_one_step_and_its_absence_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_redis() as socket:
        client = redis_at(broker_url(socket), monkeypatch)
        client.lpush("look", "1", "2")
        client.set("broken", "not a list")
        state = look_at_broker(["look", "broken", "empty"])
        assert not state.trouble
        assert state.lengths == {"look": 2, "empty": 0}
        assert state.memory
        assert state.memory > 0
    assert look_at_broker(["look"]).trouble == "does not answer"


@pytest.mark.parametrize("user", ["", ":wrong@", "somebody:wrong@"])
def test_a_redis_that_refuses_the_password_is_said_to_do_so(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_redis(None, "--requirepass", "right") as socket:
        redis_at(broker_url(socket).replace("://", f"://{user}"), monkeypatch)
        assert look_at_broker(["look"]).trouble.startswith("refuses the user or password of REDIS_URL (")


def redis_at(url: str, monkeypatch: pytest.MonkeyPatch) -> redis.Redis:
    """Let the site use this Redis."""
    client = open_redis(url)
    monkeypatch.setattr(queues, "_client", lambda: client)
    return client


def test_the_number_of_queries_does_not_depend_on_the_number_of_games(
    deal: Deal, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_user("ada")
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    deal()
    for number in range(2):
        with django_assert_num_queries(QUERIES):
            read()
        make_tournament(ladders=["dogon-kulei"], pairs=8, name=f"more {number}")
        deal()


def test_every_metric_is_in_the_documents() -> None:
    page = (ROOT / "docs/monitoring.md").read_text()
    described = set(re.findall(r"^\| `(duarena_\w+)`", page, re.MULTILINE))
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)", answer.content.decode(), re.MULTILINE))
    exported = {name for name, kind in kinds.items() if not name.endswith("_created")}
    assert described == exported | {
        "duarena_backup_age_seconds",
        "duarena_keeper_silence_seconds",
        "duarena_redis_memory_bytes",
    }
    assert set(re.findall(r"duarena_\w+?(?=_bucket|_count|_sum|\W)", page)) <= described
