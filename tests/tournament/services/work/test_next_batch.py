"""What a slot gets that asks for work, what it gets again, and what it no longer has."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    ask,
    begin_game,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    post,
    record,
    record_all,
    return_games,
    start_validation,
    void,
)
from tournament.caches import cache
from tournament.models import (
    Attempt,
    BotVersion,
    ComplianceCheck,
    Game,
    Job,
    LiveGame,
    Pairing,
    Tournament,
    Worker,
)
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import cancel, set_priority
from tournament.services.uploads.validation import begin
from tournament.services.work import durations
from tournament.services.work.checks import check_job
from tournament.services.work.durations import MAX_PAIRS, seconds_by_version
from tournament.services.work.leases import LEASE
from workers.jobs import Batch, JobGame
from workers.messages import decode

pytestmark = pytest.mark.django_db
BEGUN = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


@pytest.fixture
def worker() -> Worker:
    return make_worker(4)


def taken(batch: Batch | None) -> Batch:
    assert batch is not None
    return batch


def games_of(batch: Batch) -> list[JobGame]:
    return [game for job in batch.jobs for game in job.games]


def tournaments_of(batches: Sequence[Batch]) -> list[str]:
    return [batch.jobs[0].games[0].key.partition("/")[0] for batch in batches]


def play(batch: Batch, seconds: float = 1.0) -> None:
    """Record a batch whose games took so long."""
    end = (BEGUN + datetime.timedelta(seconds=seconds)).isoformat()
    record_all([replace(report, finished=end) for job in batch.jobs for report in play_short(job)])
    cache.clear()


# What a batch holds


def test_a_job_is_a_pair_with_all_a_slot_needs(worker: Worker) -> None:
    versions = [make_version("Ada"), make_version("Bob")]
    versions[0].options = {"Hash": "16"}
    versions[0].save()
    make_tournament(versions=versions, opening_plies=2)
    batch = taken(ask())
    (job,) = batch.jobs
    pairing = Pairing.objects.get()
    assert (batch.job, batch.lease_s, batch.check) == (job.job, LEASE.total_seconds(), None)
    assert (job.game, job.time_control, job.fen, job.seed) == ("duploline", "1+0.1", None, pairing.seed)
    assert job.opening == pairing.opening_moves != ()
    ada = job.engines[0]
    assert (ada.name, ada.version, ada.command) == ("Ada", "1", ("python3", "main.py"))
    assert (ada.bundle, ada.options) == (versions[0].bundle_id, (("Hash", "16"),))
    assert [(game.key, game.white) for game in job.games] == [
        ("test-match/1/1/1", 0),
        ("test-match/1/1/2", 1),
    ]
    assert decode(Batch, msgspec.json.encode(batch)) == batch


def test_an_attempt_is_stored_for_each_game(worker: Worker) -> None:
    make_tournament()
    batch = taken(ask(worker, 3))
    for told in games_of(batch):
        game, attempt = Game.objects.get(key=told.key), Attempt.objects.get(pk=told.attempt)
        assert (game.state, str(game.attempt)) == (Game.State.CLAIMED, told.attempt)
        assert (str(attempt.job_id), attempt.started_at, attempt.ended_at) == (batch.job, None, None)
    job = Job.objects.get()
    assert (job.worker, job.slot, job.kind, job.owner, job.ended_at) == (worker.name, 3, "games", None, None)
    assert job.lease_until == job.taken_at + LEASE < job.ends_by


@pytest.mark.parametrize("time_control", ["999999+999999", "depth=1", "0.001/move"])
def test_a_job_has_a_latest_end_whatever_its_time_control(worker: Worker, time_control: str) -> None:
    tournament = make_tournament(time_control=time_control)
    Tournament.objects.filter(pk=tournament.pk).update(ply_limit=999_999_999)
    taken(ask())
    assert Job.objects.get().ends_by - timezone.now() <= datetime.timedelta(days=365)


def test_players_without_recent_games_play_one_pair_a_batch(worker: Worker) -> None:
    make_tournament(pairs=30)
    assert len(taken(ask()).jobs) == 1


@pytest.mark.parametrize(("seconds", "pairs"), [(0.001, MAX_PAIRS), (0.1, 10), (0.5, 2), (1.5, 1), (14, 1)])
def test_a_batch_has_two_seconds_of_games(worker: Worker, seconds: float, pairs: int) -> None:
    make_tournament(pairs=100)
    play(taken(ask()), seconds)
    batch = taken(ask())
    assert len(batch.jobs) == pairs
    assert {job.job for job in batch.jobs} == {batch.job}


def test_a_slow_player_makes_a_pair_slow_whoever_it_meets(worker: Worker) -> None:
    make_tournament(bots=3, pairs=100)
    for _ in range(3):
        batch = taken(ask())
        play(batch, 5 if "Bot 3" in str(batch.jobs) else 0.01)
    for slot in range(8):
        batch = taken(ask(worker, slot))
        assert len(batch.jobs) == 1 or "Bot 3" not in str(batch.jobs)


def test_games_of_another_time_control_or_long_ago_tell_nothing(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament(pairs=30)
    first, second = (taken(ask(worker, slot)) for slot in range(2))
    play(first, 0.5)
    known = seconds_by_version("duploline", tournament.time_control)
    assert known == dict.fromkeys(tournament.entries.values_list("version", flat=True), 0.5)
    assert seconds_by_version("duploline", "60+0") == {}
    monkeypatch.setattr(durations, "_LATELY", 2)
    play(second, 0.1)
    assert set(seconds_by_version("duploline", tournament.time_control).values()) == {0.1}


def test_those_who_meet_again_in_a_batch_meet_at_once_and_all_its_pairs_are_the_next(worker: Worker) -> None:
    make_tournament(bots=4, pairs=60)
    for _ in range(4):
        play(taken(ask()), 0.01)
    waiting = Game.objects.filter(state=Game.State.WAITING).order_by("id")
    next_pairs = list(dict.fromkeys(waiting.values_list("pairing", flat=True)))[:MAX_PAIRS]
    batch = taken(ask())
    games = Game.objects.filter(key__in=[game.key for game in games_of(batch)])
    assert set(games.values_list("pairing", flat=True)) == set(next_pairs)
    met = [frozenset(engine.name for engine in job.engines) for job in batch.jobs]
    assert sum(before != after for before, after in pairwise(met)) == 5  # of six meetings


def test_a_game_that_came_back_is_taken_alone_under_the_same_key(worker: Worker) -> None:
    make_tournament()
    batch = taken(ask())
    first, second = play_short(batch.jobs[0])
    record(first)
    return_games(second)
    (again,) = games_of(taken(ask()))
    assert (again.key, again.white) == (second.key, 1)
    assert again.attempt != second.attempt


def test_a_void_and_a_return_cost_no_other_game_of_the_batch(worker: Worker) -> None:
    make_tournament(pairs=60)
    play(taken(ask()), 0.1)
    batch = taken(ask())
    (first, second), *_, last = [list(play_short(job)) for job in batch.jobs]
    record_all([first, void(second)])
    return_games(*last)
    states = {game.key: (game.state, game.voids, game.lost) for game in Game.objects.all()}
    assert states[first.key] == ("done", 0, 0)
    assert states[second.key] == ("waiting", 1, 0)
    assert {states[report.key] for report in last} == {("waiting", 0, 0)}
    assert Attempt.objects.filter(job__pk=batch.job, ended_at=None).count() == 2 * 10 - 4


# Repeats, and what a slot no longer has


def test_a_repeated_ask_gets_the_same_batch(worker: Worker) -> None:
    make_tournament(bots=4, pairs=20)
    play(taken(ask()), 0.1)
    play(taken(ask()), 0.1)
    name = str(uuid.uuid4())
    batch = taken(ask(ask_id=name, holds=()))
    assert len(batch.jobs) > 1
    for _ in range(2):
        with CaptureQueriesContext(connection) as made:
            assert ask(ask_id=name, holds=()) == batch
        assert not writes(made)
    assert taken(ask()).job != batch.job


def test_a_repeated_ask_whose_games_were_cancelled_gets_others(worker: Worker) -> None:
    tournament = make_tournament()
    name = str(uuid.uuid4())
    batch = taken(ask(ask_id=name))
    cancel(tournament)
    assert ask(ask_id=name, holds=()) is None
    make_tournament(name="Other")
    assert taken(ask(ask_id=name, holds=())).job != batch.job


def test_games_that_an_ask_does_not_name_wait_again_and_count_against_nobody(worker: Worker) -> None:
    make_tournament(pairs=3)
    kept, lost, of_another = taken(ask(worker, 0)), taken(ask(worker, 0)), taken(ask(worker, 1))
    begin_game(games_of(lost)[0])
    again = taken(ask(worker, 0, holds=[kept.job]))
    assert [game.key for game in games_of(again)] == [game.key for game in games_of(lost)]
    ends = set(Attempt.objects.filter(job__pk=lost.job).values_list("end", flat=True))
    assert ends == {Attempt.End.RELEASED}
    assert not Game.objects.exclude(voids=0, lost=0).exists()
    assert not LiveGame.objects.exists()
    for batch in (kept, of_another):
        assert Attempt.objects.filter(job__pk=batch.job, ended_at=None).count() == 2


def test_a_reported_game_is_not_given_back(worker: Worker) -> None:
    make_tournament(pairs=2)
    batch = taken(ask())
    first, second = play_short(batch.jobs[0])
    post(batch.job, reports=(first,))
    again = taken(ask(holds=()))
    assert [game.key for game in games_of(again)] == [second.key]
    keeper.record_inbox(60)
    assert Game.objects.get(key=first.key).state == Game.State.DONE


def test_a_new_run_gets_back_what_the_former_had_except_what_it_names(worker: Worker) -> None:
    """A slot of a new run names the jobs whose reports are kept on its disk."""
    make_tournament(pairs=2)
    kept, lost = taken(ask(worker, 0)), taken(ask(worker, 0))
    worker.run = str(uuid.uuid4())
    worker.save()
    again = taken(ask(worker, 0, holds=[kept.job]))
    assert [game.key for game in games_of(again)] == [game.key for game in games_of(lost)]


# What comes next


def test_the_tournaments_of_an_owner_take_turns(worker: Worker) -> None:
    make_tournament(pairs=30)
    make_tournament(versions=[make_version("Cy"), make_version("Dora")], pairs=30, name="Other")
    batches = [taken(ask(worker, slot)) for slot in range(4)]
    assert tournaments_of(batches) == ["test-match", "other", "test-match", "other"]


def test_a_higher_priority_comes_first_whoever_has_used_less(worker: Worker) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    make_tournament(owner=ada, pairs=3, name="Low")
    high = make_tournament(owner=bob, pairs=3, name="High")
    set_priority(high, 3)
    batches = [taken(ask(worker, slot)) for slot in range(5)]
    assert tournaments_of(batches) == ["high"] * 3 + ["low"] * 2


def test_drafts_and_cancelled_tournaments_are_not_played(worker: Worker) -> None:
    tournament = make_tournament(running=False)
    assert ask() is None
    Tournament.objects.filter(pk=tournament.pk).update(state=Tournament.State.CANCELLED)
    assert ask() is None


def test_validations_are_taken_only_by_those_who_take_checks(worker: Worker) -> None:
    version = make_version("Cy", owner=make_user(), games=("duploline", "dogon-kulei"))
    start_validation(version)
    assert ask(worker) is None
    checker = make_worker(name="checker", takes="checks")
    batches = [taken(ask(checker, slot)) for slot in range(2)]
    assert [[job.game for job in batch.jobs] for batch in batches] == [["duploline"], ["dogon-kulei"]]
    (job,) = batches[0].jobs
    assert job.engines == (version.engine_spec(),) * 2
    assert [game.white for game in job.games] == [0]
    make_tournament()
    assert ask(checker) is None


def test_a_check_is_taken_repeated_and_returned(worker: Worker) -> None:
    version = make_version("Cy", owner=make_user(), state=BotVersion.State.VALIDATING)
    check = begin(version, timezone.now())
    assert check is not None
    assert ask(worker) is None
    checker = make_worker(name="checker", takes="games,checks")
    name = str(uuid.uuid4())
    batch = taken(ask(checker, ask_id=name))
    check.refresh_from_db()
    assert batch == Batch(str(check.job_id), round(LEASE.total_seconds()), check=check_job(check))
    assert ask(checker, ask_id=name, holds=()) == batch
    assert ask(checker, 1) is None
    again = taken(ask(checker, holds=()))
    assert again.check is not None
    assert again.check.exam != str(check.job_id)
    check.refresh_from_db()
    assert check.end == ComplianceCheck.End.RETURNED


# What an ask costs


def writes(made: CaptureQueriesContext) -> list[str]:
    reading = ("SELECT", "SAVEPOINT", "RELEASE SAVEPOINT")
    return [one["sql"] for one in made if not one["sql"].startswith(reading)]


def test_an_ask_that_finds_nothing_writes_nothing(worker: Worker) -> None:
    with CaptureQueriesContext(connection) as made:
        assert ask() is None
    assert not writes(made)
    assert len(made) <= 6
    checker = make_worker(name="checker", takes="games,checks")
    make_tournament(pairs=2, time_control="999999+0")
    while ask():
        pass
    assert Game.objects.filter(state=Game.State.CLAIMED).exists()
    with CaptureQueriesContext(connection) as made:
        assert ask(checker) is None
    assert not writes(made)


def test_the_number_of_queries_grows_neither_with_tournaments_nor_with_games(
    worker: Worker, settings: Settings
) -> None:
    def cost(slot: int) -> int:
        with CaptureQueriesContext(connection) as made:
            assert ask(worker, slot)
        return len(made)

    make_tournament(owner=make_user("ada"), pairs=2, name="First")
    taken(ask(worker, 0))
    few = cost(1)
    for number in range(8):
        versions = [make_version(f"One {number}"), make_version(f"Two {number}")]
        owner = make_user(f"bob{number}")
        make_tournament(owner=owner, versions=versions, name=f"Number {number}", pairs=50)
    cost(2)
    assert cost(3) <= few + 6  # an owner who had no games before is admitted
    assert few <= 28


def test_long_games_that_cannot_be_taken_cost_no_query_each(
    worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_GAME_MINUTES = 0
    monkeypatch.setattr(durations, "_KNOWN_FOR_SECONDS", 1000.0)
    for number in range(3):
        make_tournament(name=f"Long {number}", pairs=2, time_control="999999+0")
    while ask():
        pass
    with CaptureQueriesContext(connection) as few:
        assert ask(worker, 3) is None
    for number in range(12):
        make_tournament(name=f"Longer {number}", pairs=2, time_control="999999+0")
    with CaptureQueriesContext(connection) as many:
        assert ask(worker, 3) is None
    assert len(many) == len(few)
