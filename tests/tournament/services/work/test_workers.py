"""The site's workers: known by what they tell, lost when they fall silent, quarantined when they void."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.release import RELEASE
from tests.support.door import make_token
from tests.support.heartbeats import heartbeat_of
from tests.support.schedule import (
    Deal,
    OnCommit,
    ask,
    game_of,
    make_tournament,
    make_user,
    make_version,
    open_door,
    play,
    record,
    record_all,
    start_validation,
    void,
)
from tournament.models import Attempt, BotVersion, ComplianceCheck, Door, Game, Notice, Token, User, Worker
from tournament.services.accounts.tokens import find_token
from tournament.services.calendar import sweep
from tournament.services.heartbeats import receive_heartbeat
from tournament.services.results import keeper
from tournament.services.uploads import availability as uploads
from tournament.services.work import judging, workers
from workers.failures import MAX_VOIDS
from workers.jobs import BOTH_UNABLE, MAX_SLOTS, PROTOCOL, Admission, GameReport, Heartbeat, Work
from workers.sandbox.levels import Level, Verdict
from workers.sandbox.policy import write_verdict

pytestmark = pytest.mark.django_db
NO_WALLS = "its sandbox is of level C"
RUN, NEXT_RUN = (str(uuid.UUID(int=number)) for number in (1, 2))
CHECKS = (Work.CHECKS,)


def beat(worker: str = "players@east", **told: object) -> Heartbeat:
    return heartbeat_of(worker, **{"run": RUN, "host": "cellar-7", "version": RELEASE, **told})


@pytest.fixture
def token(db: None) -> Token:
    found = find_token(make_token(make_user("boss", staff=True)), timezone.now())
    assert found is not None
    return found


@pytest.fixture
def answers() -> list[Admission]:
    """What workers were answered to their heartbeats."""
    return []


@pytest.fixture
def hear(token: Token, answers: list[Admission], on_commit: OnCommit) -> Hear:
    """Handle a heartbeat; returns the worker."""

    def take_in(told: Heartbeat) -> Worker:
        with on_commit():
            answers.append(receive_heartbeat(told, token, timezone.now()))
        return Worker.objects.get(name=told.worker)

    return take_in


Hear = Callable[[Heartbeat], Worker]


def by(report: GameReport, worker: str = "players@east") -> GameReport:
    return replace(report, worker=f"{worker}/4711")


def void_all(deal: Deal) -> None:
    """Have the worker void every game that is given out now."""
    for job in deal():
        for game in job.games:
            record(by(void(play(job, game))))


def test_a_worker_is_known_by_its_first_heartbeat_and_admitted(hear: Hear, answers: list[Admission]) -> None:
    worker = hear(beat(busy=1, games=7, games_an_hour=120))
    assert (worker.condition, worker.host, worker.games_an_hour) == ("busy", "cellar-7", 120)
    assert answers == [Admission(True)]
    assert hear(beat(takes=(Work.CHECKS, Work.GAMES))).takes == "games,checks"
    assert hear(beat(takes=(Work.OWN, Work.GAMES))).takes == "games", (
        "only a token makes a worker a user's own"
    )
    with pytest.raises(workers.WorkerNameError, match="must take games or checks"):
        hear(beat(takes=(Work.OWN,)))
    assert Worker.objects.get().condition == "idle"


def test_a_worker_is_the_same_at_each_start(hear: Hear) -> None:
    first = hear(beat())
    Worker.objects.update(started_at=timezone.now() - timedelta(hours=1))
    assert hear(beat()).started_at < timezone.now() - timedelta(minutes=59)
    assert hear(beat(run=NEXT_RUN)).started_at > timezone.now() - timedelta(minutes=1)
    assert Worker.objects.get().pk == first.pk


def test_another_version_of_the_messages_is_refused_with_who_must_be_updated() -> None:
    assert workers.why_foreign(PROTOCOL) == ""
    assert workers.why_foreign(1) == (
        f"this worker and the site of release {RELEASE} do not understand each other"
        f" (version 1 and {PROTOCOL} of their messages): update the worker"
    )
    assert workers.why_foreign(PROTOCOL + 1).endswith(": update the site")


def test_a_worker_of_another_release_with_the_same_messages_plays_on(hear: Hear) -> None:
    assert hear(beat(version="0.0.9")).condition == "idle"


def test_the_games_and_checks_of_a_worker_that_stops_wait_again(hear: Hear, deal: Deal) -> None:
    make_tournament()
    hear(beat(takes=(Work.GAMES, Work.CHECKS)))
    check = ComplianceCheck.objects.create(
        version=make_version("Cy", state=BotVersion.State.VALIDATING), sent_at=timezone.now()
    )
    games, taken = ask(), ask(slot=1)
    assert games is not None
    assert taken is not None
    check.refresh_from_db()
    assert taken.job == str(check.job_id)
    assert hear(beat(stopping=True, takes=(Work.GAMES, Work.CHECKS))).condition == "stopped"
    assert set(Game.objects.values_list("state", "lost", "voids")) == {("waiting", 0, 0)}
    assert list(ComplianceCheck.objects.order_by("sent_at").values_list("end", "job__worker")) == [
        ("returned", "players@east"),
        ("", None),
    ]


def test_a_silent_worker_is_lost_and_found_again(hear: Hear) -> None:
    """Not while workers have only just been able to reach the site again."""
    now = timezone.now()
    hear(beat(busy=2))
    Worker.objects.update(seen_at=now - workers.LOST_AFTER - timedelta(seconds=1))
    sweep(now)
    assert Worker.objects.get().condition == "busy"
    open_door(now)
    Door.objects.update(open_since=now - workers.LOST_AFTER / 2)
    sweep(now)
    assert Worker.objects.get().condition == "busy"
    open_door(now)
    sweep(now)
    worker = Worker.objects.get()
    assert (worker.condition, worker.busy) == ("lost", 0)
    assert hear(beat()).condition == "idle"


@pytest.mark.parametrize("state", ["up", "lost"])
def test_a_silent_worker_that_may_not_come_back_is_stopped_and_not_lost(hear: Hear, state: str) -> None:
    """Its token is revoked, or its user's account was deactivated."""
    rows = {name: hear(beat(name)) for name in ("revoked@east", "closed@east", "silent@east")}
    tokens = [
        Token.objects.create(user=make_user(name), name="t", digest=name, scopes=["work"])
        for name in ("ada", "bob")
    ]
    Token.objects.filter(pk=tokens[0].pk).update(revoked_at=timezone.now())
    User.objects.filter(username="bob").update(is_active=False)
    for row, token in zip((rows["revoked@east"], rows["closed@east"]), tokens, strict=True):
        Worker.objects.filter(pk=row.pk).update(token=token)
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=1), state=state)
    open_door()
    workers.sweep_workers(timezone.now())
    conditions = {worker.name: worker.condition for worker in Worker.objects.all()}
    assert conditions == {"revoked@east": "stopped", "closed@east": "stopped", "silent@east": "lost"}


def test_workers_long_gone_are_forgotten_unless_they_are_quarantined(hear: Hear) -> None:
    for name in ("players@east", "players@west", "players@north"):
        hear(beat(name, stopping=name != "players@north"))
    judging.quarantine(Worker.objects.get(name="players@west"), "it smells", timezone.now())
    Worker.objects.update(seen_at=timezone.now() - timedelta(days=8))
    open_door()
    workers.sweep_workers(timezone.now())
    assert list(Worker.objects.values_list("name", "state")) == [
        ("players@north", "lost"),
        ("players@west", "stopped"),
    ]


def test_what_a_worker_says_of_itself_is_bounded_and_escaped(hear: Hear) -> None:
    hostile = "x\x1b[31m\0" * 1000
    worker = hear(beat(host=hostile, speed=hostile, level=hostile, refusal=hostile, slots=2**62, voids=2**62))
    assert worker.host.isprintable()
    assert (worker.level, worker.slots, worker.voids) == ("C", MAX_SLOTS, workers.MAX_NUMBER)
    assert len(worker.refusal) <= workers.MAX_SENTENCE


def test_one_token_runs_a_limited_number_of_workers_a_day(
    hear: Hear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MAX_NEW_NAMES", 2)
    for number in range(2):
        hear(beat(f"players@{number}"))
    with pytest.raises(workers.WorkerNameError, match="has run 2 workers within a day"):
        hear(beat("players@2"))
    hear(beat("players@1"))
    Worker.objects.update(seen_at=timezone.now() - timedelta(days=2))
    hear(beat("players@2"))


def test_trouble_is_kept_with_its_time(hear: Hear) -> None:
    hear(beat(trouble="the canary game ended in stall", held=2))
    worker = hear(beat(held=2))
    assert (worker.trouble, worker.condition) == ("the canary game ended in stall", "held")
    assert worker.trouble_at is not None


# Quarantine


def test_a_worker_that_voids_three_games_in_a_row_is_quarantined(hear: Hear, deal: Deal) -> None:
    """Its voids count against no game, and staff hears of it."""
    staff = make_user("stan", staff=True)
    tournament = make_tournament(bots=6)
    hear(beat())
    void_all(deal)
    worker = Worker.objects.get()
    assert worker.condition == "quarantined"
    assert worker.quarantine_reason == "it voided 3 games in a row, the last: the disk is full"
    for _ in range(MAX_VOIDS + 1):
        void_all(deal)
        hear(beat())  # what it still has waits again
    assert {(game.state, game.voids) for game in tournament.games.all()} == {(Game.State.WAITING, 0)}
    (notice,) = Notice.objects.filter(user=staff)
    assert notice.text.startswith("The worker players@east is quarantined: it voided 3 games in a row")


def test_a_quarantined_worker_gets_no_jobs_however_often_it_starts(
    hear: Hear, answers: list[Admission]
) -> None:
    judging.quarantine(hear(beat()), "it smells", timezone.now())
    hear(beat(stopping=True))
    hear(beat(run=NEXT_RUN))
    assert answers[1:] == [Admission(False, "it smells")] * 2
    assert Worker.objects.get().condition == "quarantined"


def test_a_released_worker_begins_anew(hear: Hear, deal: Deal, answers: list[Admission]) -> None:
    make_tournament(bots=6)
    hear(beat())
    void_all(deal)
    hear(beat())
    judging.lift_quarantine(Worker.objects.get(), timezone.now())
    hear(beat())
    assert [answer.admitted for answer in answers] == [True, False, True]
    job = deal()[0]
    record(by(void(play(job, job.games[0]))))
    assert not Worker.objects.get().is_quarantined
    assert game_of(play(job, job.games[0])).voids == 1


def test_voids_with_results_between_them_are_no_quarantine(hear: Hear, deal: Deal) -> None:
    make_tournament(bots=6)
    hear(beat())
    for number, job in enumerate(deal()):
        one, two = (play(job, game) for game in job.games)
        record_all([by(void(one)), by(two)] if number % 2 else [by(two), by(void(one))])
    assert not Worker.objects.get().is_quarantined
    assert Game.objects.filter(voids=1).count() > judging.FAILURES_IN_A_ROW


def test_a_bot_that_is_the_trouble_halts_its_games_and_no_worker(hear: Hear, deal: Deal) -> None:
    """Every void has the bot in it, and nobody else could play it either."""
    hero = make_version("Hero")
    for number in range(3):
        make_tournament(versions=[hero, make_version(f"Bot {number}")], name=f"Event {number}")
    hear(beat())
    for _ in range(MAX_VOIDS):
        void_all(deal)
    assert not Worker.objects.get().is_quarantined
    assert list(Game.objects.values_list("state", flat=True)) == [Game.State.HALTED] * 6


def test_a_bot_that_others_play_is_not_the_trouble(hear: Hear, deal: Deal) -> None:
    """The same voids, but another worker records games between the same two."""
    tournament = make_tournament(pairs=4)
    hear(beat())
    west = hear(beat("players@west"))
    east = Worker.objects.get(name="players@east")
    first, other, second = (one.jobs[0] for one in (ask(east), ask(west), ask(east, 1)) if one)
    record_all([by(void(play(first, game))) for game in first.games])
    record(replace(play(other, other.games[0]), worker="players@west/1"))
    quarantined = Worker.objects.filter(quarantined_at__isnull=False).values_list("name", flat=True)
    assert list(quarantined) == []
    record(by(void(play(second, second.games[0]))))
    assert list(quarantined.all()) == ["players@east"]
    assert tournament.games.filter(voids__gt=0).count() == 0


@pytest.mark.parametrize(
    "evidence", [f"{BOTH_UNABLE}: white: no", "uploaded bots are not run by this worker: C"]
)
def test_voids_that_a_sound_worker_must_tell_are_no_quarantine(hear: Hear, deal: Deal, evidence: str) -> None:
    make_tournament(bots=6)
    hear(beat())
    for job in deal():
        for game in job.games:
            record(by(replace(void(play(job, game)), evidence=evidence)))
    assert not Worker.objects.get().is_quarantined


def test_a_quarantined_worker_halts_no_game_at_once_either(hear: Hear, deal: Deal) -> None:
    start_validation(make_version("Cy", owner=make_user()))
    worker = hear(beat("validators@east", takes=CHECKS))
    (job,) = deal()
    judging.quarantine(worker, "it smells", timezone.now())
    told = replace(void(play(job, job.games[0])), evidence=f"{BOTH_UNABLE}: white: no")
    record(by(told, "validators@east"))
    assert Game.objects.get(key=job.games[0].key).state == Game.State.WAITING


def test_the_void_that_quarantines_its_worker_does_not_halt_its_game(hear: Hear, deal: Deal) -> None:
    tournament = make_tournament(bots=6)
    Game.objects.update(voids=MAX_VOIDS - 1)
    hear(beat())
    jobs = deal()
    for job in jobs[:3]:
        Game.objects.filter(key=job.games[0].key).update(voids=0 if job is not jobs[2] else MAX_VOIDS - 1)
        record(by(void(play(job, job.games[0]))))
    assert Worker.objects.get().is_quarantined
    last = Game.objects.get(key=jobs[2].games[0].key)
    assert (last.state, last.voids) == (Game.State.WAITING, MAX_VOIDS - 1)
    assert not tournament.games.filter(state=Game.State.HALTED).exists()


def test_a_good_result_of_a_quarantined_worker_is_recorded_all_the_same(hear: Hear, deal: Deal) -> None:
    make_tournament()
    worker = hear(beat())
    (job,) = deal()
    judging.quarantine(worker, "it smells", timezone.now())
    assert isinstance(record(by(play(job, job.games[0]))), keeper.Recorded)
    assert Attempt.objects.filter(end=Attempt.End.RECORDED).count() == 1


# Uploads


def test_a_worker_that_runs_no_uploads_is_barred_while_others_do(
    hear: Hear, answers: list[Admission]
) -> None:
    assert hear(beat("players@west", level="C", refusal=NO_WALLS)).condition == "idle"
    hear(beat("players@east"))
    west = hear(beat("players@west", level="C", refusal=NO_WALLS))
    why = f"it does not run uploaded bots, and others do: {NO_WALLS}"
    assert (west.condition, west.why) == ("barred", why)
    assert answers[-1] == Admission(False, why)
    hear(beat("players@east", stopping=True))
    assert hear(beat("players@west", level="C", refusal=NO_WALLS)).condition == "idle"


def test_a_worker_of_checks_does_not_bar_a_worker_of_games(hear: Hear) -> None:
    hear(beat("validators@east", takes=CHECKS))
    assert hear(beat("players@west", level="C", refusal=NO_WALLS)).condition == "idle"
    both = beat("both@west", takes=(Work.GAMES, Work.CHECKS), level="C", refusal=NO_WALLS)
    assert hear(both).condition == "idle"


def test_uploads_wait_for_workers_that_have_yet_to_take_up_the_sandbox_that_was_found(
    hear: Hear, settings: Settings
) -> None:
    """A worker that starts again finds it and writes it down before the other one has."""
    version = make_version(owner=make_user(), state=BotVersion.State.WAITING)
    for name, takes in (("players@east", (Work.GAMES,)), ("validators@east", CHECKS)):
        hear(beat(name, takes=takes, level="C", refusal=NO_WALLS))
    write_verdict(settings.CACHE, Verdict(Level.A))
    hear(beat("players@east", run=NEXT_RUN))
    assert not uploads.current_state().are_run
    hear(beat("validators@east", takes=CHECKS, run=NEXT_RUN))
    assert uploads.current_state().are_run
    version.refresh_from_db()
    assert version.state == BotVersion.State.VALIDATING
    assert ComplianceCheck.objects.count() == 1


def test_what_waited_is_validated_once_workers_that_refused_have_started_again(
    hear: Hear, settings: Settings
) -> None:
    """They stop, and the first of them writes down what it found, before any of them is heard of again."""
    make_version(owner=make_user(), state=BotVersion.State.WAITING)
    takes_of = {"players@east": (Work.GAMES,), "validators@east": CHECKS}
    for stopping in (False, True):
        for name, takes in takes_of.items():
            hear(beat(name, takes=takes, level="C", refusal=NO_WALLS, stopping=stopping))
    write_verdict(settings.CACHE, Verdict(Level.A))
    assert uploads.current_state().are_run
    assert not ComplianceCheck.objects.exists()
    hear(beat("players@east", run=NEXT_RUN))
    assert ComplianceCheck.objects.count() == 1
    hear(beat("validators@east", takes=CHECKS, run=NEXT_RUN))
    assert ComplianceCheck.objects.count() == 1


def test_a_worker_that_starts_again_as_it_was_has_nothing_validated(hear: Hear) -> None:
    """It may have been the version under examination that killed it."""
    for name, takes in (("players@east", (Work.GAMES,)), ("validators@east", CHECKS)):
        hear(beat(name, takes=takes))
    make_version(owner=make_user(), state=BotVersion.State.WAITING)
    hear(beat("validators@east", takes=CHECKS, run=NEXT_RUN))
    assert not ComplianceCheck.objects.exists()


def test_the_least_of_the_sandboxes_is_told(hear: Hear, settings: Settings) -> None:
    hear(beat("players@east"))
    hear(beat("players@west", level="B"))
    hear(beat("validators@east", takes=CHECKS))
    assert uploads.current_state().is_partial
    hear(beat("players@north", level="C"))
    stand = uploads.current_state()
    assert not stand.is_partial
    assert stand.reason == "uploaded bots are run without a sandbox by the worker players@north"


def test_nobody_is_up_when_a_site_starts_before_he_is_heard_of(hear: Hear) -> None:
    hear(beat())
    workers.presume_lost()
    assert not Worker.objects.up().exists()
    assert hear(beat()).condition == "idle"


def test_uploads_wait_until_workers_elsewhere_run_them(hear: Hear) -> None:
    version = make_version(owner=make_user(), state=BotVersion.State.WAITING)
    hear(beat("players@east", level="C", refusal=NO_WALLS))
    assert uploads.waiting_reason() == (
        f"uploaded bots wait: no worker that is up runs them. The worker players@east: {NO_WALLS}"
    )
    hear(beat("players@west"))
    assert not uploads.current_state().are_run
    hear(beat("validators@west", takes=CHECKS))
    assert uploads.current_state().are_run
    version.refresh_from_db()
    assert version.state == BotVersion.State.VALIDATING
    assert ComplianceCheck.objects.count() == 1
