"""What a slot sends to its site: nothing is lost, whatever is killed, away or unanswered."""

from __future__ import annotations

import os
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from tests.support.effort import EXAMPLES
from tests.support.fake_door import TOKEN, FakeDoor, fake_door
from tests.support.jobs import wait_until
from workers.bundles.bundle_site import SiteAway, TokenRevoked, WorkerOutdated
from workers.jobs import (
    Ask,
    Batch,
    ComplianceEnding,
    ComplianceNews,
    GameReport,
    Post,
    PostAnswer,
    Progress,
    SideLog,
    Work,
)
from workers.service import site
from workers.service.site import LONGEST_PAUSE_SECONDS, Sender, SiteDoor, Spool, spool_folders

RUN = str(uuid.uuid4())
JOBS = [str(uuid.uuid4()) for _ in range(3)]
GAMES = (Work.GAMES,)


def report_of(attempt: str, log: str = "") -> GameReport:
    return GameReport(
        key=f"spring/{attempt}",
        attempt=attempt,
        worker="players@east/1",
        result=Result.WHITE_WINS,
        termination=Termination.RULES,
        reason=Reason.NONE,
        fault=Fault.NONE,
        evidence="",
        white_score=None,
        black_score=None,
        moves=(("a1", ""),),
        started="",
        finished="",
        white=SideLog(stderr=log),
        black=SideLog(),
    )


def news_of(ending: ComplianceEnding) -> ComplianceNews:
    return ComplianceNews("e1", "players@east/1", False, "", (), ending, "")


class Answers:
    """A door in this process, at a time of its own, whose next answers may be lost."""

    def __init__(self) -> None:
        self.now = 0.0
        self.posts: list[tuple[str, Post]] = []
        self.asks: list[Ask] = []
        self.failures: list[str] = []
        """For each of the next requests: ``away``, ``lost`` after it took effect, or ``""``."""
        self.answer = PostAnswer()

    @property
    def delivered(self) -> list[str]:
        return [report.attempt for _, post in self.posts for report in post.reports]

    def post(self, job: str, post: Post) -> PostAnswer:
        failure = self._next()
        self.posts.append((job, post))
        self._lose(failure)
        return self.answer

    def ask(self, ask: Ask) -> Batch | None:
        failure = self._next()
        self.asks.append(ask)
        self._lose(failure)
        return None

    def _next(self) -> str:
        failure = self.failures.pop(0) if self.failures else ""
        if failure == "away":
            raise SiteAway("away")
        return failure

    def _lose(self, failure: str) -> None:
        if failure == "lost":
            raise SiteAway("lost")


def sender_at(door: Answers, folder: Path, *, most_bytes: int = 10**9) -> Sender:
    made: Sender = Sender(
        door,  # type: ignore[arg-type]  # has the methods that are used
        Spool(folder),
        worker="players@east",
        run=RUN,
        slot=0,
        most_bytes=most_bytes,
        clock=lambda: door.now,
    )
    return made


def put(sender: Sender, *reports: GameReport) -> None:
    """Report the games of a job, and end it."""
    sender.begin(JOBS[0], 30)
    for report in reports:
        sender.report(report)
    sender.end()


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def sender(answers: Answers, tmp_path: Path) -> Sender:
    return sender_at(answers, tmp_path)


def try_to_ask(sender: Sender) -> bool:
    try:
        sender.ask(GAMES)
    except SiteAway:
        return False
    return True


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["report and send", "report", "ask", "kill", "wait"]),
        st.sampled_from(["", "away", "lost"]),
    ),
    max_size=20,
)


@settings(max_examples=2 * EXAMPLES)
@given(STEPS)
def test_each_report_on_disk_is_delivered_whatever_is_killed_or_lost(steps: list[tuple[str, str]]) -> None:
    """Each step has a failure of the first request in it."""
    door = Answers()
    kept: set[str] = set()
    waiting: set[str] = set()
    with TemporaryDirectory() as name:
        sender = sender_at(door, Path(name))
        for number, (step, failure) in enumerate(steps):
            door.failures = [failure]
            if step.startswith("report"):
                sender.begin(JOBS[number % 3], 30)
                sender.report(report_of(f"attempt-{number}"))
                sender.end()
                waiting.add(f"attempt-{number}")
            if step == "report and send":
                sender._send()
                kept, waiting = kept | waiting, set()
            elif step == "kill":
                sender, waiting = sender_at(door, Path(name)), set()
            elif step == "wait":
                door.now += LONGEST_PAUSE_SECONDS
            elif step == "ask":
                late = (kept | waiting) - set(door.delivered)
                kept, waiting = kept | waiting, set()  # an ask puts them on disk
                if try_to_ask(sender):
                    numbers = {int(attempt.removeprefix("attempt-")) for attempt in late}
                    assert {JOBS[number % 3] for number in numbers} <= set(door.asks[-1].holds)
        door.failures = []
        door.now += LONGEST_PAUSE_SECONDS
        for _ in range(2):
            sender.ask(GAMES)
        assert kept | waiting <= set(door.delivered)
        assert list(door.asks[-1].holds) == []
        assert list(Path(name).iterdir()) == []


def test_a_repeated_ask_has_the_same_id_and_a_new_one_another(answers: Answers, sender: Sender) -> None:
    answers.failures = ["lost", "away", ""]
    assert [try_to_ask(sender) for _ in range(4)] == [False, False, True, True]
    first, second, third = (ask.ask for ask in answers.asks)
    assert first == second != third


def test_an_ask_names_the_jobs_whose_reports_the_site_does_not_have(answers: Answers, sender: Sender) -> None:
    put(sender, report_of("one"))
    answers.failures = ["", "away"]
    sender.ask(GAMES)
    sender.ask(GAMES)  # in the pause nothing is posted again
    assert answers.delivered == []
    answers.now += LONGEST_PAUSE_SECONDS
    for _ in range(2):
        sender.ask(GAMES)
    assert [list(ask.holds) for ask in answers.asks] == [JOBS[:1], JOBS[:1], JOBS[:1], []]
    assert answers.delivered == ["one"]


def test_reports_are_on_disk_before_their_slot_gets_other_games(tmp_path: Path) -> None:
    class Generous(Answers):
        def ask(self, ask: Ask) -> Batch | None:
            super().ask(ask)
            return Batch(JOBS[1], 30)

    door = Generous()
    sender = sender_at(door, tmp_path)
    put(sender, report_of("one"))
    assert sender.ask(GAMES) is not None
    assert door.posts == []
    sender_at(door, tmp_path)._send()
    assert door.delivered == ["one"]


def pauses_of(sender: Sender, door: Answers) -> list[float]:
    """The pauses after twenty posts that the site does not take."""
    door.failures = ["away"] * 20
    pauses = []
    for _ in range(20):
        sender._send()
        pauses.append(sender._next_try - door.now)
        door.now = sender._next_try
    return pauses


def test_pauses_grow_and_stay_shorter_than_a_lease_that_is_known(
    answers: Answers, sender: Sender, tmp_path: Path
) -> None:
    put(sender, report_of("one"))
    first, *_, last = pauses_of(sender, answers)
    assert first <= 1.0
    assert 2.5 <= last <= 5.0
    after_restart = sender_at(answers, tmp_path)
    assert LONGEST_PAUSE_SECONDS / 2 <= pauses_of(after_restart, answers)[-1] <= LONGEST_PAUSE_SECONDS
    after_restart._send()
    assert answers.delivered == ["one"]


def test_only_unknown_plies_of_a_game_are_posted(answers: Answers, sender: Sender) -> None:
    sender.begin(JOBS[0], 30)
    moves = tuple((f"a{number}", "") for number in range(9))
    posted = []
    for attempt, plies, known in (("one", 3, 3), ("one", 5, 1), ("one", 9, 9), ("two", 2, 2)):
        sender.show(Progress("key", attempt, 0, moves[:plies], 1, 1))
        answers.answer = PostAnswer(known=known)
        sender._send()
        progress = answers.posts[-1][1].progress
        assert progress is not None
        posted.append((progress.from_ply, len(progress.moves)))
    assert posted == [(0, 3), (3, 2), (1, 8), (0, 2)]


def test_the_moves_of_a_game_are_posted_with_the_reports_of_its_job(answers: Answers, sender: Sender) -> None:
    sender.begin(JOBS[0], 30)
    for attempt in ("one", "two"):
        sender.report(report_of(attempt))
        sender.end()
        sender.begin(JOBS[1], 30)
    sender.show(Progress("key", "three", 0, (), 1, 1))
    sender._send()
    told = [(job, len(post.reports), post.progress is not None) for job, post in answers.posts]
    assert told == [(JOBS[0], 1, False), (JOBS[1], 1, True)]


def test_an_attempt_is_stopped_until_the_next_job_begins(answers: Answers, sender: Sender) -> None:
    sender.begin(JOBS[0], 30)
    answers.answer = PostAnswer(stop=("one",))
    sender._send()
    assert [sender.is_stopped(attempt) for attempt in ("one", "two")] == [True, False]
    sender.begin(JOBS[1], 30)
    assert not sender.is_stopped("one")


def test_a_job_without_news_is_posted_every_two_seconds(answers: Answers, sender: Sender) -> None:
    sender._send()
    assert answers.posts == []
    sender.begin(JOBS[0], 30)
    for _ in range(5):
        sender._send()
        answers.now += site.RENEW_SECONDS / 2
    assert len(answers.posts) == 3


def test_moves_are_posted_as_often_as_the_site_wants_them_and_else_once_a_second(
    answers: Answers, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_time(seconds: float) -> None:
        answers.now += seconds

    monkeypatch.setattr(site, "time", SimpleNamespace(sleep=pass_time))
    sender.begin(JOBS[0], 30)
    sender.start()
    posted = []
    assert wait_until(lambda: answers.posts)
    for number, pace_ms in enumerate([200, 200, 500, 0, 0, 200], 1):
        answers.answer = PostAnswer(known=number, pace_ms=pace_ms)
        sender.show(Progress("key", "one", 0, (("a1", ""),) * number, 1, 1))
        assert wait_until(lambda number=number: len(answers.posts) > number)  # type: ignore[misc]
        assert wait_until(lambda pace_ms=pace_ms: sender.is_watched() is (pace_ms > 0))  # type: ignore[misc]
        posted.append(round(answers.now, 3))
    assert posted == [1.0, 1.2, 1.4, 1.9, 2.9, 3.9]


def test_a_game_stays_watched_when_there_is_no_news_of_it(answers: Answers, sender: Sender) -> None:
    answers.answer = PostAnswer(pace_ms=200)
    sender.begin(JOBS[0], 30)
    sender.show(Progress("key", "one", 0, (), 1, 1))
    sender._send()
    answers.answer, answers.now = PostAnswer(), site.RENEW_SECONDS
    sender._send()
    assert len(answers.posts) == 2
    assert sender.is_watched()


def test_released_attempts_are_posted_for_their_job_also_after_it(answers: Answers, sender: Sender) -> None:
    for job in JOBS[:2]:
        sender.begin(job, 30)
        sender.release([f"{job}/1", f"{job}/2"])
        sender.end()
    answers.failures = ["lost"]
    sender._send()
    sender._send()
    assert [(job, post.returned) for job, post in answers.posts[1:]] == [
        (job, (f"{job}/1", f"{job}/2")) for job in JOBS[:2]
    ]


def test_a_slot_whose_disk_is_full_keeps_reports_in_memory_and_takes_no_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    door = Answers()
    sender = sender_at(door, tmp_path / "spool")
    (tmp_path / "spool").write_text("no folder can be made here")
    put(sender, report_of("one"))
    with pytest.raises(SiteAway, match="cannot be kept on disk"):
        sender.ask(GAMES)
    assert "reports cannot be kept on disk, so this slot takes no work" in caplog.text
    assert door.asks == []
    sender._send()  # as the thread does
    assert door.delivered == ["one"]
    sender.ask(GAMES)


def test_a_slot_with_too_many_unconfirmed_reports_takes_no_work(tmp_path: Path) -> None:
    door = Answers()
    sender = sender_at(door, tmp_path, most_bytes=10)
    put(sender, report_of("one"))
    with pytest.raises(SiteAway, match="too many reports wait"):
        sender.ask(GAMES)


def test_reports_that_wait_for_a_week_are_deleted(
    answers: Answers,
    sender: Sender,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sender.begin(JOBS[0], 30)
    sender.report(report_of("one"))
    answers.failures = ["away"]
    sender._send()
    monkeypatch.setattr(site, "KEPT_SECONDS", -1)
    sender._send()
    assert answers.delivered == []
    assert list(tmp_path.iterdir()) == []
    assert "the site has not taken it for a week" in caplog.text


def test_a_report_that_cannot_be_read_is_deleted_and_the_others_are_sent(
    answers: Answers, sender: Sender, tmp_path: Path
) -> None:
    sender.begin(JOBS[0], 30)
    sender.report(report_of("one"))
    answers.failures = ["away"]
    sender._send()
    for name, data in (("0", b"{"), ("x", b"[]"), ("1", b"\xff"), ("2", b'{"job": 1}')):
        (tmp_path / f"{name}.json").write_bytes(data)
    (tmp_path / ".torn.tmp").write_bytes(b"{")
    sender_at(answers, tmp_path)._send()
    assert answers.delivered == ["one"]
    assert [path.name for path in tmp_path.iterdir()] == [".torn.tmp"]


def test_a_slot_takes_the_folders_of_slots_that_the_worker_no_longer_has(tmp_path: Path) -> None:
    for name in ("0", "1", "2", "5", "6", "other"):
        (tmp_path / name).mkdir()
    names = [[path.name for path in spool_folders(tmp_path, slot, 2)] for slot in range(2)]
    assert names == [["0", "2", "6"], ["1", "5"]]


def test_large_reports_are_posted_alone(answers: Answers, sender: Sender) -> None:
    sender.begin(JOBS[0], 30)
    for number, size in enumerate((10, 10, site.MAX_CHARACTERS, 10)):
        sender.report(report_of(f"attempt-{number}", "x" * size))
    sender._send()
    assert [len(post.reports) for _, post in answers.posts] == [2, 1, 1]


@pytest.fixture
def remote(door: FakeDoor, tmp_path: Path) -> Sender:
    """At a real door over HTTP."""
    return Sender(SiteDoor(door.url, TOKEN), Spool(tmp_path), worker="players@east", run=RUN, slot=0)


def test_the_connection_is_kept_and_opened_again_when_the_site_closes_it(
    door: FakeDoor, remote: Sender
) -> None:
    for number in range(3):
        put(remote, report_of(f"attempt-{number}"))
        remote._send()
    kept = remote._door.connection._connection
    assert kept is not None
    assert kept.sock is not None
    kept.sock.close()
    put(remote, report_of("attempt-3"))
    remote._send()
    assert [report.attempt for report in door.reports] == [f"attempt-{number}" for number in range(4)]


@pytest.mark.parametrize("status", [400, 413])
def test_reports_that_the_site_refuses_for_ever_are_dropped_one_by_one(
    door: FakeDoor, remote: Sender, tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    put(remote, report_of("one"), report_of("two"))
    door.refusal = (status, "It has a bad field.")
    remote._send()
    assert len(list(tmp_path.iterdir())) == 2
    remote._send()
    assert list(tmp_path.iterdir()) == []
    assert caplog.text.count("It has a bad field.") == 2


@pytest.mark.parametrize(
    "refusal", [(403, "No."), (404, ""), (404, "No."), (500, ""), (503, "Later."), (302, "")]
)
def test_reports_stay_while_the_site_answers_anything_else(
    door: FakeDoor, remote: Sender, tmp_path: Path, refusal: tuple[int, str]
) -> None:
    put(remote, report_of("one"))
    door.refusal = refusal
    remote._send()
    assert len(list(tmp_path.iterdir())) == 1
    door.refusal = None
    remote._send()
    assert [report.attempt for report in door.reports] == ["one"]


def test_a_revoked_token_and_another_protocol_are_told_apart(door: FakeDoor, remote: Sender) -> None:
    door.refusal = (401, "This token was revoked.")
    with pytest.raises(TokenRevoked, match="This token was revoked"):
        remote.ask(GAMES)
    door.refusal, door.protocol = None, 99
    with pytest.raises(WorkerOutdated, match="Install the release of the site"):
        remote.ask(GAMES)


def test_a_site_that_does_not_read_delays_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is called while a game runs returns at once while a post waits for its answer."""
    answered = threading.Event()

    class Silent(Answers):
        def post(self, job: str, post: Post) -> PostAnswer:
            answered.wait(30)
            return super().post(job, post)

    monkeypatch.setattr(site, "GATHER_SECONDS", 0.1)
    door = Silent()
    sender = sender_at(door, tmp_path)
    sender._clock = time.monotonic
    sender.start()
    sender.begin(JOBS[0], 30)
    assert wait_until(lambda: sender._sending.locked())
    sender.show(Progress("key", "one", 0, (), None, None))
    sender.report(report_of("one"))
    sender.tell(news_of(ComplianceEnding.NONE))
    sender.tell(news_of(ComplianceEnding.DONE))
    sender.release(["two"])
    sender.is_stopped("one")
    sender.end()
    assert door.posts == []
    answered.set()
    assert wait_until(lambda: door.delivered == ["one"])
    assert wait_until(lambda: [post.news for _, post in door.posts if post.news])


def test_the_last_news_of_a_check_is_kept_until_the_site_has_it(
    answers: Answers, sender: Sender, tmp_path: Path
) -> None:
    sender.begin(JOBS[0], 30)
    sender.tell(news_of(ComplianceEnding.DONE))
    sender.end()
    answers.failures = ["away"]
    sender._send()
    sender_at(answers, tmp_path)._send()
    ((job, post),) = answers.posts
    assert post.news is not None
    assert (job, post.news.ending) == (JOBS[0], ComplianceEnding.DONE)


def test_a_stopping_slot_gives_up_to_send_after_its_time(tmp_path: Path) -> None:
    with fake_door() as door:
        sender = Sender(SiteDoor(door.url, TOKEN), Spool(tmp_path), worker="players@east", run=RUN, slot=0)
        put(sender, report_of("one"))
        with sender._sending:
            sender.flush(0.01)
        assert door.reports == []
        sender.flush(10.0)
        assert [report.attempt for report in door.reports] == ["one"]


def test_what_a_report_says_is_what_the_site_reads(door: FakeDoor, remote: Sender) -> None:
    report = replace(report_of("one", "é\x00\u2028"), evidence="ß")
    put(remote, report)
    remote._send()
    assert door.reports == [report]
    assert os.fspath(remote._door._address) == door.url
