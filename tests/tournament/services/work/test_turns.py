"""Whose games come next: owners share the slots by the time that they have used."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.rules.base import Result
from tests.support.schedule import make_tournament, make_user, make_version, play_short, word_of
from tournament.models import Attempt, Game, OwnerShare, SlotUse, Tournament, User
from tournament.services import calendar
from tournament.services.dispatch.batches import LONG_SECONDS, MOST_WAIT_SECONDS, GameBatch
from tournament.services.dispatch.leases import LEASE, keeper_started
from tournament.services.dispatch.turns import SlotShares
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import pause
from tournament.services.shares import (
    SITE,
    PlayedTime,
    charge,
    charge_games,
    exhausted,
    is_exhausted,
    used_today,
)
from workers.jobs import GameJob

pytestmark = pytest.mark.slow

Deal = Callable[[], list[GameJob]]
ADA, BOB = 1, 2


def batches(tournament: int, seconds: float, number: int = 1000) -> Iterator[GameBatch]:
    return (GameBatch(tournament, (pair,), seconds) for pair in range(number))


def shares(used: dict[int, float] | None = None, long_left: int = 100) -> SlotShares:
    return SlotShares(defaultdict(float, used or {}), long_left)


def test_equal_owners_get_equal_time_whatever_the_length_of_their_batches() -> None:
    waiting = {ADA: [batches(1, 8.0)], BOB: [batches(2, 2.0)]}
    chosen = list(islice(shares().take_turns(waiting), 50))
    assert Counter(batch.tournament for batch in chosen) == {1: 10, 2: 40}


def test_many_tournaments_give_an_owner_no_larger_share() -> None:
    waiting = {ADA: [batches(number, 2.0) for number in range(10, 20)], BOB: [batches(2, 2.0)]}
    chosen = list(islice(shares().take_turns(waiting), 40))
    assert sum(batch.tournament == 2 for batch in chosen) == 20
    assert Counter(batch.tournament for batch in chosen if batch.tournament != 2) == dict.fromkeys(
        range(10, 20), 2
    )


def test_an_owner_who_has_used_more_waits_until_the_others_have_had_as_much() -> None:
    waiting = {ADA: [batches(1, 2.0)], BOB: [batches(2, 2.0)]}
    chosen = list(islice(shares({ADA: 10.0}).take_turns(waiting), 7))
    assert [batch.tournament for batch in chosen] == [2, 2, 2, 2, 2, 1, 2]


def test_long_batches_leave_a_slot_to_the_others() -> None:
    waiting = {ADA: [batches(1, 2 * MOST_WAIT_SECONDS)], BOB: [batches(2, 2.0, number=3)]}
    chosen = list(shares(long_left=2).take_turns(waiting))
    assert sorted(batch.tournament for batch in chosen) == [1, 1, 2, 2, 2]


def test_a_long_batch_without_a_place_lets_the_next_owner_s_short_ones_pass() -> None:
    waiting = {ADA: [batches(1, 2 * LONG_SECONDS)], BOB: [batches(2, 2.0, number=3)]}
    chosen = list(shares().take_turns(waiting, lambda batch: batch.seconds <= LONG_SECONDS))
    assert [batch.tournament for batch in chosen] == [2, 2, 2]


def test_nothing_more_is_cut_when_a_short_batch_has_no_place() -> None:
    cut: list[int] = []

    def source(tournament: int) -> Iterator[GameBatch]:
        cut.append(tournament)
        yield from batches(tournament, 2.0)

    waiting = {owner: [source(owner)] for owner in range(1, 100)}
    assert list(shares().take_turns(waiting, lambda batch: False)) == []
    assert cut == [1]


# With a database


@pytest.fixture
def users(db: None, settings: Settings) -> tuple[User, User]:
    settings.SLOTS = 4
    settings.MAX_GAME_MINUTES = 0
    keeper_started()
    return make_user("ada"), make_user("bob")


def tournament_of(owner: User | None, name: str, time_control: str = "1+0.1") -> Tournament:
    versions = [make_version(f"{name} one"), make_version(f"{name} two")]
    return make_tournament(owner=owner, name=name, versions=versions, pairs=200, time_control=time_control)


def owners(jobs: list[GameJob]) -> dict[str, int]:
    return Counter(job.games[0].key.partition("/")[0] for job in jobs)


def expected_seconds(tournament: str) -> float:
    """Of the jobs of a tournament that are open."""
    mine = Attempt.objects.filter(game__tournament__slug=tournament, ended_at=None)
    return sum(mine.values_list("expected_s", flat=True))


def finish(jobs: list[GameJob], now: datetime.datetime) -> None:
    for job in jobs:
        for report in play_short(job, lambda *_: Result.DRAW):
            assert isinstance(keeper.record(report), keeper.Recorded)


@pytest.mark.django_db
def test_a_newcomer_shares_the_slots_with_one_who_has_played_for_long(
    users: tuple[User, User], deal: Deal
) -> None:
    ada, bob = users
    tournament_of(ada, "old")
    charge({ada.pk: 5000.0}, timezone.now())
    first = deal()
    assert owners(first) == {"old": len(first)}
    tournament_of(bob, "young")
    finish(first, timezone.now())
    deal()
    old, young = (expected_seconds(name) for name in ("old", "young"))
    assert 0 < old <= young + LONG_SECONDS  # no credit for the time before it came


@pytest.mark.django_db
def test_long_use_in_the_past_is_no_debt_to_a_new_account(users: tuple[User, User], deal: Deal) -> None:
    ada, bob = users
    charge({ada.pk: 30_000.0}, timezone.now())
    tournament_of(bob, "young")
    finish(deal(), timezone.now())
    tournament_of(ada, "returned")
    shared = owners(deal())
    assert min(shared["young"], shared["returned"]) > 0


@pytest.mark.django_db
@pytest.mark.parametrize("time_control", ["depth=1", "nodes=1", "5000+0;nodes=1"])
def test_a_limit_of_nodes_or_depth_does_not_make_games_of_strangers_short(
    users: tuple[User, User], deal: Deal, time_control: str
) -> None:
    ada, _ = users
    tournament_of(ada, "sleeper", time_control)
    assert owners(deal()) == {"sleeper": 3}


@pytest.mark.django_db
def test_monstrous_games_leave_a_slot_free(users: tuple[User, User], deal: Deal) -> None:
    ada, bob = users
    monster = tournament_of(ada, "monster", "999999+999999")
    assert owners(deal()) == {"monster": 3}
    assert owners(deal()) == {}
    tournament_of(bob, "quick", "0.05/move")
    assert set(owners(deal())) == {"quick"}
    pause(monster)
    assert not Attempt.objects.filter(game__tournament=monster, ended_at=None).exists()


@pytest.mark.django_db
def test_a_job_that_takes_longer_than_expected_counts_as_long(users: tuple[User, User], deal: Deal) -> None:
    ada, _ = users
    tournament_of(ada, "slow", "0.05/move")
    jobs = deal()
    for job in jobs[:3]:
        keeper.progress(word_of(job.games[0]))
    long_ago = timezone.now() - datetime.timedelta(seconds=3 * MOST_WAIT_SECONDS)
    Attempt.objects.filter(started_at__isnull=False).update(started_at=long_ago)
    finish(jobs[3:], timezone.now())
    tournament_of(ada, "monster", "999999+999999")
    assert set(owners(deal())) == {"slow"}


@pytest.mark.django_db
def test_an_owner_without_hours_left_waits_for_the_next_day(
    users: tuple[User, User], deal: Deal, settings: Settings
) -> None:
    ada, bob = users
    settings.SLOT_HOURS = 2
    tournament_of(ada, "mine")
    tournament_of(bob, "yours")
    now = timezone.now()
    charge({ada.pk: 2 * 3600.0, bob.pk: 1800.0, None: 9999.0}, now)
    assert (used_today(ada, now), used_today(bob, now)) == (2.0, 0.5)
    assert exhausted(now) == {ada.pk}
    assert set(owners(deal())) == {"yours"}
    assert exhausted(now + datetime.timedelta(days=1)) == set()
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert exhausted(now) == set()


def let_run(jobs: list[GameJob], seconds: float) -> datetime.datetime:
    """Let the workers have begun the first game of each job so long ago; returns the time now."""
    now = timezone.now()
    for job in jobs:
        keeper.progress(word_of(job.games[0]))
        begun = Attempt.objects.filter(pk=job.games[0].attempt)
        begun.update(
            started_at=now - datetime.timedelta(seconds=seconds),
            lease_until=now + datetime.timedelta(hours=1),
        )
    return now


@pytest.mark.django_db
def test_a_game_that_still_runs_counts_against_today_s_hours(
    users: tuple[User, User], deal: Deal, settings: Settings
) -> None:
    ada, bob = users
    settings.SLOT_HOURS = 2
    tournament_of(ada, "mine")
    first, second, *_ = deal()
    now = let_run([first, second], 1800.0)
    assert used_today(ada, now) == pytest.approx(1.0)
    assert used_today(bob, now) == 0.0
    assert exhausted(now) == set()
    assert exhausted(now + datetime.timedelta(minutes=30)) == {ada.pk}
    assert is_exhausted(ada, now + datetime.timedelta(minutes=30))
    charge({ada.pk: 3600.0}, now)
    assert exhausted(now) == {ada.pk}
    finish([second], now)
    assert used_today(ada, now) == pytest.approx(1.5, abs=0.01)  # by the report its games took a second


@pytest.mark.django_db
def test_hours_in_which_the_site_was_down_are_not_charged(users: tuple[User, User], deal: Deal) -> None:
    ada, _ = users
    tournament_of(ada, "mine")
    first, *_ = deal()
    now = let_run([first], 60.0)
    Attempt.objects.filter(pk=first.games[0].attempt).update(lease_until=now + LEASE)
    keeper_started(now)
    back = now + datetime.timedelta(hours=20)
    most = (60.0 + LEASE.total_seconds()) / 3600.0
    assert used_today(ada, back) == pytest.approx(most)
    keeper_started(back)
    assert calendar.sweep(now=back + LEASE * 2 / 3) == 0
    assert calendar.sweep(now=back + LEASE * 4 / 3) > 0
    assert used_today(ada, back + LEASE * 4 / 3) == pytest.approx(most)


@pytest.mark.django_db
def test_validations_have_hours_of_their_own(users: tuple[User, User], settings: Settings) -> None:
    ada, _ = users
    settings.SLOT_HOURS, settings.VALIDATION_HOURS = 2, 1
    now = timezone.now()
    charge_games([PlayedTime("validation", ada.pk, 3600.0), PlayedTime("swiss", ada.pk, 900.0)], now)
    assert (used_today(ada, now), used_today(ada, now, is_validation=True)) == (0.25, 1.0)
    assert (exhausted(now), exhausted(now, is_validation=True)) == (set(), {ada.pk})
    assert not is_exhausted(ada, now)
    settings.VALIDATION_HOURS = 0
    assert not is_exhausted(ada, now, is_validation=True)


@pytest.mark.django_db
def test_ladders_count_for_the_site_and_every_end_of_an_attempt_is_charged(
    users: tuple[User, User], deal: Deal
) -> None:
    ada, _ = users
    mine = tournament_of(ada, "mine")
    tournament_of(None, "site")
    jobs = deal()
    an_hour_ago = timezone.now() - datetime.timedelta(hours=1)
    Attempt.objects.update(sent_at=an_hour_ago, started_at=an_hour_ago)
    done = [job for job in jobs if job.games[0].key.startswith("site")]
    finish(done, timezone.now())
    served = dict(OwnerShare.objects.values_list("owner", "served"))
    games = sum(len(job.games) for job in done)
    assert served[SITE] == pytest.approx(games, abs=0.01)  # the reports say that each took a second
    assert not SlotUse.objects.exists()
    pause(mine)
    unplayed = Game.objects.filter(tournament=mine, attempts__end=Attempt.End.RELEASED).count()
    assert used_today(ada, timezone.now()) == pytest.approx(unplayed, rel=0.01)
