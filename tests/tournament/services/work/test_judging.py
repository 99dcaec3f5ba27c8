"""Workers that take work and report none of it: what they lose waits for others, and they get no more."""

from __future__ import annotations

import datetime
import uuid

import pytest
from django.utils import timezone

from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.schedule import (
    OnCommit,
    ask,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    news,
    open_door,
    play_short,
    post,
    record_all,
)
from tournament.models import (
    Attempt,
    Bot,
    BotSearch,
    BotVersion,
    ComplianceCheck,
    Game,
    Job,
    Notice,
    SlotUse,
    Worker,
)
from tournament.services.calendar import sweep
from tournament.services.searches.asking import request_search
from tournament.services.stopping import MAX_TRIES
from tournament.services.uploads import validation
from tournament.services.work import leases
from tournament.services.work.judging import FAILURES_IN_A_ROW, judge, lift_quarantine
from tournament.services.work.leases import LEASE, START_SECONDS
from tournament.services.work.searches import LATELY
from workers.failures import MAX_LOST, MAX_VOIDS
from workers.jobs import ComplianceEnding, Evaluation, SearchNews, Work

pytestmark = pytest.mark.django_db
STEP = datetime.timedelta(seconds=5)
LADDER = "dogon-kulei"


class Site:
    """A site whose clock a test moves; all workers send heartbeats."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def run(self, time: datetime.timedelta) -> None:
        end = self.now + time
        while self.now < end:
            self.now += STEP
            open_door(self.now)
            Worker.objects.update(seen_at=self.now)
            sweep(self.now)

    def lose(self, worker: Worker, *slots: int) -> None:
        """Have slots take work, and report nothing until their leases have run out."""
        for slot in slots or (0,):
            ask(worker, slot, holds=())
        self.run(LEASE + 2 * STEP)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site()
    monkeypatch.setattr(timezone, "now", lambda: site.now)
    open_door(site.now)
    return site


def is_quarantined(worker: Worker) -> bool:
    return Worker.objects.get(pk=worker.pk).is_quarantined


def test_a_worker_that_reports_nothing_is_quarantined_and_ends_no_game(site: Site) -> None:
    staff = make_user("stan", staff=True)
    tournament = make_tournament(bots=6)
    bad = make_worker(8, name="players@bad")
    for _ in range(FAILURES_IN_A_ROW):
        assert not is_quarantined(bad)
        site.lose(bad, *range(8))
    assert is_quarantined(bad)
    assert Worker.objects.get().quarantine_reason == (
        "it took work 3 times in a row and reported none of it, the last:"
        " no word from its worker within a lease"
    )
    assert Notice.objects.filter(user=staff).count() == 1
    assert set(tournament.games.values_list("state", "lost")) == {("waiting", 0)}, "nothing counts"


def test_losses_are_judged_though_the_keeper_was_killed_before_that(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        if not Job.objects.held().exists():
            raise KeyboardInterrupt

    make_tournament(bots=6)
    bad = make_worker(8, name="players@bad")
    for _ in range(FAILURES_IN_A_ROW - 1):
        site.lose(bad, *range(8))
    with monkeypatch.context() as patch:
        patch.setattr(leases, "judge_all", die)
        with pytest.raises(KeyboardInterrupt):
            site.lose(bad, *range(8))
    assert not is_quarantined(bad)
    site.run(STEP)
    assert is_quarantined(bad)


def test_a_game_is_halted_though_the_keeper_was_killed_before_that(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    tournament = make_tournament(pairs=1)
    tournament.games.update(lost=MAX_LOST - 1)
    bad = make_worker(1, name="players@bad")
    with monkeypatch.context() as patch:
        patch.setattr(leases, "halt_after_failures", die)
        with pytest.raises(KeyboardInterrupt):
            site.lose(bad)
    site.run(STEP)
    assert set(tournament.games.values_list("state", flat=True)) == {"halted"}


def test_all_that_a_dead_machine_held_counts_as_one_loss(site: Site) -> None:
    make_tournament(bots=6)
    worker = make_worker(8)
    site.lose(worker, *range(8))
    site.lose(worker, *range(8))
    assert not is_quarantined(worker)
    batch = ask(worker)
    assert batch is not None
    record_all([next(play_short(batch.jobs[0]))])
    site.lose(worker, 1)
    assert not is_quarantined(worker), "there was a result"


def test_a_bot_that_took_part_in_every_lost_batch_may_be_the_cause(site: Site) -> None:
    """Its games may be any of a batch, with any players beside it."""
    tournament = make_tournament(bots=9)
    first = BotVersion.objects.order_by("pk")[0].pk
    worker = make_worker(1)
    batches = ([(1, 2), (5, 8), (9, 2)], [(2, 3), (5, 7), (8, 3)], [(3, 4), (5, 6), (7, 4)])
    for number, pairs in enumerate(batches):
        taken = site.now + number * LEASE
        job = Job.objects.create(
            ask=uuid.uuid4(),
            worker=worker.name,
            slot=0,
            kind="games",
            taken_at=taken,
            lease_until=taken + LEASE,
            ends_by=taken + LEASE,
            ended_at=taken + LEASE,
            end=Job.End.LOST,
        )
        for white, black in pairs:
            game = tournament.games.filter(white=first + white - 1, black=first + black - 1)[0]
            times = {"sent_at": taken, "ended_at": taken + LEASE}
            game.attempts.create(job=job, end=Attempt.End.LOST, **times)
    assert not judge(worker, site.now + 3 * LEASE)
    Attempt.objects.filter(game__white=first + 4).delete()
    assert judge(worker, site.now + 3 * LEASE)


def test_losses_before_a_release_do_not_count(site: Site) -> None:
    make_tournament(bots=6)
    worker = make_worker(8)
    for _ in range(FAILURES_IN_A_ROW):
        site.lose(worker)
    lift_quarantine(Worker.objects.get(), site.now)
    site.lose(worker)
    assert not is_quarantined(worker)


def test_one_worker_s_losses_and_voids_halt_no_game_that_another_may_play(site: Site) -> None:
    tournament = make_tournament()
    one, other = make_worker(1), make_worker(1, name="players@west")
    for _ in range(MAX_LOST + 1):
        site.lose(one)
    assert set(tournament.games.values_list("state", "lost")) == {("waiting", MAX_LOST + 1)}
    Game.objects.update(voids=MAX_VOIDS - 1)
    site.lose(other)
    assert set(tournament.games.values_list("state", flat=True)) == {"halted"}


def test_a_game_does_not_wait_for_a_worker_that_runs_no_uploads(site: Site) -> None:
    tournament = make_tournament()
    one = make_worker(1)
    make_worker(1, name="players@west", refusal="its sandbox is of level C")
    for _ in range(MAX_LOST):
        assert set(tournament.games.values_list("state", flat=True)) == {"waiting"}
        site.lose(one)
    assert set(tournament.games.values_list("state", flat=True)) == {"halted"}


# Checks


def test_a_check_of_a_slot_that_posts_for_ever_ends(site: Site) -> None:
    ada = make_user("ada")
    version = make_version("Cy", owner=ada, state=BotVersion.State.WAITING)
    check = validation.begin(version, site.now)
    assert check is not None
    assert ask(make_worker(1, name="checks@east", takes="checks")) is not None
    began = site.now
    while not ComplianceCheck.objects.get(pk=check.pk).ended_at:
        validation.record_news(news(version, ComplianceEnding.NONE), site.now)
        post(str(ComplianceCheck.objects.get(pk=check.pk).job_id), now=site.now)
        site.run(STEP)
    most = START_SECONDS + check.seconds
    assert most <= (site.now - began).total_seconds() <= most + 10
    assert SlotUse.objects.get(owner=ada).validation_seconds <= most
    assert ComplianceCheck.objects.get(pk=check.pk).end == ComplianceCheck.End.LOST


def test_one_worker_s_lost_checks_put_no_version_off_that_another_may_check(site: Site) -> None:
    version = make_version("Cy", owner=make_user("ada"), state=BotVersion.State.WAITING)
    validation.begin(version, site.now)
    bad = make_worker(1, name="checks@bad", takes="checks")
    other = make_worker(1, name="checks@west", takes="checks")
    for _ in range(2 * MAX_TRIES):
        site.lose(bad)
    version.refresh_from_db()
    assert version.state == BotVersion.State.VALIDATING
    site.lose(other)
    version.refresh_from_db()
    assert "could not be checked" in version.state_reason


def test_lost_checks_of_several_bots_quarantine_their_worker(site: Site, on_commit: OnCommit) -> None:
    for number in range(4):
        owner = make_user(f"user{number}")
        version = make_version(f"Bot {number}", owner=owner, state=BotVersion.State.WAITING)
        validation.begin(version, site.now)
    bad = make_worker(1, name="checks@bad", takes="checks")
    for _ in range(FAILURES_IN_A_ROW):
        with on_commit():
            site.lose(bad)
    assert is_quarantined(bad)
    assert not BotVersion.objects.exclude(state=BotVersion.State.VALIDATING).exists()


def test_a_check_does_not_wait_for_a_worker_that_runs_no_uploads(site: Site) -> None:
    version = make_version("Cy", owner=make_user("ada"), state=BotVersion.State.WAITING)
    validation.begin(version, site.now)
    bad = make_worker(1, name="checks@bad", takes="checks")
    make_worker(1, name="checks@west", takes="checks", refusal="its sandbox is of level C")
    for _ in range(MAX_TRIES):
        site.lose(bad)
    version.refresh_from_db()
    assert "could not be checked" in version.state_reason


# Searches


def search(site: Site, name: str) -> BotSearch:
    version = make_version(f"Oracle of {name}", games=[LADDER])
    Bot.objects.update(answers=True)
    start = GAMES[LADDER].position.initial()
    user, now = make_user(name), site.now
    return request_search(LADDER, version, start, (), (0,), 1000, user=user, address="", now=now)


def test_a_search_that_one_worker_lost_goes_to_another(site: Site) -> None:
    takes = (Work.ANALYSIS, Work.CHECKS)
    bad, other = (DoorWorker(name=f"checks@{name}", takes=takes, slots=1) for name in ("bad", "west"))
    bad.beat()
    other.beat()
    asked = search(site, "anna")
    assert bad.ask() is not None
    site.run(LEASE + 2 * STEP)
    assert bad.ask() is None
    batch = other.ask()
    assert batch is not None
    assert batch.search is not None
    other.post(batch.job, search=SearchNews(batch.job, f"{other.name}/0", (), is_over=True))
    asked.refresh_from_db()
    assert (asked.ended_at, asked.is_held) == (None, False)
    batch = bad.ask()
    assert batch is not None


def test_a_search_of_an_uploaded_bot_waits_for_no_worker_that_runs_none(site: Site) -> None:
    worker = DoorWorker(name="checks@west", takes=(Work.ANALYSIS, Work.CHECKS), slots=1)
    other = DoorWorker(name="players@east", takes=(Work.ANALYSIS, Work.GAMES), slots=1)
    worker.beat()
    other.beat(level="C", refusal="its sandbox is of level C")
    search(site, "anna")
    Bot.objects.update(owner=make_user("olaf"))
    fail_search(worker)
    assert other.ask() is None
    assert worker.ask() is not None


def test_a_worker_that_failed_a_search_gets_it_again_if_no_other_takes_it_for_long(site: Site) -> None:
    takes = (Work.ANALYSIS, Work.CHECKS)
    one, other = (DoorWorker(name=f"checks@{name}", takes=takes, slots=1) for name in ("east", "west"))
    one.beat()
    other.beat()
    search(site, "anna")
    fail_search(one)
    assert one.ask() is None
    site.run(LATELY + STEP)
    assert one.ask() is not None


def fail_search(worker: DoorWorker) -> None:
    """Have a worker take a search, and return it with nothing evaluated."""
    batch = worker.ask()
    assert batch is not None
    assert batch.search is not None
    worker.post(batch.job, search=SearchNews(batch.job, f"{worker.name}/0", (), is_over=True))


def test_lost_searches_quarantine_their_worker(site: Site) -> None:
    bad = DoorWorker(name="checks@bad", takes=(Work.ANALYSIS, Work.CHECKS), slots=1)
    other = DoorWorker(name="checks@west", takes=(Work.ANALYSIS, Work.CHECKS), slots=1)
    bad.beat()
    other.beat()
    for number in range(FAILURES_IN_A_ROW):
        search(site, f"user{number}")
        assert bad.ask() is not None
        site.run(LEASE + 2 * STEP)
    assert is_quarantined(Worker.objects.get(name="checks@bad"))
    assert not is_quarantined(Worker.objects.get(name="checks@west"))


def test_a_search_of_a_slot_that_posts_for_ever_waits_again(site: Site) -> None:
    worker = DoorWorker(takes=(Work.ANALYSIS, Work.GAMES), slots=1)
    worker.beat()
    asked = search(site, "anna")
    batch = worker.ask()
    assert batch is not None
    began = site.now
    while BotSearch.objects.get(pk=asked.pk).is_held:
        told = (Evaluation(0, "", f"+0.1/{site.now.second} 1.0s"),)
        worker.post(batch.job, search=SearchNews(batch.job, f"{worker.name}/0", told))
        site.run(STEP)
    most = START_SECONDS + asked.seconds
    assert most <= (site.now - began).total_seconds() <= most + 10
