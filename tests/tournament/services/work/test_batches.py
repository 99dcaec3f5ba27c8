"""Batches: the number of pairs in a message; its games share a lease but not their outcomes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    FakeBroker,
    make_tournament,
    make_user,
    make_version,
    play_short,
    start_validation,
    void,
    word_of,
)
from tournament.models import Attempt, Game, Keeper, Worker
from tournament.services.calendar import sweep
from tournament.services.dispatch import batches, durations
from tournament.services.dispatch.batches import LONG_SECONDS, MAX_PAIRS, GameBatch, claim, cut_batches
from tournament.services.dispatch.durations import seconds_by_version
from tournament.services.dispatch.leases import LEASE, keeper_started
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import cancel
from workers.jobs import GameJob, GameReport, Release

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]
BEGUN = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def taking(report: GameReport, seconds: float) -> GameReport:
    """The same game, in so much time."""
    return replace(report, finished=(BEGUN + datetime.timedelta(seconds=seconds)).isoformat())


def record(jobs: list[GameJob], seconds: float) -> None:
    keeper.record_all([taking(report, seconds) for job in jobs for report in play_short(job)])
    cache.clear()


@pytest.fixture(autouse=True)
def one_slot(settings: Settings) -> None:
    settings.SLOTS = 1


def test_who_is_not_known_plays_a_pair_a_message(deal: Deal, queues: FakeBroker) -> None:
    make_tournament(pairs=30)
    deal()
    assert [len(batch) for batch in queues.batches] == [1, 1, 1, 1]


@pytest.mark.parametrize(("seconds", "pairs"), [(0.001, MAX_PAIRS), (0.1, 10), (0.5, 2), (1.5, 1), (14, 1)])
def test_a_message_carries_two_seconds_of_games(
    deal: Deal, queues: FakeBroker, seconds: float, pairs: int
) -> None:
    make_tournament(pairs=300)
    record(deal(), seconds)
    deal()
    messages = 1 if seconds > LONG_SECONDS else 4  # nothing is queued behind a long one
    assert [len(batch) for batch in queues.batches[4:]] == [pairs] * messages
    for batch in queues.batches:
        assert len({job.job for job in batch}) == 1
        assert GameJob.from_json(batch[-1].to_json()) == batch[-1]


def test_a_slow_player_makes_a_pair_slow_whoever_it_meets(deal: Deal, queues: FakeBroker) -> None:
    make_tournament(bots=3, pairs=100)
    jobs = [job for _ in range(3) for job in _played(deal, lambda job: 5 if "Bot 3" in _names(job) else 0.01)]
    assert len(jobs) > 8
    queues.batches.clear()
    deal()
    assert {len(batch) for batch in queues.batches if any("Bot 3" in _names(job) for job in batch)} == {1}


def _played(deal: Deal, seconds: Callable[[GameJob], float]) -> list[GameJob]:
    jobs = deal()
    for job in jobs:
        record([job], seconds(job))
    return jobs


def _names(job: GameJob) -> set[str]:
    return {engine.name for engine in job.engines}


def test_games_of_another_time_control_or_long_ago_tell_nothing(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament(pairs=30)
    jobs = deal()
    record(jobs[:1], 0.5)
    known = seconds_by_version("duploline", tournament.time_control)
    assert known == dict.fromkeys(tournament.entries.values_list("version", flat=True), 0.5)
    assert seconds_by_version("duploline", "60+0") == {}
    monkeypatch.setattr(durations, "_LATELY", 2)
    record(jobs[1:2], 0.1)
    assert set(seconds_by_version("duploline", tournament.time_control).values()) == {0.1}


def test_those_who_meet_again_in_a_batch_meet_at_once_and_all_its_pairs_are_of_the_next(deal: Deal) -> None:
    make_tournament(bots=4, pairs=100)
    for _ in range(2):
        record(deal(), 0.01)
    tournament = Game.objects.earliest("id").tournament
    waiting = Game.objects.filter(state=Game.State.WAITING).order_by("id")
    next_pairs = list(dict.fromkeys(waiting.values_list("pairing_id", flat=True)))[:MAX_PAIRS]
    batch = next(cut_batches(tournament.pk, tournament.time_control))
    assert sorted(batch.pairings) == next_pairs
    players = dict(waiting.filter(number=1).values_list("pairing_id", "pairing__first_id"))
    others = dict(waiting.filter(number=1).values_list("pairing_id", "pairing__second_id"))
    met = [frozenset((players[pk], others[pk])) for pk in batch.pairings]
    assert sum(before != after for before, after in pairwise(met)) == 5  # of six meetings


def test_a_word_about_one_game_is_a_word_about_all_of_its_batch(deal: Deal, queues: FakeBroker) -> None:
    make_tournament(pairs=60)
    record(deal(), 0.1)
    deal()
    batch, other = queues.batches[-2:]
    keeper.progress(word_of(batch[-1].games[0]))
    held = Attempt.objects.filter(lease_until__isnull=False, ended_at=None)
    assert {str(pk) for pk in held.values_list("pk", flat=True)} == {
        game.attempt for job in batch for game in job.games
    }
    assert len(other) == len(batch) == 10


def test_a_void_and_a_stop_cost_no_other_game_of_the_batch(deal: Deal, queues: FakeBroker) -> None:
    make_tournament(pairs=60)
    record(deal(), 0.1)
    deal()
    (first, second), *_, last = [list(play_short(job)) for job in queues.batches[-1]]
    keeper.record_all([first, void(second)])
    for report in last:
        keeper.release(Release(report.key, report.attempt, "host/1"))
    states = {game.key: (game.state, game.voids, game.lost) for game in Game.objects.all()}
    assert states[first.key] == ("done", 0, 0)
    assert states[second.key] == ("waiting", 1, 0)
    assert {states[report.key] for report in last} == {("waiting", 0, 0)}
    still = Attempt.objects.filter(job=queues.batches[-1][0].job, ended_at=None)
    assert still.count() == 2 * 10 - 4


def test_a_batch_of_what_was_cancelled_or_claimed_meanwhile_is_not_sent(
    deal: Deal, queues: FakeBroker
) -> None:
    tournament = make_tournament(pairs=3)
    assigned = [(batch, "host") for batch in cut_batches(tournament.pk, tournament.time_control)]
    assert len(assigned) == 3
    assert claim(assigned[:1], "games") == 2
    assert claim(assigned, "games") == 4
    cancel(tournament)
    assert claim(assigned, "games") == 0


def test_a_batch_that_cannot_be_sent_stops_no_other_and_is_given_back_by_the_sweep(
    deal: Deal, queues: FakeBroker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    keeper_started(now - 2 * LEASE)
    Keeper.objects.update(seen_at=now)
    make_tournament(pairs=3)
    sent: list[GameJob] = []

    def send_jobs(jobs: list[GameJob], queue: str) -> None:
        sent.extend(jobs)
        if len(sent) == 1:
            raise ConnectionError("the broker is away")

    monkeypatch.setattr("tournament.queues.send_jobs", send_jobs)
    deal()
    assert len(sent) == 3
    assert "the broker is away" in caplog.text
    unsent, *begun = sent
    for job in begun:
        keeper.progress(word_of(job.games[0]))
    lost = 0
    for _ in range(10):
        now += LEASE / 4
        Worker.objects.update(seen_at=now)
        Attempt.objects.filter(job__in=[job.job for job in begun]).update(lease_until=now + LEASE)
        lost += sweep(now=now)
    assert lost == 2
    still = Attempt.objects.filter(ended_at=None)
    assert {str(job) for job in still.values_list("job", flat=True)} == {job.job for job in begun}
    assert Game.objects.filter(key__in=[game.key for game in unsent.games], state="waiting").count() == 2


def test_a_tournament_is_read_in_parts_and_cut_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = make_tournament(bots=4, pairs=10)
    whole = list(cut_batches(tournament.pk, tournament.time_control))
    assert sorted(pair for batch in whole for pair in batch.pairings) == sorted(
        tournament.pairings.values_list("id", flat=True)
    )
    monkeypatch.setattr(batches, "FIRST_READ", 3)
    assert list(cut_batches(tournament.pk, tournament.time_control)) == whole


def test_a_preempted_game_is_a_long_batch_of_its_own(deal: Deal) -> None:
    tournament = make_tournament(pairs=60)
    record(deal(), 0.1)
    pairing = tournament.pairings.latest("id").pk
    *others, last = cut_batches(tournament.pk, tournament.time_control, {pairing: 31.0})
    assert last == GameBatch(tournament.pk, (pairing,), 4 * 31.0)
    assert not any(batch.is_long for batch in others)


def test_a_validation_on_several_ladders_waits_for_none_of_them(
    deal: Deal, queues: FakeBroker, settings: Settings
) -> None:
    settings.SLOTS = 2
    start_validation(make_version("Cy", owner=make_user(), games=("duploline", "dogon-kulei")))
    deal()
    assert [[job.game for job in batch] for batch in queues.batches] == [["duploline"], ["dogon-kulei"]]
