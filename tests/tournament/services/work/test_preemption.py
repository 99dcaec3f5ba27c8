"""Which running job ends for an owner who waits, and when none does."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support.schedule import (
    FakeBroker,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    word_of,
)
from tournament.models import Attempt, Game, OwnerShare, PreemptedGame, Tournament, User
from tournament.services.dispatch import dispatch
from tournament.services.dispatch.leases import keeper_started
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import set_priority
from tournament.services.shares import charge, used_today
from workers.jobs import GameJob, Release

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
QUICK = "0.05/move"


class Site:
    """A site whose clock a test moves; its workers begin a job when they have a free slot, and never end."""

    def __init__(self, queues: FakeBroker, capture: DjangoCaptureOnCommitCallbacks) -> None:
        self.now = timezone.now()
        self.queues, self.capture = queues, capture
        self.playing: dict[str, GameJob] = {}
        self.queued: list[GameJob] = []

    def run(self, seconds: float, *, slots: int) -> list[str]:
        """Dispatch every second; returns the owners of the jobs that were begun, in order."""
        begun = []
        for _ in range(round(seconds)):
            self.now += datetime.timedelta(seconds=1)
            self.dispatch()
            begun += list(self._begin(slots))
        return begun

    def dispatch(self) -> None:
        with self.capture(execute=True):
            dispatch.fill_buffer()
        stopped = {job for _, job in self.queues.stopped}
        self.playing = {name: job for name, job in self.playing.items() if name not in stopped}
        self.queued += self.queues.take()
        self.queued = [job for job in self.queued if is_open(job)]

    def _begin(self, slots: int) -> Iterable[str]:
        while self.queued and len(self.playing) < slots:
            job = self.queued.pop(0)
            self.playing[job.job] = job
            for told in self.queued[:]:
                if told.job == job.job:
                    self.queued.remove(told)
            keeper.progress(word_of(job.games[0]))
            yield owner_of(job)
        for job in self.playing.values():
            keeper.progress(word_of(job.games[0]))  # renews the lease

    def finish(self, job: GameJob, games: int = 1) -> None:
        """Report the first games of a running job, with the time that it took, and return the others."""
        first, *others = play_short(job)
        began = Attempt.objects.get(pk=first.attempt).started_at
        assert began is not None
        for report in (first, *others[: games - 1]):
            timed = replace(report, started=began.isoformat(), finished=self.now.isoformat())
            assert isinstance(keeper.record(timed), keeper.Recorded)
        for report in others[games - 1 :]:
            keeper.release(Release(report.key, report.attempt, report.worker))
        del self.playing[job.job]

    @property
    def owners(self) -> dict[str, int]:
        """How many slots each owner has."""
        return dict(Counter(map(owner_of, self.playing.values())))


def is_open(job: GameJob) -> bool:
    return Attempt.objects.filter(job=job.job, ended_at=None).exists()


def owner_of(job: GameJob) -> str:
    owner = Tournament.objects.get(slug=job.games[0].key.partition("/")[0]).owner
    return owner.username if owner else "site"


@pytest.fixture
def site(
    queues: FakeBroker,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> Site:
    settings.MAX_GAME_MINUTES = 0
    keeper_started()
    site = Site(queues, django_capture_on_commit_callbacks)
    monkeypatch.setattr(timezone, "now", lambda: site.now)
    return site


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture
def bob() -> User:
    return make_user("bob")


def tournament_of(owner: User | None, name: str, time_control: str = QUICK, pairs: int = 100) -> Tournament:
    versions = [make_version(f"{name} one"), make_version(f"{name} two")]
    return make_tournament(owner=owner, name=name, versions=versions, pairs=pairs, time_control=time_control)


def test_who_waits_gets_a_slot_from_games_that_take_longer_than_expected(
    site: Site, ada: User, bob: User
) -> None:
    make_worker(2)
    tournament_of(ada, "sleeper")
    assert site.run(60, slots=2) == ["ada", "ada"]
    tournament_of(bob, "quick")
    assert site.run(29, slots=2) == []
    assert site.run(5, slots=2) == ["bob"]
    assert site.owners == {"ada": 1, "bob": 1}


def test_the_youngest_game_is_ended_as_nobody_s_fault_and_its_time_is_charged(
    site: Site, ada: User, bob: User
) -> None:
    make_worker(2)
    tournament_of(ada, "sleeper")
    site.run(20, slots=1)
    site.run(60, slots=2)
    tournament_of(bob, "quick")
    site.run(34, slots=2)
    preempted = PreemptedGame.objects.get()
    game = Game.objects.get(pk=preempted.game_id)
    assert (game.state, game.voids, game.lost) == (Game.State.WAITING, 0, 0)
    assert Attempt.objects.get(game=game, started_at__isnull=False).end == Attempt.End.RELEASED
    assert preempted.seconds == pytest.approx(90, abs=3)
    assert OwnerShare.objects.get(owner=ada.pk).served == pytest.approx(90, abs=3)
    assert used_today(ada, site.now) * 3600 == pytest.approx(90 + 113, abs=8)  # the other one still runs


def test_a_game_is_ended_once_and_then_waits_for_a_slot_of_long_games(
    site: Site, ada: User, bob: User
) -> None:
    make_worker(2)
    tournament_of(ada, "sleeper")
    site.run(60, slots=2)
    tournament_of(bob, "quick")
    site.run(34, slots=2)
    ended = PreemptedGame.objects.get().game
    (other,) = (job for job in site.playing.values() if owner_of(job) == "ada")
    site.finish(other, games=2)  # so that the ended game is the next one, whichever of the two it is
    charge({bob.pk: 10_000.0}, site.now)  # so that it is ada's turn
    assert "ada" in site.run(80, slots=2)
    again = Attempt.objects.get(game=ended, ended_at=None)
    assert again.is_long
    site.now += datetime.timedelta(hours=1)
    assert "ada" not in site.run(60, slots=2)
    again.refresh_from_db()
    assert again.end == Attempt.End.OPEN


def test_the_most_served_owner_gives_a_slot_up(site: Site, ada: User, bob: User) -> None:
    make_worker(3)
    tournament_of(ada, "sleeper", pairs=1)
    tournament_of(make_user("cy"), "other sleeper")
    site.run(5, slots=3)
    assert site.owners == {"ada": 1, "cy": 2}
    charge({ada.pk: 1000.0}, site.now)
    site.run(40, slots=3)
    tournament_of(bob, "quick")
    assert site.run(35, slots=3) == ["bob"]
    assert site.owners == {"cy": 2, "bob": 1}


def test_nothing_ends_for_one_who_was_served_more(site: Site, ada: User, bob: User) -> None:
    make_worker(2)
    tournament_of(ada, "sleeper")
    late = tournament_of(bob, "quick")
    site.run(1, slots=1)
    assert site.owners == {"ada": 1}
    Tournament.objects.filter(pk=late.pk).update(state="paused")
    site.run(60, slots=2)
    charge({bob.pk: 5000.0}, site.now)
    Tournament.objects.filter(pk=late.pk).update(state="running")
    OwnerShare.objects.filter(owner=bob.pk).update(is_active=True)
    assert site.run(120, slots=2) == []


def test_a_lower_priority_ends_nothing_and_a_higher_one_does(site: Site, ada: User, bob: User) -> None:
    make_worker(2)
    set_priority(tournament_of(ada, "sleeper"), 1)
    site.run(60, slots=2)
    quick = tournament_of(bob, "quick")
    assert site.run(60, slots=2) == []
    charge({bob.pk: 20_000.0}, site.now)
    set_priority(quick, 2)
    assert "bob" in site.run(3, slots=2)


def test_games_that_are_expected_to_be_long_are_not_ended(site: Site, ada: User, bob: User) -> None:
    """They leave a slot free, which games in it that turn out long must give up."""
    make_worker(2)
    tournament_of(ada, "monster", "999999+999999")
    assert site.run(40, slots=2) == ["ada"]
    tournament_of(bob, "quick")
    assert site.run(1, slots=2) == ["bob"]
    assert site.run(60, slots=2) == []
    tournament_of(make_user("cy"), "third")
    assert site.run(40, slots=2) == ["cy"]
    assert site.owners == {"ada": 1, "cy": 1}


def test_a_long_game_of_another_owner_gets_a_slot_that_long_games_may_have(
    site: Site, ada: User, bob: User
) -> None:
    make_worker(3)
    tournament_of(ada, "sleeper")
    site.run(60, slots=3)
    tournament_of(bob, "monster", "999999+999999")
    assert site.run(34, slots=3) == ["bob"]
    assert site.owners == {"ada": 1, "bob": 1}  # the third slot is free for short games


def test_long_games_give_way_when_a_worker_with_slots_is_lost(site: Site, ada: User, bob: User) -> None:
    make_worker(2, name="east")
    west = make_worker(2, name="west")
    tournament_of(ada, "monster", "999999+999999")
    site.run(40, slots=4)
    assert site.owners == {"ada": 3}
    on_west = Attempt.objects.filter(assigned="west", ended_at=None)
    lost = {str(job) for job in on_west.values_list("job", flat=True)}
    on_west.update(ended_at=site.now, end="lost")
    west.delete()
    site.playing = {name: job for name, job in site.playing.items() if name not in lost}
    tournament_of(bob, "quick")
    assert len(site.playing) == 2 or site.run(1, slots=2) == ["bob"]
    if "bob" not in site.owners:
        assert site.run(40, slots=2) == ["bob"]


def test_with_one_slot_its_job_ends_after_the_current_game(site: Site, ada: User, bob: User) -> None:
    make_worker(1)
    tournament_of(ada, "sleeper")
    assert site.run(60, slots=1) == ["ada"]
    assert Attempt.objects.filter(ended_at=None).count() > 2
    tournament_of(bob, "quick")
    assert site.run(40, slots=1) == []
    (still,) = Attempt.objects.filter(ended_at=None)
    (job,) = site.playing.values()
    assert str(still.pk) == job.games[0].attempt
    assert site.queues.stopped == []
    site.finish(job)
    assert not keeper.progress(word_of(job.games[1]))
    assert site.queues.stopped == [("players@east", job.job)]  # with the first message of the next game
    assert site.run(1, slots=1) == ["bob"]


def test_the_time_of_waiting_begins_again_after_a_game(site: Site, ada: User, bob: User) -> None:
    make_worker(1)
    tournament_of(ada, "sleeper")
    site.run(5, slots=1)
    tournament_of(bob, "quick")
    site.run(2, slots=1)
    assert OwnerShare.objects.get(owner=bob.pk).waits_since == site.now - datetime.timedelta(seconds=1)
    (job,) = site.playing.values()
    site.finish(job)
    dispatch.recall()
    charge({ada.pk: 100.0}, site.now)
    assert site.run(1, slots=1) == ["bob"]
    site.run(1, slots=1)
    assert OwnerShare.objects.get(owner=bob.pk).waits_since is None
    assert OwnerShare.objects.get(owner=ada.pk).waits_since is not None
