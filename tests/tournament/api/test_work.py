"""The door for workers: heartbeats, asks for work, and posts of what slots have."""

from __future__ import annotations

import datetime
import gzip
import time
import uuid
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
import redis
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.brokers import announced, kill_redis
from tests.support.door import DoorWorker, make_token
from tests.support.schedule import OnCommit, make_tournament, make_user, play_short
from tests.tournament.conftest import FakeRedis
from tournament.api import work as work_views
from tournament.api import workers as worker_views
from tournament.api.workers import TokenBuckets
from tournament.models import Attempt, Game, Ignored, InboxReport, LiveGame, Token, Worker
from tournament.queues import ANY_GAME, CLOSELY_MS, WATCHED, game_topic
from tournament.services.accounts.tokens import find_token, revoke
from tournament.services.results import inbox
from tournament.services.results.keeper import record_inbox
from tournament.services.schedule import tournaments
from tournament.services.work import live_games
from tournament.services.work.judging import quarantine
from tournament.services.work.workers import FORGOTTEN_AFTER, LOST_AFTER
from workers.jobs import PROTOCOL, Batch, GameReport, JobGame, Work
from workers.messages import decode

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> DoorWorker:
    return DoorWorker()


@pytest.fixture
def batch(worker: DoorWorker) -> Batch:
    """A pair of games that the worker has taken."""
    make_tournament(ladders=["dogon-kulei"])
    return worker.take()


def refused(worker: DoorWorker, status: int, path: str, body: object, **headers: str) -> str:
    """The sentence of an answer with this status."""
    answer = worker.send(path, body, **headers)
    assert answer.status_code == status, answer.content
    told = answer.json()
    assert not told["ok"]
    return str(told["error"])


def ignored() -> dict[str, int]:
    return dict(Ignored.objects.values_list("reason", "count"))


def reports(batch: Batch) -> list[GameReport]:
    return [report for job in batch.jobs for report in play_short(job)]


# Asks


def test_a_slot_takes_a_batch_plays_it_and_the_games_are_recorded(worker: DoorWorker, batch: Batch) -> None:
    answer = worker.post(batch.job, reports=tuple(reports(batch)))
    assert answer.stop == ()
    assert not record_inbox(1)
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert not InboxReport.objects.exists()
    assert worker.ask() is None


def test_a_worker_sends_a_heartbeat_before_it_asks(worker: DoorWorker) -> None:
    assert "no heartbeat" in refused(worker, 403, "/api/work/", worker.new_ask())


def test_another_run_a_lost_worker_and_other_work_are_refused(worker: DoorWorker) -> None:
    worker.beat()
    path = "/api/work/"
    other = worker.new_ask(run=str(uuid.uuid4()))
    assert "started again" in refused(worker, 403, path, other)
    checks = worker.new_ask(takes=(Work.CHECKS,))
    assert "does not take that kind of work" in refused(worker, 403, path, checks)
    Worker.objects.update(state="lost")
    assert "send a heartbeat first" in refused(worker, 403, path, worker.new_ask())


def test_no_slot_gets_work_while_too_many_reports_wait(
    worker: DoorWorker, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_views, "MAX_WAITING", 1)
    first, second = reports(batch)
    worker.post(batch.job, reports=(first,))
    make_tournament(ladders=["dogon-kulei"], name="more")
    assert worker.ask(holds=(batch.job,)) is not None
    worker.post(batch.job, reports=(second,))
    answer = worker.send("/api/work/", worker.new_ask(holds=(batch.job,)))
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    record_inbox(1)
    assert worker.send("/api/work/", worker.new_ask()).status_code in {200, 204}


def test_an_ask_that_finds_nothing_takes_few_queries_and_writes_nothing(
    worker: DoorWorker, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    worker.beat()
    worker.ask()
    with django_assert_max_num_queries(14) as queries:
        assert worker.ask() is None
    assert not [q for q in queries.captured_queries if q["sql"].split()[0] in {"INSERT", "UPDATE", "DELETE"}]


# Posts


def test_a_report_is_in_the_inbox_once_its_attempt_is_marked_as_reported(
    worker: DoorWorker, batch: Batch, broker: FakeRedis
) -> None:
    first, _ = reports(batch)
    worker.post(batch.job, reports=(first,))
    attempt = Attempt.objects.get(pk=first.attempt)
    assert attempt.reported_at is not None
    assert attempt.started_at is not None
    row = InboxReport.objects.get()
    assert str(row.attempt_id) == first.attempt
    assert decode(GameReport, row.content) == first
    assert broker.lengths == {"keeper": 1}


def test_both_or_neither_are_stored(
    worker: DoorWorker, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database or disk is full")

    first, _ = reports(batch)
    with monkeypatch.context() as patch:
        patch.setattr(inbox, "insert_rows", fail)
        post = worker.new_post(reports=(first,))
        answer = worker.send(f"/api/work/{batch.job}/", post)
    assert answer.status_code == 503
    assert not Attempt.objects.filter(reported_at__isnull=False).exists()
    assert not InboxReport.objects.exists()
    worker.post(batch.job, reports=(first,))
    assert InboxReport.objects.count() == 1


def test_repeats_late_and_foreign_reports_change_nothing_and_are_answered_as_done(
    worker: DoorWorker, batch: Batch
) -> None:
    first, second = reports(batch)
    worker.post(batch.job, reports=(first, first))
    worker.post(batch.job, reports=(first,))
    assert ignored() == {"repeat": 2}
    record_inbox(1)
    worker.post(batch.job, reports=(first,))
    assert ignored() == {"repeat": 3}
    worker.post(batch.job, reports=(replace(second, key=first.key), replace(second, worker="players@west/1")))
    worker.post(str(uuid.uuid4()), reports=(second,))
    assert ignored() == {"repeat": 3, "foreign": 3}
    worker.post(batch.job, returned=(second.attempt,))
    answer = worker.post(batch.job, reports=(second,))
    assert ignored() == {"repeat": 3, "foreign": 3, "late": 1}
    assert answer.stop == (second.attempt,)
    assert not InboxReport.objects.exists()
    assert sorted(Game.objects.values_list("state", flat=True)) == ["done", "waiting"]


def test_a_worker_reports_no_game_of_another(batch: Batch) -> None:
    other = DoorWorker(name="players@west")
    other.beat()
    told = [replace(report, worker="players@west/1") for report in reports(batch)]
    answer = other.post(batch.job, reports=tuple(told), returned=(told[0].attempt,))
    assert ignored() == {"foreign": 2}
    assert set(Game.objects.values_list("state", flat=True)) == {"claimed"}
    assert batch.job in answer.stop
    assert {report.attempt for report in told} <= set(answer.stop)


# Progress


def live() -> tuple[str, ...]:
    return tuple(token for token, _ in LiveGame.objects.get().moves)


def age_live() -> None:
    LiveGame.objects.update(updated_at=timezone.now() - timedelta(seconds=5))


def test_progress_is_merged_by_its_first_ply(worker: DoorWorker, batch: Batch) -> None:
    game = batch.jobs[0].games[0]
    assert worker.post(batch.job, progress=worker.progress(game)).known == 0
    started = Attempt.objects.get(pk=game.attempt).started_at
    assert started is not None
    age_live()
    assert worker.post(batch.job, progress=worker.progress(game, "a", "b")).known == 2
    age_live()
    assert worker.post(batch.job, progress=worker.progress(game, "x", "c", "d", from_ply=1)).known == 4
    assert live() == ("a", "b", "c", "d")
    age_live()
    assert worker.post(batch.job, progress=worker.progress(game, "f", from_ply=5)).known == 4
    assert live() == ("a", "b", "c", "d")
    assert Attempt.objects.get(pk=game.attempt).started_at == started


def test_a_live_game_is_written_at_most_once_a_second(worker: DoorWorker, batch: Batch) -> None:
    game = batch.jobs[0].games[0]
    worker.post(batch.job, progress=worker.progress(game, "a"))
    assert worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1)).known == 1
    assert live() == ("a",)
    age_live()
    assert worker.post(batch.job, progress=worker.progress(game, "b", "c", from_ply=1)).known == 3


def watch(client: redis.Redis, *games: JobGame) -> None:
    """Let a process of the server say that it shows these games."""
    topics = [game_topic(Attempt.objects.get(pk=game.attempt).game_id) for game in games]
    client.zadd(WATCHED, dict.fromkeys(topics, time.time()))


def test_a_watched_game_is_written_several_times_a_second_and_its_slot_is_told(
    worker: DoorWorker, batch: Batch, real_redis: redis.Redis
) -> None:
    game, other = batch.jobs[0].games
    watch(real_redis, other)
    assert worker.post(batch.job, progress=worker.progress(game, "a")).pace_ms == 0
    watch(real_redis, game)
    LiveGame.objects.update(updated_at=timezone.now())
    answer = worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1))
    assert (answer.known, answer.pace_ms) == (1, CLOSELY_MS)
    LiveGame.objects.update(updated_at=timezone.now() - datetime.timedelta(milliseconds=CLOSELY_MS))
    answer = worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1))
    assert (answer.known, answer.pace_ms) == (2, CLOSELY_MS)


def test_without_redis_a_game_is_written_once_a_second(
    worker: DoorWorker, batch: Batch, real_redis: redis.Redis
) -> None:
    game = batch.jobs[0].games[0]
    watch(real_redis, game)
    assert worker.post(batch.job, progress=worker.progress(game, "a")).pace_ms == CLOSELY_MS
    kill_redis(real_redis)
    LiveGame.objects.update(updated_at=timezone.now() - live_games.SHOWN_EVERY / 2)
    answer = worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1))
    assert (answer.known, answer.pace_ms) == (1, 0)
    age_live()
    assert worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1)).known == 2


def test_a_game_is_announced_when_its_page_changes_and_to_lists_when_it_begins(
    worker: DoorWorker, batch: Batch, real_redis: redis.Redis
) -> None:
    game = batch.jobs[0].games[0]
    topic = game_topic(Attempt.objects.get(pk=game.attempt).game_id)
    with announced(real_redis) as begun:
        worker.post(batch.job, progress=worker.progress(game, "a"))
    with announced(real_redis) as too_soon:
        worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1))
    age_live()
    with announced(real_redis) as later:
        worker.post(batch.job, progress=worker.progress(game, "b", from_ply=1))
    assert (begun, too_soon, later) == ({topic, ANY_GAME}, set(), {topic})


def test_progress_of_an_ended_or_reported_game_is_not_shown(worker: DoorWorker, batch: Batch) -> None:
    one, two = batch.jobs[0].games
    worker.post(batch.job, returned=(one.attempt,))
    answer = worker.post(batch.job, progress=worker.progress(one, "a"))
    assert answer.stop == (one.attempt,)
    worker.post(batch.job, reports=tuple(reports(batch)[1:]))
    worker.post(batch.job, progress=worker.progress(two, "a"))
    worker.post(batch.job, progress=replace(worker.progress(two, "a"), key=one.key))
    assert not LiveGame.objects.exists()


def test_long_and_nasty_progress_is_cleaned_and_bounded(
    worker: DoorWorker, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_games, "MAX_LIVE_MOVES", 3)
    game = batch.jobs[0].games[0]
    moves = worker.progress(game, "a\x00b", "x" * 1000, "c", "d")
    worker.post(batch.job, progress=replace(moves, white_ms=2**62, black_ms=-(2**62)))
    first, second, _ = live()
    assert "\x00" not in first
    assert len(second) == live_games.MAX_TOKEN


# Stop


def test_the_next_answer_after_a_cancellation_says_stop(worker: DoorWorker, batch: Batch) -> None:
    worker.post(batch.job, progress=worker.progress(batch.jobs[0].games[0]))
    tournaments.cancel(Game.objects.all()[0].tournament)
    answer = worker.post(batch.job, progress=worker.progress(batch.jobs[0].games[0], "a"))
    assert set(answer.stop) == {game.attempt for game in batch.jobs[0].games}


def test_a_quarantined_worker_gets_no_work_and_stops_what_it_has(worker: DoorWorker, batch: Batch) -> None:
    first, second = reports(batch)
    quarantine(Worker.objects.get(), "stan quarantined it", timezone.now())
    answer = worker.post(batch.job, reports=(first,))
    assert answer.stop == (second.attempt,)
    assert sorted(Game.objects.values_list("state", flat=True)) == ["claimed", "waiting"]
    record_inbox(1)
    assert sorted(Game.objects.values_list("state", flat=True)) == ["done", "waiting"]
    sentence = refused(worker, 403, "/api/work/", worker.new_ask())
    assert sentence == "Stan quarantined it."
    admission = worker.beat()
    assert not admission.admitted
    assert admission.why == "stan quarantined it"


def test_a_barred_worker_gives_its_games_back(worker: DoorWorker, batch: Batch, on_commit: OnCommit) -> None:
    DoorWorker(name="players@west").beat()
    with on_commit():
        admission = worker.beat(level="C", refusal="it has no sandbox")
    assert admission.why == "it does not run uploaded bots, and others do: it has no sandbox"
    assert set(Game.objects.values_list("state", flat=True)) == {"waiting"}
    answer = worker.post(batch.job)
    assert set(answer.stop) == {game.attempt for game in batch.jobs[0].games}


# Who may come


def test_a_name_belongs_to_a_user_also_while_the_worker_restarts(
    worker: DoorWorker, batch: Batch, on_commit: OnCommit
) -> None:
    other = DoorWorker(token=make_token(make_user("eve", staff=True)))
    for stopping in (False, True):
        with on_commit():
            worker.beat(stopping=stopping)
        sentence = refused(other, 403, "/api/workers/", other.heartbeat())
        assert sentence == (
            "The name players@east belongs to a token of stan: revoke that, or take another name."
        )
    Worker.objects.update(seen_at=timezone.now() - 2 * FORGOTTEN_AFTER)
    assert other.beat().admitted


def test_a_name_belongs_to_a_token_while_its_worker_is_up(
    worker: DoorWorker, batch: Batch, on_commit: OnCommit
) -> None:
    other = DoorWorker(token=make_token())
    sentence = refused(other, 403, "/api/workers/", other.heartbeat())
    assert sentence == "Another token runs the worker players@east."
    assert "no heartbeat" in refused(other, 403, f"/api/work/{batch.job}/", other.new_post())
    Worker.objects.update(seen_at=timezone.now() - 2 * LOST_AFTER)
    with on_commit():
        assert other.beat().admitted
    assert set(Game.objects.values_list("state", flat=True)) == {"waiting"}
    assert "Another token" in refused(worker, 403, "/api/workers/", worker.heartbeat())


def test_the_name_of_a_revoked_token_is_free_at_once(worker: DoorWorker) -> None:
    worker.beat()
    other = DoorWorker(token=make_token(make_user("eve", staff=True)))
    token = find_token(worker.token, timezone.now())
    assert token is not None
    revoke(token)
    assert other.beat().admitted
    assert worker.send("/api/workers/", worker.heartbeat()).status_code == 401


def test_the_last_heartbeat_of_a_former_run_changes_nothing(worker: DoorWorker) -> None:
    worker.beat()
    old = worker.heartbeat(run=str(uuid.uuid4()), stopping=True)
    assert worker.send("/api/workers/", old).status_code == 200
    assert Worker.objects.get().state == "up"
    assert Worker.objects.get().run == worker.run


@pytest.mark.parametrize(
    "name", ["players", "@east", "a b@east", "players@ea\x00st", "x" * 100 + "@east", ""]
)
def test_a_name_that_no_worker_can_have_is_refused(name: str, worker: DoorWorker) -> None:
    sentence = refused(worker, 403, "/api/workers/", worker.heartbeat(worker=name))
    assert "is not the name of a worker" in sentence
    refused(worker, 403, "/api/work/", worker.new_ask(worker=name))


def test_another_protocol_is_refused_with_the_sentence_and_the_number_of_the_site(worker: DoorWorker) -> None:
    for path in ("/api/workers/", "/api/work/", f"/api/work/{uuid.uuid4()}/"):
        answer = worker.send(path, b"", **{"Duarena-Protocol": "2"})
        assert answer.status_code == 403
        assert answer["Duarena-Protocol"] == str(PROTOCOL)
        assert "do not understand each other" in answer.json()["error"]
        assert "update the worker" in answer.json()["error"]


def test_only_tokens_of_workers_whose_owner_runs_the_site_open_the_door(worker: DoorWorker) -> None:
    worker.beat()
    body = worker.heartbeat()
    assert "unknown or has been revoked" in refused(
        replace(worker, token="duarena_x"), 401, "/api/workers/", body
    )
    user = Token.objects.get().user
    Token.objects.update(scopes=["read"])
    assert "lacks the scope worker" in refused(worker, 403, "/api/workers/", body)
    Token.objects.update(scopes=["worker"])
    user.is_staff = False
    user.save()
    assert "does not run this site any more" in refused(worker, 403, "/api/workers/", body)


def test_a_token_may_send_some_hundred_requests_a_second() -> None:
    buckets = TokenBuckets()
    first = [buckets.take(1, 100.0) for _ in range(700)]
    assert first == [True] * 600 + [False] * 100
    assert buckets.take(2, 100.0)
    assert [buckets.take(1, 101.0) for _ in range(301)] == [True] * 300 + [False]


def test_too_many_requests_are_answered_429(worker: DoorWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_views._BUCKETS, "take", lambda *_: False)
    answer = worker.send("/api/workers/", worker.heartbeat())
    assert answer.status_code == 429
    assert answer["Retry-After"] == "1"


# Bodies


def test_a_body_is_uncompressed_json_of_at_most_8_mb(worker: DoorWorker, settings: Settings) -> None:
    worker.beat()
    body = msgspec.json.encode(worker.heartbeat())
    path = "/api/workers/"
    assert "without compression" in refused(
        worker, 415, path, gzip.compress(body), **{"Content-Encoding": "gzip"}
    )
    settings.MAX_WORK_BYTES = len(body)
    assert worker.send(path, body).status_code == 200
    assert "bytes" in refused(worker, 413, path, body + b" ")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"worker": ' * 20_000,
        b"\xff\xfe",
        b'{"slot": NaN}',
        b'{"slot": Infinity}',
        b'{"slot": 1' + b"0" * 10_000 + b"}",
        b"null",
        b'"text"',
    ],
    ids=range(10),
)
def test_what_is_no_json_object_is_answered_400(worker: DoorWorker, body: bytes) -> None:
    worker.beat()
    for path in ("/api/workers/", "/api/work/", f"/api/work/{uuid.uuid4()}/"):
        refused(worker, 400, path, body)


# A busy database


def test_a_database_that_cannot_be_used_is_answered_503(
    worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise OperationalError("database is locked")

    worker.beat()
    monkeypatch.setattr(work_views, "next_batch", locked)
    answer = worker.send("/api/work/", worker.new_ask())
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_on_sqlite_a_request_of_a_worker_waits_two_seconds_for_others_and_no_other_request_does(
    worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def timeout() -> int:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            return int(cursor.fetchone()[0])

    during: list[int] = []
    before = timeout()
    worker.beat()
    monkeypatch.setattr(work_views, "next_batch", lambda *_: during.append(timeout()))
    worker.ask()
    assert during == [2000]
    assert timeout() == before == 1000 * connection.settings_dict["OPTIONS"]["timeout"]
