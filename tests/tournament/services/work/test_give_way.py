"""Which running job gives its slot up for an owner who waits, and when none does."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import (
    ask,
    begin_game,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    open_door,
    play_short,
    return_games,
)
from tournament.models import Attempt, Game, OwnerShare, PreemptedGame, Tournament, User, Worker
from tournament.services.fair_share import charge, used_today
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import set_priority
from tournament.services.work.give_way import give_way
from workers.jobs import Batch, GameJob, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
QUICK, MONSTER = "0.05/move", "999999+999999"
STEP = datetime.timedelta(seconds=3)


class Site:
    """A site whose clock a test moves. A slot asks when it is free, plays one game for ever, and obeys."""

    def __init__(self) -> None:
        self.now = timezone.now()
        self.ada, self.bob = make_user("ada"), make_user("bob")
        self.playing: dict[tuple[str, int], Batch] = {}
        self.current: dict[str, JobGame] = {}
        """The game that is played, by job."""

    def run(self, seconds: float, *, slots: int) -> list[str]:
        """Let time pass while up to so many slots play; returns the owners of the jobs begun, in order."""
        begun = []
        end = self.now + datetime.timedelta(seconds=seconds)
        while self.now < end:
            self.now = min(self.now + STEP, end)
            open_door(self.now)
            give_way(self.now)
            for key, batch in list(self.playing.items()):
                if self.current[batch.job].attempt in begin_game(self.current[batch.job]).stop:
                    del self.playing[key]
            begun += self._take(slots)
        return begun

    def _take(self, slots: int) -> list[str]:
        begun = []
        for worker in Worker.objects.given_jobs().order_by("name"):
            for slot in range(worker.slots):
                key = worker.name, slot
                if key in self.playing or len(self.playing) >= slots:
                    continue
                if batch := ask(worker, slot, holds=()):
                    self.playing[key] = batch
                    self.current[batch.job] = batch.jobs[0].games[0]
                    begin_game(self.current[batch.job])
                    begun.append(owner_of(batch.jobs[0]))
        return begun

    def batch_of(self, owner: str) -> Batch:
        return next(batch for batch in self.playing.values() if owner_of(batch.jobs[0]) == owner)

    def go_on(self, batch: Batch) -> None:
        """Report the current game of a batch, with the time that it took, and begin the next."""
        games = [game for job in batch.jobs for game in job.games]
        reports = [report for job in batch.jobs for report in play_short(job)]
        place = games.index(self.current[batch.job])
        began = Attempt.objects.get(pk=games[place].attempt).started_at
        assert began is not None
        timed = replace(reports[place], started=began.isoformat(), finished=self.now.isoformat())
        assert isinstance(keeper.record(timed), keeper.Recorded)
        cache.clear()  # its estimates
        self.current[batch.job] = games[place + 1]
        begin_game(self.current[batch.job])

    def finish(self, batch: Batch) -> None:
        """The same, but then the slot has nothing any more."""
        self.go_on(batch)
        self.playing = {key: other for key, other in self.playing.items() if other != batch}

    @property
    def owners(self) -> dict[str, int]:
        """How many slots each owner has."""
        return dict(Counter(owner_of(batch.jobs[0]) for batch in self.playing.values()))


def owner_of(job: GameJob) -> str:
    owner = Tournament.objects.get(slug=job.games[0].key.partition("/")[0]).owner
    return owner.username if owner else "site"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Site:
    settings.MAX_GAME_MINUTES = 0
    site = Site()
    monkeypatch.setattr(timezone, "now", lambda: site.now)
    return site


def tournament_of(owner: User | None, name: str, time_control: str = QUICK, pairs: int = 100) -> Tournament:
    versions = [make_version(f"{name} one"), make_version(f"{name} two")]
    return make_tournament(owner=owner, name=name, versions=versions, pairs=pairs, time_control=time_control)


def test_who_waits_gets_a_slot_from_games_that_take_longer_than_expected(site: Site) -> None:
    make_worker(2)
    tournament_of(site.ada, "sleeper")
    assert site.run(60, slots=2) == ["ada", "ada"]
    tournament_of(site.bob, "quick")
    assert site.run(29, slots=2) == []
    assert site.run(5, slots=2) == ["bob"]
    assert site.owners == {"ada": 1, "bob": 1}


def test_the_youngest_game_is_ended_as_nobody_s_fault_and_its_time_is_charged(site: Site) -> None:
    make_worker(2)
    tournament_of(site.ada, "sleeper")
    site.run(20, slots=1)
    site.run(60, slots=2)
    tournament_of(site.bob, "quick")
    site.run(34, slots=2)
    preempted = PreemptedGame.objects.get()
    game = Game.objects.get(pk=preempted.game_id)
    assert (game.state, game.voids, game.lost) == (Game.State.WAITING, 0, 0)
    assert Attempt.objects.get(game=game, started_at__isnull=False).end == Attempt.End.RELEASED
    assert preempted.seconds == pytest.approx(90, abs=3)
    assert OwnerShare.objects.get(owner=site.ada.pk).served == pytest.approx(90, abs=3)
    assert used_today(site.ada, site.now) * 3600 == pytest.approx(90 + 113, abs=8)  # the other one still runs


def test_a_losing_engine_that_thinks_long_gains_one_replay_at_most(site: Site) -> None:
    """The game is expected to take its full length then, and waits for a slot of long games."""
    make_worker(2)
    tournament_of(site.ada, "sleeper")
    site.run(60, slots=2)
    tournament_of(site.bob, "quick")
    site.run(34, slots=2)
    ended = PreemptedGame.objects.get().game
    other = site.batch_of("ada")
    site.finish(other)
    return_games(*other.jobs[0].games[1:])
    charge({site.bob.pk: 10_000.0}, site.now)  # so that it is ada's turn
    Game.objects.filter(state="waiting").exclude(pk=ended.pk).exclude(tournament__owner=site.bob).update(
        state="cancelled"
    )
    assert site.run(2, slots=2) == ["ada"]
    (again,) = Attempt.objects.filter(game=ended, ended_at=None)
    assert again.expected_s >= 25
    charge({site.ada.pk: 50_000.0}, site.now)
    site.now += datetime.timedelta(hours=1)
    tournament_of(make_user("cy"), "third")
    assert "ada" not in site.run(60, slots=2)
    again.refresh_from_db()
    assert again.end == Attempt.End.OPEN
    assert Attempt.objects.filter(game=ended, end=Attempt.End.RELEASED, started_at__isnull=False).count() == 1


def test_of_many_games_that_are_slower_than_expected_those_not_begun_are_given_back(site: Site) -> None:
    make_worker(2)
    tournament_of(site.ada, "slow", pairs=200)
    site.run(1, slots=1)
    site.finish(site.batch_of("ada"))  # in no time: so batches are large from now on
    site.run(1, slots=2)
    assert {len(batch.jobs) for batch in site.playing.values()} == {64}
    tournament_of(site.bob, "quick")
    site.run(20, slots=2)
    for batch in site.playing.values():
        site.go_on(batch)
    assert site.run(15, slots=2) == []
    assert not PreemptedGame.objects.exists()
    left = {
        batch.job: Attempt.objects.filter(job=batch.job, ended_at=None).count()
        for batch in site.playing.values()
    }
    assert min(left.values()) == 1 < max(left.values()) - 100
    (shortened,) = (batch for batch in site.playing.values() if left[batch.job] == 1)
    site.finish(shortened)
    assert site.run(1, slots=2) == ["bob"]


def test_the_most_served_owner_gives_a_slot_up(site: Site) -> None:
    make_worker(3)
    tournament_of(site.ada, "sleeper", pairs=1)
    tournament_of(make_user("cy"), "other sleeper")
    site.run(5, slots=3)
    assert site.owners == {"ada": 1, "cy": 2}
    charge({site.ada.pk: 1000.0}, site.now)
    site.run(40, slots=3)
    tournament_of(site.bob, "quick")
    assert site.run(35, slots=3) == ["bob"]
    assert site.owners == {"cy": 2, "bob": 1}


def test_nothing_ends_for_one_who_was_served_more(site: Site) -> None:
    make_worker(2)
    tournament_of(site.ada, "sleeper")
    late = tournament_of(site.bob, "quick")
    site.run(1, slots=1)
    assert site.owners == {"ada": 1}
    Tournament.objects.filter(pk=late.pk).update(state="paused")
    site.run(60, slots=2)
    charge({site.bob.pk: 5000.0}, site.now)
    Tournament.objects.filter(pk=late.pk).update(state="running")
    OwnerShare.objects.filter(owner=site.bob.pk).update(is_active=True)
    assert site.run(120, slots=2) == []


def test_a_lower_priority_ends_nothing_and_a_higher_one_does(site: Site) -> None:
    make_worker(2)
    set_priority(tournament_of(site.ada, "sleeper"), 1)
    site.run(60, slots=2)
    quick = tournament_of(site.bob, "quick")
    assert site.run(60, slots=2) == []
    charge({site.bob.pk: 20_000.0}, site.now)
    set_priority(quick, 2)
    assert "bob" in site.run(3, slots=2)


def test_games_that_are_expected_to_be_long_are_not_ended(site: Site) -> None:
    """They leave a slot free, which games in it that turn out long must give up."""
    make_worker(2)
    tournament_of(site.ada, "monster", MONSTER)
    assert site.run(40, slots=2) == ["ada"]
    tournament_of(site.bob, "quick")
    assert site.run(1, slots=2) == ["bob"]
    assert site.run(60, slots=2) == []
    tournament_of(make_user("cy"), "third")
    assert site.run(40, slots=2) == ["cy"]
    assert site.owners == {"ada": 1, "cy": 1}


def test_a_long_game_of_another_owner_gets_a_slot_that_long_games_may_have(site: Site) -> None:
    make_worker(3)
    tournament_of(site.ada, "sleeper")
    site.run(60, slots=3)
    tournament_of(site.bob, "monster", MONSTER)
    assert site.run(34, slots=3) == ["bob"]
    assert site.owners == {"ada": 1, "bob": 1}  # the third slot is free for short games


def test_long_games_give_way_when_a_worker_with_slots_is_lost(site: Site) -> None:
    make_worker(2, name="east")
    west = make_worker(2, name="west")
    tournament_of(site.ada, "monster", MONSTER)
    site.run(40, slots=4)
    assert site.owners == {"ada": 3}
    Worker.objects.filter(pk=west.pk).update(state="lost")
    site.playing = {key: batch for key, batch in site.playing.items() if key[0] == "east"}
    assert site.owners == {"ada": 2}
    tournament_of(site.bob, "quick")
    assert site.run(40, slots=2) == ["bob"]
    assert site.owners == {"ada": 1, "bob": 1}


def test_with_one_slot_its_job_ends_after_the_current_game(site: Site) -> None:
    make_worker(1)
    tournament_of(site.ada, "sleeper")
    assert site.run(60, slots=1) == ["ada"]
    assert Attempt.objects.filter(ended_at=None).count() == 2
    tournament_of(site.bob, "quick")
    assert site.run(40, slots=1) == []
    (still,) = Attempt.objects.filter(ended_at=None)
    batch = site.batch_of("ada")
    assert str(still.pk) == site.current[batch.job].attempt
    assert batch.jobs[0].games[1].attempt in begin_game(site.current[batch.job]).stop
    assert not PreemptedGame.objects.exists()
    site.finish(batch)
    assert site.run(1, slots=1) == ["bob"]


def test_with_one_slot_a_monstrous_game_is_played_to_its_end(site: Site) -> None:
    make_worker(1)
    tournament_of(site.ada, "monster", MONSTER)
    assert site.run(5, slots=1) == ["ada"]
    tournament_of(site.bob, "quick")
    assert site.run(60, slots=1) == []
    site.now += datetime.timedelta(hours=5)
    assert site.run(60, slots=1) == []
    site.finish(site.batch_of("ada"))
    assert site.run(1, slots=1) == ["bob"]


def test_no_job_is_ended_while_its_bundles_are_fetched(site: Site) -> None:
    make_worker(2)
    tournament_of(site.ada, "sleeper")
    site.run(1, slots=2)
    fetching = site.batch_of("ada")
    Attempt.objects.filter(job=fetching.job).update(started_at=None)
    tournament_of(site.bob, "quick")
    for _ in range(60):
        site.now += datetime.timedelta(seconds=1)
        assert give_way(site.now) == 0
    assert Attempt.objects.filter(job=fetching.job, ended_at=None).count() == 2


def test_who_waits_is_noted_until_a_slot_is_had(site: Site) -> None:
    make_worker(1)
    tournament_of(site.ada, "sleeper")
    site.run(5, slots=1)
    tournament_of(site.bob, "quick")
    for _ in range(2):
        site.run(1, slots=1)
    assert OwnerShare.objects.get(owner=site.bob.pk).waits_since == site.now - datetime.timedelta(seconds=1)
    site.finish(site.batch_of("ada"))
    charge({site.ada.pk: 100.0}, site.now)
    assert site.run(1, slots=1) == ["bob"]
    site.run(1, slots=1)
    assert OwnerShare.objects.get(owner=site.bob.pk).waits_since is None
    assert OwnerShare.objects.get(owner=site.ada.pk).waits_since is not None
