"""From an upload to a verdict: the examination, the games after it, and what becomes of the bytes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from engines.rules.base import Result
from tests.support.schedule import (
    FakeBroker,
    forfeit,
    make_user,
    make_version,
    make_worker,
    news,
    pack_bot,
    pass_exam,
    play,
    play_all,
    start_validation,
    void,
)
from tournament.models import ActiveVersion, BotVersion, Exam, Ignored, RatingEvent, Tournament, Worker
from tournament.services.calendar import sweep
from tournament.services.dispatch.batches import engine_spec
from tournament.services.dispatch.leases import LEASE, keeper_started
from tournament.services.dispatch.recalls import take_back_stranded
from tournament.services.results import keeper
from tournament.services.shares import charge, used_today
from tournament.services.uploads import validation
from tournament.services.uploads.submission import BundleError, submit_bundle
from workers.jobs import BOTH_UNABLE, ComplianceEnding, Finding, GameJob
from workers.service.compliance import MAX_LOG, MAX_SENTENCE

pytestmark = pytest.mark.django_db
Deal = Callable[[], list[GameJob]]
Submit = Callable[..., BotVersion]
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
    """The worker to which the checks are sent."""
    return make_worker(name="checker", queue="validation")


@pytest.fixture
def submit(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Submit:
    def upload(name: str = "ada", **more: object) -> BotVersion:
        with django_capture_on_commit_callbacks(execute=True):
            return submit_bundle(make_user(name), pack_bot(**more))  # type: ignore[arg-type]

    return upload


@pytest.fixture
def hear(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., bool]:
    """Let the site take news of a version's examination in, with all that follows; the row is fresh then."""

    def tell(version: BotVersion, *words: object, **more: object) -> bool:
        with django_capture_on_commit_callbacks(execute=True):
            heard = validation.record_news(news(version, *words, **more), timezone.now())  # type: ignore[arg-type]
        version.refresh_from_db()
        return heard

    return tell


def test_a_site_started_with_trust_validates_what_waited(settings: Settings) -> None:
    settings.TRUST_UPLOADS = False
    version = submit_bundle(make_user(), pack_bot())
    settings.TRUST_UPLOADS = True
    assert validation.validate_waiting() == 1
    assert validation.validate_waiting() == 0
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (BotVersion.State.VALIDATING, "")
    assert version.exams.count() == 1


def test_an_upload_is_examined_in_a_worker_first(submit: Submit, queues: FakeBroker, deal: Deal) -> None:
    version = submit(games=["duploline", "dogon-kulei"])
    (job,) = queues.exams
    assert job.engine == engine_spec(version)
    assert job.games == ("duploline", "dogon-kulei")
    assert job.exam == str(version.exams.get().pk)
    assert (version.state, deal()) == (BotVersion.State.VALIDATING, [])


def test_what_is_found_is_kept_as_it_comes_and_repeats_change_nothing(
    submit: Submit, hear: Callable[..., bool]
) -> None:
    version = submit()
    assert hear(version, ComplianceEnding.NONE, OK, FLAW)
    assert hear(version, ComplianceEnding.NONE, OK)  # it was overtaken
    assert version.exams.get().findings == [OK, FLAW]
    assert version.exams.get().unpacked


def test_a_version_that_plays_itself_on_every_ladder_is_valid_and_active(submit: Submit, deal: Deal) -> None:
    version = submit(games=["duploline", "dogon-kulei"])
    pass_exam(version)
    assert version.validation is not None
    assert version.validation.kind == Tournament.Kind.VALIDATION
    jobs = deal()
    assert sorted(job.game for job in jobs) == ["dogon-kulei", "duploline"]
    assert not version.activities.exists()
    for job in jobs:
        for report in play_all(job):
            assert isinstance(keeper.record(report), keeper.Recorded)
    version.refresh_from_db()
    assert (version.state, version.state_reason) == (BotVersion.State.VALID, "")
    assert sorted(active.ladder_id for active in version.activities.all()) == ["dogon-kulei", "duploline"]
    assert not RatingEvent.objects.exists()
    assert version.bundle.path.exists()


def test_a_grave_fault_refuses_the_version_and_deletes_its_bytes(
    submit: Submit, hear: Callable[..., bool], deal: Deal
) -> None:
    version = submit()
    assert version.bundle.path.exists()
    hear(version, ComplianceEnding.DONE, OK, FLAW, FAULT)
    assert version.state == BotVersion.State.REFUSED
    assert version.state_reason == (
        "the compliance check 'legal moves' on duploline failed: illegal move 'x'"
    )
    assert not version.bundle.path.exists()
    assert deal() == []


def test_a_flaw_that_loses_no_game_is_told_and_forgiven(
    submit: Submit, hear: Callable[..., bool], deal: Deal
) -> None:
    version = submit()
    hear(version, ComplianceEnding.DONE, OK, FLAW)
    assert version.state == BotVersion.State.VALIDATING
    assert len(deal()) == 1


def test_a_bundle_that_cannot_be_unpacked_is_refused_and_deleted(
    submit: Submit, hear: Callable[..., bool]
) -> None:
    version = submit()
    hear(version, ComplianceEnding.REFUSED, why="entry 'x' is damaged", unpacked=False)
    assert version.state == BotVersion.State.REFUSED
    assert version.state_reason == "the bundle cannot be used: entry 'x' is damaged"
    assert not version.bundle.path.exists()


def test_refused_bytes_are_refused_again_by_name(submit: Submit, hear: Callable[..., bool]) -> None:
    version = submit()
    hear(version, ComplianceEnding.REFUSED, why="entry 'x' is damaged")
    assert version.bot.owner is not None
    with pytest.raises(BundleError, match="the same bytes are already 'Stone Age v1', which was refused"):
        submit_bundle(version.bot.owner, pack_bot())


def test_bytes_that_another_version_plays_with_stay(submit: Submit, hear: Callable[..., bool]) -> None:
    version = submit()
    other = make_version("Twin")
    BotVersion.objects.filter(pk=other.pk).update(bundle=version.bundle)
    hear(version, ComplianceEnding.REFUSED, why="no good")
    assert version.bundle.path.exists()


@pytest.mark.parametrize("ending", [ComplianceEnding.FAILED, ComplianceEnding.RETURNED])
def test_trouble_of_our_own_is_not_the_bot_s_and_it_is_examined_again(
    ending: ComplianceEnding, submit: Submit, hear: Callable[..., bool], queues: FakeBroker
) -> None:
    version = submit()
    hear(version, ending, why="the disk is full")
    assert version.state == BotVersion.State.VALIDATING
    assert [job.exam for job in queues.exams] == [str(exam.pk) for exam in version.exams.order_by("sent_at")]
    assert len(queues.exams) == 2


def test_after_three_failures_it_waits_and_says_why(
    submit: Submit, hear: Callable[..., bool], queues: FakeBroker
) -> None:
    version = submit()
    for _ in range(validation.MAX_TRIES):
        hear(version, ComplianceEnding.FAILED, why="the disk is full")
    assert version.state == BotVersion.State.WAITING
    assert version.state_reason == "it could not be checked in 3 attempts, the last: the disk is full"
    assert len(queues.exams) == 3
    assert version.bundle.path.exists()


def test_a_worker_told_to_stop_is_no_failure(submit: Submit, hear: Callable[..., bool]) -> None:
    version = submit()
    for _ in range(5 * validation.MAX_TRIES):
        hear(version, ComplianceEnding.RETURNED)
    assert version.state == BotVersion.State.VALIDATING


@pytest.mark.parametrize("exam", [str(uuid.UUID(int=7)), "no uuid"])
def test_news_from_a_stranger_is_counted_and_ignored(exam: str, submit: Submit) -> None:
    told = replace(news(submit()), exam=exam)
    assert not validation.record_news(told, timezone.now())
    assert Ignored.objects.get(reason="foreign").count == 1


def test_the_last_word_comes_twice_and_counts_once(submit: Submit) -> None:
    version = submit()
    told = news(version)
    assert validation.record_news(told, timezone.now())
    assert not validation.record_news(told, timezone.now())
    assert Tournament.objects.count() == 1


def test_nothing_a_worker_tells_is_kept_unescaped_or_unbounded(
    submit: Submit, hear: Callable[..., bool]
) -> None:
    nasty = "\x00\x1b[2J\u202e\x9b" * 50_000
    version = submit()
    hear(
        version,
        ComplianceEnding.DONE,
        Finding(nasty, nasty, nasty, nasty, nasty, nasty, is_grave=True),
        why=nasty,
    )
    exam = version.exams.get()
    (found,) = exam.findings
    for text, most in (
        (found.fault, MAX_SENTENCE),
        (found.lines, MAX_LOG),
        (found.stderr, MAX_LOG),
        (exam.why, MAX_SENTENCE),
    ):
        assert text.replace("\n", "").isprintable()
        assert len(text) <= most
    assert version.state_reason.isprintable()


def test_a_check_waits_for_a_worker_and_goes_to_one_with_a_free_slot(
    submit: Submit, queues: FakeBroker
) -> None:
    Worker.objects.update(slots=1)
    first, second = submit(), make_version("Iron Age", state=BotVersion.State.WAITING)
    validation.begin(second, timezone.now())
    validation.assign_checks()
    assert [job.exam for job in queues.exams] == [str(first.exams.get().pk)]
    make_worker(name="checker 2", queue="validation", slots=1)
    assert (validation.assign_checks(), validation.assign_checks()) == (1, 0)
    assert second.exams.get().assigned == "checker 2"


def test_owners_take_turns_whoever_has_uploaded_more(
    queues: FakeBroker, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ada, bob, cy = (make_user(name) for name in ("ada", "bob", "cy"))
    charge({bob.pk: 60.0}, timezone.now(), is_validation=True)
    Worker.objects.update(slots=2)
    checks = {}
    for owner, name in ((ada, "A1"), (ada, "A2"), (ada, "A3"), (bob, "B1"), (cy, "C1")):
        version = make_version(name, owner=owner, state=BotVersion.State.WAITING)
        exam = validation.begin(version, timezone.now())
        assert exam is not None
        checks[str(exam.pk)] = name
    order: list[str] = []
    while len(order) < len(checks):
        with django_capture_on_commit_callbacks(execute=True):
            assert validation.assign_checks()
        order += [checks[job.exam] for job in queues.exams]
        queues.exams.clear()
        for exam in Exam.objects.filter(ended_at__isnull=True).exclude(assigned=""):
            Exam.objects.filter(pk=exam.pk).update(sent_at=exam.sent_at - timedelta(seconds=30))
            validation.record_news(news(exam.version, ComplianceEnding.REFUSED, why="bad"), timezone.now())
    assert order == ["A1", "C1", "A2", "B1", "A3"]


def test_a_validation_game_takes_a_slot_from_checks(submit: Submit, deal: Deal, queues: FakeBroker) -> None:
    Worker.objects.update(slots=1)
    first = submit()
    pass_exam(first)
    (job,) = deal()
    second = make_version("Iron Age", state=BotVersion.State.WAITING)
    validation.begin(second, timezone.now())
    assert validation.assign_checks() == 0
    assert all(isinstance(keeper.record(report), keeper.Recorded) for report in play_all(job))
    assert validation.assign_checks() == 1


def test_a_check_takes_a_slot_from_validation_games(submit: Submit, deal: Deal) -> None:
    Worker.objects.update(slots=1)
    first = submit()
    second = make_version("Iron Age", state=BotVersion.State.VALIDATING)
    start_validation(second)
    assert deal() == []
    pass_exam(first)
    assert len(deal()) == 2


def test_who_has_used_up_today_s_validations_waits_until_tomorrow(
    submit: Submit, deal: Deal, queues: FakeBroker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VALIDATION_HOURS = 1
    now = timezone.now()
    version = submit()
    ada = version.bot.owner
    assert ada is not None
    Exam.objects.update(sent_at=now - timedelta(minutes=50), heard_at=now + timedelta(minutes=1))
    other = make_version("Iron Age", owner=ada, state=BotVersion.State.WAITING)
    begun = start_validation(make_version("Bronze Age", owner=ada, state=BotVersion.State.VALIDATING))
    charge({ada.pk: 9 * 60.0}, now, is_validation=True)
    validation.begin(other, now)
    other.refresh_from_db()
    assert not validation.is_delayed(other, now)
    later = now + timedelta(minutes=2)  # the check that runs counts
    monkeypatch.setattr(timezone, "now", lambda: later)
    Worker.objects.update(slots=5)
    assert validation.is_delayed(other, later)
    assert (validation.assign_checks(), deal()) == (0, [])
    assert validation.is_delayed(begun.validated_versions.get(), later)
    assert used_today(ada, later) == 0.0  # tournaments have other hours
    bob = make_version("Quick", owner=make_user("bob"), state=BotVersion.State.WAITING)
    validation.begin(bob, later)
    assert validation.assign_checks() == 1
    Exam.objects.exclude(version=other).update(ended_at=later, end="done")
    tomorrow = later + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert (validation.assign_checks(), len(deal())) == (1, 1)


def test_news_of_a_check_counts_only_from_the_worker_it_was_sent_to(submit: Submit) -> None:
    version = submit()
    told = replace(news(version), worker="validators@west/1")
    assert not validation.record_news(told, timezone.now())
    assert Ignored.objects.get(reason="foreign").count == 1
    assert version.exams.get().heard_at is None


def test_a_check_that_was_queued_for_a_lost_worker_is_sent_to_another(
    submit: Submit, queues: FakeBroker, checker: Worker
) -> None:
    version = submit()
    make_worker(name="checker 2", queue="validation")
    Worker.objects.filter(pk=checker.pk).update(state=Worker.State.LOST)
    take_back_stranded()
    assert version.exams.get().assigned == ""
    validation.assign_checks()
    assert version.exams.get().assigned == "checker 2"


# Lost


@pytest.fixture
def sweeper(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], int]:
    """Sweep as it is done so long after now, by a keeper that has been there all the time.

    The site's clock stands still otherwise.
    """
    start = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: start)
    keeper_started(start - 2 * LEASE)

    def at(later: timedelta) -> int:
        swept, now = 0, start
        while now < start + later:
            now += LEASE / 2
            Worker.objects.update(seen_at=now)
            swept += sweep(None, now)
        return swept

    return at


def test_a_check_is_sent_again_when_its_worker_falls_silent(
    submit: Submit, hear: Callable[..., bool], sweeper: Callable[[timedelta], int], queues: FakeBroker
) -> None:
    version = submit()
    queues.lengths["validation.checker"] = 5
    hear(version, ComplianceEnding.NONE, OK)
    assert sweeper(LEASE / 2) == 0
    assert sweeper(2 * LEASE) == 1
    assert [exam.end for exam in version.exams.order_by("sent_at")] == [Exam.End.LOST, Exam.End.OPEN]


def test_a_queued_examination_waits_as_long_as_the_queue_holds_any(
    submit: Submit, sweeper: Callable[[timedelta], int], queues: FakeBroker
) -> None:
    version = submit()
    queues.lengths["validation.checker"] = 1
    assert sweeper(20 * LEASE) == 0
    queues.lengths["validation.checker"] = 0
    assert sweeper(24 * LEASE) > 0
    assert version.exams.earliest("sent_at").end == Exam.End.LOST


# The games


@pytest.fixture
def validating(submit: Submit, deal: Deal) -> tuple[BotVersion, GameJob]:
    """A version that was examined, and the job of its one game."""
    version = submit()
    pass_exam(version)
    (job,) = deal()
    return version, job


def test_any_forfeit_refuses_a_version_with_its_reason(
    validating: tuple[BotVersion, GameJob], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    version, job = validating
    with django_capture_on_commit_callbacks(execute=True):
        keeper.record(forfeit(play(job, job.games[0]), "no answer in 1.05 s"))
    version.refresh_from_db()
    assert version.state == BotVersion.State.REFUSED
    assert version.state_reason == (
        "the validation game of duploline ended in time forfeit at ply 0: no answer in 1.05 s"
    )
    assert not version.bundle.path.exists()
    assert not ActiveVersion.objects.exists()


def test_a_resignation_is_no_fault(validating: tuple[BotVersion, GameJob]) -> None:
    version, job = validating
    report = forfeit(play(job, job.games[0]), "")
    keeper.record(replace(report, termination="resignation", fault="none", result=Result.BLACK_WINS))
    version.refresh_from_db()
    assert version.state == BotVersion.State.VALID


def test_a_bot_that_cannot_start_is_refused(validating: tuple[BotVersion, GameJob]) -> None:
    version, job = validating
    keeper.record(void(play(job, job.games[0]), f"{BOTH_UNABLE}: main.py"))
    version.refresh_from_db()
    assert version.state == BotVersion.State.REFUSED
    assert version.state_reason == (
        "the validation game of duploline could not be played: both engines unable to start: main.py"
    )


def test_a_game_that_our_own_side_cannot_play_refuses_nobody(
    validating: tuple[BotVersion, GameJob], deal: Deal
) -> None:
    version, job = validating
    for _ in range(3):
        keeper.record(void(play(job, job.games[0]), "the disk is full"))
        job = next(iter(deal()), job)
    version.refresh_from_db()
    assert version.state == BotVersion.State.WAITING
    assert "could not be played: given up after 3 attempts" in version.state_reason
    assert version.bundle.path.exists()
