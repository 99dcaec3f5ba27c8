"""``/metrics``: who reads it, and that its values are those of the tables, the broker and the requests."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from engines import __version__
from engines.records import Fault, Termination
from engines.rules.base import Result
from tests.support.brokers import running_redis
from tests.support.schedule import FakeBroker, forfeit, make_tournament, make_user, play_all
from tournament import celery, queues, tasks
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.redis_server import broker_url
from tournament.models import Attempt, EventCount, Game, Keeper, OwnerShare, Tournament, Worker
from tournament.queues import BrokerState
from tournament.services import event_counts
from tournament.services.dispatch.attempts import give_back
from tournament.services.results import keeper
from workers.jobs import GameJob

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Deal = Callable[[], list[GameJob]]
TOKEN = "a token of tests"
QUERIES = 20
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
        keeper.record_all([forfeit(first), others[0]])
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
        keeper.record_all([void])
        give_back(Attempt.objects.get(pk=second.attempt), Attempt.End.LOST, timezone.now())
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


def test_a_task_that_fails_is_counted_and_a_sweep_stores_it(
    queues: FakeBroker,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of the test")

    monkeypatch.setattr(tasks, "verified_sender", lambda: "site")
    monkeypatch.setattr(tasks, "prune", fail)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.prune_tables.apply()
    tasks.sweep()
    assert read()["duarena_keeper_errors_total", "tournament.prune"] == 1


def test_waits_are_the_ages_of_the_oldest(deal: Deal) -> None:
    assert read()["duarena_oldest_waiting_game_seconds",] == 0
    make_tournament(ladders=["dogon-kulei"], pairs=2)
    deal()
    now = timezone.now()
    ages = [datetime.timedelta(seconds=seconds) for seconds in (100, 200, 300, 400, 500)]
    one, *_ = Attempt.objects.all()
    Attempt.objects.update(sent_at=now - ages[0])
    Attempt.objects.filter(pk=one.pk).update(started_at=now - ages[1], sent_at=now - ages[2])
    Game.objects.filter(pk=one.game_id).update(state="waiting", attempt=None)
    Tournament.objects.update(started_at=now - ages[3])
    OwnerShare.objects.update_or_create(owner=0, defaults={"waits_since": now - ages[4]})
    Keeper.objects.update_or_create(pk=1, defaults={"up_since": now, "seen_at": now - ages[2]})
    values = read()
    assert values["duarena_oldest_queued_seconds",] == pytest.approx(100, abs=30)
    assert values["duarena_longest_game_seconds",] == pytest.approx(200, abs=30)
    assert values["duarena_keeper_lag_seconds",] == pytest.approx(300, abs=30)
    assert values["duarena_oldest_waiting_game_seconds",] == pytest.approx(400, abs=30)
    assert values["duarena_owner_wait_seconds",] == pytest.approx(500, abs=30)
    assert values["duarena_attempts", "playing"] == 1


def test_workers_and_their_slots_are_counted_by_condition(deal: Deal, queues: FakeBroker) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    deal()
    worker = Worker.objects.filter(queue="games").first()
    assert worker is not None
    Worker.objects.filter(queue="games").exclude(pk=worker.pk).delete()
    Worker.objects.filter(pk=worker.pk).update(slots=4, busy=3)
    queues.lengths = {f"games.{worker.name}": 5, "records": 7}
    values = read()
    assert values["duarena_workers", "busy", "games"] == 1
    assert values["duarena_workers", "lost", "games"] == 0
    assert values["duarena_slots", "games", "all"] == 4
    assert values["duarena_slots", "games", "busy"] == 3
    assert values["duarena_queue_messages", "games"] == 5
    assert values["duarena_queue_messages", "records"] == 7
    Worker.objects.update(state="lost")
    values = read()
    assert values["duarena_workers", "lost", "games"] == 1
    assert ("duarena_slots", "games", "all") not in values


def test_without_redis_all_other_values_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "look_at_broker", lambda names: BrokerState({}, None, "does not answer"))
    values = read()
    assert values["duarena_redis_up",] == 0
    assert ("duarena_queue_messages", "records") not in values
    assert values["duarena_disk_free_bytes", "data"] > 0
    assert values["duarena_database_bytes",] > 0


def test_the_broker_is_read_in_one_step_and_its_absence_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import redis

    with running_redis() as socket, redis.Redis(unix_socket_path=str(socket)) as client:
        celery_at(broker_url(socket), monkeypatch)
        client.lpush("records", "1", "2")
        client.set("games.broken", "not a list")
        state = look_at_broker(["records", "games.broken", "games.empty"])
        assert not state.trouble
        assert state.lengths == {"records": 2, "games.empty": 0}
        assert state.memory
        assert state.memory > 0
    assert look_at_broker(["records"]).trouble == "does not answer"


@pytest.mark.parametrize("user", ["", ":wrong@", "somebody:wrong@"])
def test_a_redis_that_refuses_the_password_is_said_to_do_so(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_redis(None, "--requirepass", "right") as socket:
        celery_at(broker_url(socket).replace("://", f"://{user}"), monkeypatch)
        assert look_at_broker(["records"]).trouble.startswith("refuses the user or password of REDIS_URL (")


def celery_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from kombu import Connection

    monkeypatch.setattr(celery.app, "connection_for_write", lambda: Connection(url))


def test_requests_are_timed_by_page_and_kind_of_status() -> None:
    def counts(page: str, status: str) -> float:
        return read().get(("duarena_request_seconds_count", page, status), 0)

    before = counts("about", "2xx"), counts("none", "4xx"), counts("bot", "4xx")
    client = Client()
    client.get("/about/")
    client.get("/there/is/nothing/")
    client.get("/bots/nobody/")
    assert (counts("about", "2xx"), counts("none", "4xx"), counts("bot", "4xx")) == tuple(
        count + 1 for count in before
    )


def test_a_page_that_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def counts() -> float:
        return read().get(("duarena_request_seconds_count", "about", "5xx"), 0)

    before = counts()
    monkeypatch.setattr("tournament.views.site.site.list_families", lambda: 1 / 0)
    Client(raise_request_exception=False).get("/about/")
    assert counts() == before + 1


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
    assert described == exported | {"duarena_keeper_lag_seconds", "duarena_redis_memory_bytes"}
    assert set(re.findall(r"duarena_\w+?(?=_bucket|_count|_sum|\W)", page)) <= described
