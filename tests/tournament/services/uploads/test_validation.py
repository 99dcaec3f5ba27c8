"""From an upload to a verdict: the examination, the games after it, its stop, and the fate of the bytes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.rules.base import Result
from tests.support.schedule import (
    Deal,
    OnCommit,
    ask,
    charge,
    forfeit,
    make_user,
    make_version,
    make_worker,
    news,
    open_door,
    pack_bot,
    pass_check,
    play,
    play_all,
    post,
    record,
    start_validation,
    void,
)
from tournament.models import (
    ActiveVersion,
    BotVersion,
    ComplianceCheck,
    Game,
    Ignored,
    Job,
    RatingEvent,
    Tournament,
    User,
    Worker,
)
from tournament.services.calendar import sweep
from tournament.services.fair_share import used_today
from tournament.services.locks import lock_row, lock_tournaments
from tournament.services.results import keeper
from tournament.services.stopping import MAX_TRIES, end_jobs, release
from tournament.services.uploads import stopping, validation
from tournament.services.uploads.stopping import stop_validation
from tournament.services.uploads.submission import BundleError, submit_bundle
from tournament.services.work.leases import LEASE
from workers.jobs import BOTH_UNABLE, ComplianceEnding, ComplianceJob, Finding, GameJob
from workers.service.compliance import MAX_LOG, MAX_SENTENCE

pytestmark = pytest.mark.django_db

Submit = Callable[..., BotVersion]
Take = Callable[..., ComplianceJob | None]
Hear = Callable[..., bool]
Validating = tuple[BotVersion, GameJob]
Taken = list[ComplianceJob]
State = BotVersion.State
OK = Finding("handshake", "")
FAULT = Finding(
    "legal moves", "duploline", "illegal move 'x'", "read the position", "> go", "oops", is_grave=True
)
FLAW = replace(FAULT, check="quit", ladder="", fault="it stayed", is_grave=False)


@pytest.fixture(autouse=True)
def trust(settings: Settings) -> None:
    settings.TRUST_UPLOADS = True


@pytest.fixture(autouse=True)
def checker(db: None) -> Worker:
    """The worker that takes the checks."""
    return make_worker(name="checker", takes="checks")


@pytest.fixture
def taken(checker: Worker) -> Taken:
    """The checks that its slots have taken so far."""
    return []


@pytest.fixture
def take(taken: Taken) -> Take:
    """Have a slot of a worker ask; returns the check that it gets."""

    def take_one(name: str = "checker", slot: int = 0) -> ComplianceJob | None:
        batch = ask(Worker.objects.get(name=name), slot)
        if batch is None or batch.check is None:
            return None
        taken.append(batch.check)
        return batch.check

    return take_one


@pytest.fixture
def submit(take: Take, on_commit: OnCommit) -> Submit:
    """Upload a bot; a slot takes its check."""

    def upload(name: str = "ada", **more: object) -> BotVersion:
        with on_commit():
            version = submit_bundle(make_user(name), pack_bot(**more))  # type: ignore[arg-type]
        take()
        return version

    return upload


@pytest.fixture
def hear(take: Take, on_commit: OnCommit) -> Hear:
    """Let the site have news of a check, with all that follows; the row is fresh then, and a slot asks."""

    def tell(version: BotVersion, *words: object, **more: object) -> bool:
        with on_commit():
            heard = validation.record_news(news(version, *words, **more), timezone.now())  # type: ignore[arg-type]
        version.refresh_from_db()
        take()
        return heard

    return tell


def test_a_site_started_with_trust_validates_what_waited(settings: Settings) -> None:
    settings.TRUST_UPLOADS = False
    version = submit_bundle(make_user(), pack_bot())
    settings.TRUST_UPLOADS = True
    assert validation.validate_waiting() == 1
    assert validation.validate_waiting() == 0
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (State.VALIDATING, "")
    assert version.checks.count() == 1


def test_an_upload_is_examined_in_a_worker_first(submit: Submit, taken: Taken, deal: Deal) -> None:
    version = submit(games=["duploline", "dogon-kulei"])
    (job,) = taken
    assert job.engine == version.engine_spec()
    assert job.games == ("duploline", "dogon-kulei")
    assert job.exam == str(version.checks.get().job_id)
    assert (version.state, deal()) == (State.VALIDATING, [])


def test_what_is_found_is_kept_as_it_comes_and_repeats_change_nothing(submit: Submit, hear: Hear) -> None:
    version = submit()
    assert hear(version, ComplianceEnding.NONE, OK, FLAW)
    assert hear(version, ComplianceEnding.NONE, OK)  # it was overtaken
    assert version.checks.get().findings == [OK, FLAW]
    assert version.checks.get().unpacked


def test_a_version_that_plays_itself_on_every_ladder_is_valid_and_active(submit: Submit, deal: Deal) -> None:
    version = submit(games=["duploline", "dogon-kulei"])
    pass_check(version)
    assert version.validation is not None
    assert version.validation.kind == "validation"
    jobs = deal()
    assert sorted(job.game for job in jobs) == ["dogon-kulei", "duploline"]
    assert not version.activities.exists()
    for job in jobs:
        for report in play_all(job):
            assert isinstance(record(report), keeper.Recorded)
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (State.VALID, "")
    assert sorted(active.ladder_id for active in version.activities.all()) == ["dogon-kulei", "duploline"]
    assert not RatingEvent.objects.exists()
    assert version.bundle.path.exists()


def test_a_grave_fault_refuses_the_version_and_deletes_its_bytes(
    submit: Submit, hear: Hear, deal: Deal
) -> None:
    version = submit()
    assert version.bundle.path.exists()
    hear(version, ComplianceEnding.DONE, OK, FLAW, FAULT)
    assert version.state == State.REFUSED
    assert version.state_reason == (
        "the compliance check 'legal moves' on duploline failed: illegal move 'x'"
    )
    assert not version.bundle.path.exists()
    assert deal() == []


def test_a_flaw_that_loses_no_game_is_told_and_forgiven(submit: Submit, hear: Hear) -> None:
    version = submit()
    hear(version, ComplianceEnding.DONE, OK, FLAW)
    assert version.state == State.VALIDATING
    assert version.validation is not None
    assert set(version.validation.games.values_list("state", flat=True)) == {"claimed"}


def test_a_bundle_that_cannot_be_unpacked_is_refused_and_deleted(submit: Submit, hear: Hear) -> None:
    version = submit()
    hear(version, ComplianceEnding.REFUSED, why="entry 'x' is damaged", unpacked=False)
    assert version.state == State.REFUSED
    assert version.state_reason == "the bundle cannot be used: entry 'x' is damaged"
    assert not version.bundle.path.exists()


def test_refused_bytes_are_refused_again_by_name(submit: Submit, hear: Hear) -> None:
    version = submit()
    hear(version, ComplianceEnding.REFUSED, why="entry 'x' is damaged")
    assert version.bot.owner is not None
    with pytest.raises(BundleError, match="the same bytes are already 'Stone Age v1', which was refused"):
        submit_bundle(version.bot.owner, pack_bot())


def test_bytes_that_another_version_plays_with_stay(submit: Submit, hear: Hear) -> None:
    version = submit()
    other = make_version("Twin")
    BotVersion.objects.filter(pk=other.pk).update(bundle=version.bundle)
    hear(version, ComplianceEnding.REFUSED, why="no good")
    assert version.bundle.path.exists()


@pytest.mark.parametrize("ending", [ComplianceEnding.FAILED, ComplianceEnding.RETURNED])
def test_trouble_of_our_own_is_not_the_bot_s_and_it_is_examined_again(
    ending: ComplianceEnding, submit: Submit, hear: Hear, taken: Taken
) -> None:
    version = submit()
    hear(version, ending, why="the disk is full")
    assert version.state == State.VALIDATING
    assert [job.exam for job in taken] == [str(check.job_id) for check in version.checks.order_by("sent_at")]
    assert len(taken) == 2


def test_after_three_failures_it_waits_and_says_why(submit: Submit, hear: Hear, taken: Taken) -> None:
    version = submit()
    for _ in range(MAX_TRIES):
        hear(version, ComplianceEnding.FAILED, why="the disk is full")
    assert version.state == State.WAITING
    assert version.state_reason == "it could not be checked in 3 attempts, the last: the disk is full"
    assert len(taken) == 3
    assert version.bundle.path.exists()


def test_a_worker_told_to_stop_is_no_failure(submit: Submit, hear: Hear) -> None:
    version = submit()
    for _ in range(5 * MAX_TRIES):
        hear(version, ComplianceEnding.RETURNED)
    assert version.state == State.VALIDATING


def test_news_from_a_stranger_is_counted_and_ignored(submit: Submit) -> None:
    told = replace(news(submit()), exam=str(uuid.UUID(int=7)))
    assert not validation.record_news(told, timezone.now())
    assert Ignored.objects.get(reason="foreign").count == 1


def test_the_last_word_comes_twice_and_counts_once(submit: Submit) -> None:
    version = submit()
    told = news(version)
    assert validation.record_news(told, timezone.now())
    assert not validation.record_news(told, timezone.now())
    assert Tournament.objects.count() == 1


def test_nothing_a_worker_tells_is_kept_unescaped_or_unbounded(submit: Submit, hear: Hear) -> None:
    nasty = "\x00\x1b[2J\u202e\x9b" * 50_000
    version = submit()
    hear(
        version,
        ComplianceEnding.DONE,
        Finding(nasty, nasty, nasty, nasty, nasty, nasty, is_grave=True),
        why=nasty,
    )
    check = version.checks.get()
    (found,) = check.findings
    for text, most in (
        (found.fault, MAX_SENTENCE),
        (found.lines, MAX_LOG),
        (found.stderr, MAX_LOG),
        (check.why, MAX_SENTENCE),
    ):
        assert text.replace("\n", "").isprintable()
        assert len(text) <= most
    assert version.state_reason.isprintable()


def test_checks_wait_until_slots_take_them(submit: Submit, take: Take) -> None:
    first, second = submit(), make_version("Iron Age", state=State.WAITING)
    validation.begin(second, timezone.now())
    assert second.checks.get().job is None
    make_worker(name="checker 2", takes="checks", slots=1)
    assert take("checker 2") is not None
    assert take("checker 2") is None
    assert [Job.objects.get(checks__version=one).worker for one in (first, second)] == [
        "checker",
        "checker 2",
    ]


def test_owners_take_turns_whoever_has_uploaded_more(take: Take, taken: Taken) -> None:
    ada, bob, cy = (make_user(name) for name in ("ada", "bob", "cy"))
    charge({bob.pk: 60.0}, timezone.now(), is_validation=True)
    checks = {}
    for owner, name in ((ada, "A1"), (ada, "A2"), (ada, "A3"), (bob, "B1"), (cy, "C1")):
        version = make_version(name, owner=owner, state=State.WAITING)
        check = validation.begin(version, timezone.now())
        assert check is not None
        checks[version.pk] = name
    while len(taken) < len(checks):
        assert take(slot=0)
        take(slot=1)
        for check in ComplianceCheck.objects.filter(ended_at__isnull=True, job__isnull=False):
            Job.objects.filter(checks=check).update(taken_at=timezone.now() - timedelta(seconds=30))
            validation.record_news(news(check.version, ComplianceEnding.REFUSED, why="bad"), timezone.now())
    versions = [ComplianceCheck.objects.get(job__pk=job.exam).version_id for job in taken]
    assert [checks[version] for version in versions] == [
        "A1",
        "C1",
        "A2",
        "B1",
        "A3",
    ]


def test_a_validation_that_has_begun_comes_before_further_checks(submit: Submit, take: Take) -> None:
    first = submit()
    pass_check(first)
    validation.begin(make_version("Iron Age", state=State.WAITING), timezone.now())
    batch = ask(Worker.objects.get(), holds=[])
    assert batch is not None
    assert batch.check is None
    assert [job.games[0].key.split("/")[0] for job in batch.jobs] == ["validation-of-stone-age-v1"]
    assert take() is not None


def test_who_has_used_up_today_s_validations_waits_until_tomorrow(
    submit: Submit, take: Take, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VALIDATION_HOURS = 1
    now = timezone.now()
    version = submit()
    ada = version.bot.owner
    assert ada is not None
    Job.objects.update(taken_at=now - timedelta(minutes=50), lease_until=now + timedelta(minutes=2))
    other = make_version("Iron Age", owner=ada, state=State.WAITING)
    begun = start_validation(make_version("Bronze Age", owner=ada, state=State.VALIDATING))
    charge({ada.pk: 9 * 60.0}, now, is_validation=True)
    validation.begin(other, now)
    other.refresh_from_db()
    assert not validation.is_delayed(other, now)
    later = now + timedelta(minutes=2)  # the check that runs counts
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert validation.is_delayed(other, later)
    assert ask(Worker.objects.get(), slot=1) is None
    assert validation.is_delayed(begun.validated_versions.get(), later)
    assert used_today(ada, later) == 0.0  # tournaments have other hours
    bob = make_version("Quick", owner=make_user("bob"), state=State.WAITING)
    validation.begin(bob, later)
    job = take(slot=1)
    assert job is not None
    assert job.exam == str(bob.checks.get().job_id)
    ComplianceCheck.objects.exclude(version=other).update(ended_at=later, end="done")
    end_jobs(Job.objects.all(), Job.End.DONE, later)
    tomorrow = later + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    batch = ask(Worker.objects.get(), slot=2)
    assert batch is not None
    assert len(batch.jobs) == 1
    assert take(slot=3) is not None


def test_news_of_a_check_counts_only_from_the_worker_it_was_sent_to(submit: Submit) -> None:
    version = submit()
    told = replace(news(version), worker="validators@west/1")
    assert not validation.record_news(told, timezone.now())
    assert Ignored.objects.get(reason="foreign").count == 1
    assert version.checks.get().heard_at is None


def test_a_check_that_its_slot_does_not_run_waits_again_once(submit: Submit, checker: Worker) -> None:
    version = submit()
    now = timezone.now()
    assert release(Job.objects.all(), now)
    assert not release(Job.objects.all(), now)
    assert list(version.checks.order_by("sent_at").values_list("end", "job__worker")) == [
        (ComplianceCheck.End.RETURNED, "checker"),
        (ComplianceCheck.End.OPEN, None),
    ]


# Lost


def test_a_post_about_a_check_renews_its_lease(submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers could reach the site all the time; the site's clock stands still."""
    start = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: start)
    check = submit().checks.get()
    post(str(check.job_id), now=start + LEASE / 2)
    for leases, lost in ((1.2, 0), (2, 1)):
        open_door(start + LEASE * leases)
        assert sweep(start + LEASE * leases) == lost


# The games


@pytest.fixture
def validating(submit: Submit, deal: Deal) -> Validating:
    """A version that was examined, and the job of its one game."""
    version = submit()
    pass_check(version)
    (job,) = deal()
    return version, job


def test_any_forfeit_refuses_a_version_with_its_reason(validating: Validating, on_commit: OnCommit) -> None:
    version, job = validating
    with on_commit():
        record(forfeit(play(job, job.games[0]), "no answer in 1.05 s"))
    version.refresh_from_db()
    assert version.state == State.REFUSED
    assert version.state_reason == (
        "the validation game of duploline ended in time forfeit at ply 0: no answer in 1.05 s"
    )
    assert not version.bundle.path.exists()
    assert not ActiveVersion.objects.exists()


def test_a_resignation_is_no_fault(validating: Validating) -> None:
    version, job = validating
    report = forfeit(play(job, job.games[0]), "")
    record(replace(report, termination="resignation", fault="none", result=Result.BLACK_WINS))
    version.refresh_from_db()
    assert version.state == State.VALID


def test_a_bot_that_cannot_start_is_refused(validating: Validating) -> None:
    version, job = validating
    record(void(play(job, job.games[0]), f"{BOTH_UNABLE}: main.py"))
    version.refresh_from_db()
    assert version.state == State.REFUSED
    assert version.state_reason == (
        "the validation game of duploline could not be played: both engines unable to start: main.py"
    )


def test_a_game_that_our_own_side_cannot_play_refuses_nobody(validating: Validating, deal: Deal) -> None:
    version, job = validating
    for _ in range(3):
        record(void(play(job, job.games[0]), "the disk is full"))
        job = next(iter(deal()), job)
    version.refresh_from_db()
    assert version.state == State.WAITING
    assert "could not be played: given up after 3 attempts" in version.state_reason
    assert version.bundle.path.exists()


def test_a_running_check_is_stopped_and_later_news_of_it_ignored(
    submit: Submit, take: Take, taken: Taken, on_commit: OnCommit
) -> None:
    version = submit()
    assert len(taken) == 1
    later = news(version)
    with on_commit():
        assert stop_validation(version, "its owner stopped its validation", timezone.now())
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (State.REFUSED, "its owner stopped its validation")
    check = version.checks.get()
    assert (check.end, check.ended_at is None) == (ComplianceCheck.End.RETURNED, False)
    assert post(str(check.job_id)).stop == (str(check.job_id),)
    assert not version.bundle.path.exists()
    owner, now = User.objects.get(), timezone.now()
    assert used_today(owner, now, is_validation=True) > 0
    assert used_today(owner, now) == 0
    assert not validation.record_news(later, timezone.now())
    assert not stop_validation(version, "again", timezone.now())
    assert take() is None


def test_the_games_of_a_stopped_validation_are_cancelled() -> None:
    version = make_version(owner=make_user(), state=State.VALIDATING)
    begun = start_validation(version)
    version.refresh_from_db()
    assert stop_validation(version, "its owner stopped its validation", timezone.now())
    begun.refresh_from_db()
    assert begun.state == "cancelled"
    assert set(begun.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert BotVersion.objects.get(pk=version.pk).state == State.REFUSED


@pytest.mark.parametrize("state", [State.VALID, State.WITHDRAWN, State.REFUSED])
def test_a_version_that_is_not_validated_stays_as_it_is(state: BotVersion.State) -> None:
    version = make_version(owner=make_user(), state=state)
    assert not stop_validation(version, "no", timezone.now())
    assert BotVersion.objects.get(pk=version.pk).state == state


def test_validation_games_that_begin_at_the_moment_of_the_stop_are_cancelled_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check ends after the stop has read which games there are, and before it locks the version."""
    version = make_version(owner=make_user(), state=State.VALIDATING)
    begun = start_validation(version)
    reads: list[int | None] = []

    def lock_what_is_known(games: list[int]) -> None:
        reads.append(games[0] if games else None)
        lock_tournaments(games)

    def lock_with_a_newer_validation(rows: Any, pk: int) -> Any:
        locked = lock_row(rows, pk)
        if len(reads) == 1:
            locked.validation_id = begun.pk + 1
        return locked

    monkeypatch.setattr(stopping, "lock_tournaments", lock_what_is_known)
    monkeypatch.setattr(stopping, "lock_row", lock_with_a_newer_validation)
    assert stop_validation(version, "its owner stopped its validation", timezone.now())
    assert reads == [begun.pk, begun.pk]
    assert set(begun.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    assert BotVersion.objects.get(pk=version.pk).state == State.REFUSED
