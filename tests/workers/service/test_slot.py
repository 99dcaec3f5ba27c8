"""A slot in this process at the door of a fake site: what it asks, plays, returns, refuses and shares."""

from __future__ import annotations

import inspect
import itertools
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.bots import SAMPLE_BOTS
from engines.bundles.store import store_bundle
from tests.support.fake_door import TOKEN, FakeDoor
from tests.support.jobs import BadBundles, job_of, nothing_left
from workers.bundles.bundle_site import BundleSite
from workers.bundles.samples import pack_sample
from workers.engine.fair_clock import COMPLAINT_NS, PERIOD_NS, ContendedCore
from workers.game.referee import play_game
from workers.jobs import ComplianceEnding, ComplianceJob, EngineSpec, GameReport, SearchJob, Work
from workers.play import runner
from workers.play.runner import WorkerContext
from workers.sandbox.policy import Policy
from workers.service import context, self_test, slot, tasks
from workers.service.site import Sender, SiteDoor, Spool
from workers.service.slot import Slot, _vetted
from workers.service.slots import MAX_BYTES, Slots, SlotState

PACKAGES = [str(Path(inspect.getfile(runner)).parents[2] / name) for name in ("engines", "workers")]
MAX_FRAMES = 10
EXAM = str(uuid.uuid4())
TakeTurn = Callable[[], None]


@pytest.fixture
def slots() -> Slots:
    slots = Slots()
    slots.admit()
    return slots


@pytest.fixture
def one(door: FakeDoor, slots: Slots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slot:
    """A slot without a sandbox, whose self-test passes and whose sender has no thread."""
    monkeypatch.setattr(self_test, "play_canary", lambda *_: "")
    monkeypatch.setattr(self_test, "FIRST_PAUSE_SECONDS", 0.0)
    site = BundleSite(door.url, TOKEN)
    worker = WorkerContext("tester/1", tmp_path / "bundles", tmp_path / "cache", site=site)
    run = str(uuid.uuid4())
    sender = Sender(SiteDoor(door.url, TOKEN), Spool(tmp_path / "spool"), worker="tester", run=run, slot=3)
    sender.ask((Work.GAMES,))  # opens the connection, which stays open
    door.asks.clear()
    door.requests.clear()
    return Slot(worker, slots, 3, (Work.GAMES,), sender)


@pytest.fixture
def take_turn(one: Slot, mark: str) -> TakeTurn:
    """Let the slot take a turn, after which no engine is left."""

    def take() -> None:
        with nothing_left(mark):
            one.take_turn()

    return take


def test_few_functions_lie_between_a_task_and_the_referee(
    door: FakeDoor, one: Slot, mark: str, bundled: BadBundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []

    def watched(*words: Any, **more: Any) -> Any:
        stack = [frame for frame in inspect.stack() if frame.filename.startswith(tuple(PACKAGES))]
        frames[:] = [frame.function for frame in reversed(stack)]
        return play_game(*words, **more)

    monkeypatch.setattr(runner, "play_game", watched)
    monkeypatch.setattr(tasks, "this_slot", lambda: one)
    door.give(job_of(bundled(), bundled()))
    with nothing_left(mark):
        tasks.play()
    assert frames[0] == "play"
    assert len([*frames, "play_game"]) <= MAX_FRAMES, frames


def test_a_slot_asks_until_there_is_no_work_and_reports_all_games(
    door: FakeDoor, slots: Slots, bundled: BadBundles, take_turn: TakeTurn
) -> None:
    jobs = [door.give(job_of(bundled(), bundled(), games=2)) for _ in range(2)]
    take_turn()
    assert [report.attempt for report in door.reports] == ["attempt-1", "attempt-2"] * 2
    assert {report.worker for report in door.reports} == {"tester/1"}
    assert [job for job, post in door.posts if post.reports] == jobs
    assert {(ask.worker, ask.slot, ask.takes) for ask in door.asks} == {("tester", 3, (Work.GAMES,))}
    assert [list(ask.holds) for ask in door.asks] == [[], jobs[:1], jobs]  # not posted yet
    assert len({ask.ask for ask in door.asks}) == 3
    assert (slots.games, slots.plies, slots.number_in(SlotState.BUSY)) == (4, 24, 0)


def test_a_slot_asks_for_searches_first_but_not_after_one(
    door: FakeDoor, one: Slot, bundled: BadBundles, take_turn: TakeTurn
) -> None:
    one.takes = (Work.GAMES, Work.ANALYSIS)
    door.give(job_of(bundled(), bundled()))
    door.give_search(SearchJob(EXAM, bundled(), "dogon-kulei", None, (), (0,), 50))
    take_turn()
    assert [ask.takes[0] for ask in door.asks] == [Work.ANALYSIS, Work.ANALYSIS, Work.GAMES]


def test_a_turn_ends_at_once_when_there_is_no_work(door: FakeDoor, one: Slot) -> None:
    one.take_turn()
    assert len(door.asks) == 1
    assert door.posts == []


@pytest.mark.parametrize("prevent", [Slots.bar, Slots.stop])
def test_a_worker_that_is_barred_or_stops_asks_for_nothing(
    door: FakeDoor, one: Slot, slots: Slots, prevent: Callable[[Slots], None]
) -> None:
    prevent(slots)
    one.take_turn()
    assert door.requests == []


def test_a_slot_that_the_site_does_not_admit_bars_its_worker(door: FakeDoor, one: Slot, slots: Slots) -> None:
    door.admits = False
    for _ in range(2):
        one.take_turn()
    assert len(door.asks) == 1
    assert slots.is_barred


def test_asks_pause_while_the_site_is_away(
    door: FakeDoor, one: Slot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    door.refusal = (503, "Later.")
    tried = []
    for _ in range(600):
        known = len(door.requests)
        one.take_turn()
        if len(door.requests) > known:
            tried.append(now[0])
        now[0] += 0.5
    pauses = [later - sooner for sooner, later in itertools.pairwise(tried)]
    assert pauses[0] <= 1.5
    assert slot.LONGEST_PAUSE_SECONDS / 2 <= max(pauses) <= slot.LONGEST_PAUSE_SECONDS + 0.5
    assert caplog.text.count("asks for work again and again") == 1
    door.refusal = None
    now[0] += slot.LONGEST_PAUSE_SECONDS
    for _ in range(2):
        one.take_turn()
    assert len(door.asks) == 2


def test_a_worker_that_is_barred_in_a_game_returns_its_games_and_asks_no_more(
    door: FakeDoor,
    one: Slot,
    slots: Slots,
    bundled: BadBundles,
    take_turn: TakeTurn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    door.give(job_of(bundled(), bundled(), games=3))
    report = Sender.report

    def report_and_bar(sender: Sender, game: GameReport) -> None:
        report(sender, game)
        slots.bar()

    monkeypatch.setattr(Sender, "report", report_and_bar)
    take_turn()
    one.sender._send()
    assert [game.attempt for game in door.reports] == ["attempt-1"]
    assert door.returned == ["attempt-2", "attempt-3"]
    assert len(door.asks) == 1


def test_a_void_is_reported_only_by_a_slot_that_passes_its_self_test(
    door: FakeDoor, one: Slot, slots: Slots, monkeypatch: pytest.MonkeyPatch, bundled: BadBundles
) -> None:
    """Else the game is returned, and the slot is held."""
    held: list[tuple[str, int]] = []
    results = iter(["", "the canary died", "it still died", ""])

    def canary(*_: object) -> str:
        held.append((slots.trouble, slots.number_in(SlotState.HELD)))
        return next(results, "")

    monkeypatch.setattr(self_test, "play_canary", canary)
    door.bundle = b"PK another"
    lost = replace(bundled(), bundle="0" * 64)
    door.give(job_of(lost, bundled()))
    door.give(job_of(lost, bundled()))
    one.take_turn()
    assert held[:4] == [("", 0), ("", 0), ("the canary died", 1), ("it still died", 1)]
    assert door.returned == ["attempt-1"]
    assert [report.termination for report in door.reports] == ["void"]
    assert slots.voids == 1


def test_a_check_that_is_not_possible_now_is_returned(
    door: FakeDoor, one: Slot, slots: Slots, bundled: BadBundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site does not send the bundle; the slot is held until it does."""
    away = iter([True, True, False])
    fetch = BundleSite.fetch

    def fetch_later(self: BundleSite, sha256: str, *words: Any) -> None:
        if next(away, False):
            door.refusal = (503, "Later.")
        try:
            fetch(self, sha256, *words)
        finally:
            door.refusal = None

    monkeypatch.setattr(BundleSite, "fetch", fetch_later)
    door.give_check(ComplianceJob(EXAM, replace(bundled(), bundle="0" * 64), ("dogon-kulei",), 20))
    one.take_turn()
    one.sender._send()
    (news,) = door.news
    assert (news.exam, news.ending) == (EXAM, ComplianceEnding.RETURNED)
    assert slots.number_in(SlotState.HELD) == 0


def test_a_check_that_the_site_stops_is_returned(
    door: FakeDoor, bundled: BadBundles, take_turn: TakeTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sender, "is_stopped", lambda self, what: what == EXAM)
    door.give_check(ComplianceJob(EXAM, bundled(), ("dogon-kulei",), 20))
    take_turn()
    assert (door.news[-1].exam, door.news[-1].ending) == (EXAM, ComplianceEnding.RETURNED)


def test_a_slot_on_a_core_that_others_use_for_minutes_takes_no_work_and_says_why(
    door: FakeDoor, slots: Slots, bundled: BadBundles, take_turn: TakeTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    tests = iter(["they still do", "they still do", ""])
    core = ContendedCore()
    for _ in range(COMPLAINT_NS // PERIOD_NS):
        core.add(PERIOD_NS, PERIOD_NS)

    def find_core_trouble() -> str:
        said.append(slots.trouble)
        return next(tests, "")

    monkeypatch.setattr(slot, "CORE", core)
    monkeypatch.setattr(slot, "find_core_trouble", find_core_trouble)
    door.give(job_of(bundled(), bundled()))
    take_turn()
    _, complaint, still = said
    assert complaint.startswith("other programs use its core: in 3 minutes of play engines were kept waiting")
    assert still == "they still do"
    assert len(door.reports) == 1


@pytest.mark.parametrize("field", ["directory", "bundle"])
def test_a_worker_runs_nothing_but_bundles(
    door: FakeDoor, mark: str, bundled: BadBundles, take_turn: TakeTurn, tmp_path: Path, field: str
) -> None:
    """Otherwise a site could start any command in any folder of the worker's machine."""
    stolen = tmp_path / "stolen"
    command = ("sh", "-c", f"cat secret > {stolen}; exec sleep 60 {mark}")
    other: dict[str, Any] = {"directory": str(tmp_path)} if field == "directory" else {"bundle": None}
    shell = replace(bundled(), command=command, trusted=True, **other)
    (tmp_path / "secret").write_text("key")
    door.give(job_of(shell, bundled()))
    door.give_check(ComplianceJob(EXAM, shell, ("dogon-kulei",), 20))
    take_turn()
    (report,) = door.reports
    assert report.termination == "void"
    assert f"EngineSpec.{field}" in report.evidence
    assert door.news[-1].ending is ComplianceEnding.FAILED
    assert f"EngineSpec.{field}" in door.news[-1].why
    assert not stolen.exists()


def test_a_bundle_is_started_by_its_own_manifest_and_not_by_the_job(
    door: FakeDoor, mark: str, bundled: BadBundles, take_turn: TakeTurn, tmp_path: Path
) -> None:
    began = tmp_path / "began"
    other = replace(bundled(), command=("sh", "-c", f"touch {began}; exec python3 -S main.py {mark}"))
    door.give(job_of(other, other))
    take_turn()
    assert [report.fault for report in door.reports] == ["none"]
    assert not began.exists()


def test_only_the_worker_decides_which_bots_it_trusts(bundled: BadBundles, tmp_path: Path) -> None:
    upload = replace(bundled(), trusted=True)
    samples = [
        EngineSpec(one.name, "1", ("./none",), bundle=store_bundle(tmp_path / "bundles", pack_sample(one)))
        for one in SAMPLE_BOTS
    ]
    assert [_vetted(spec).trusted for spec in (upload, *samples)] == [False, *[True] * len(samples)]


def test_the_slots_of_a_worker_have_the_same_run_and_folders_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DUARENA_CACHE", str(tmp_path))
    monkeypatch.setenv("DUARENA_SITE", "http://127.0.0.1:9")
    monkeypatch.setenv("DUARENA_TOKEN", TOKEN)
    monkeypatch.setattr(context, "sandbox_policy", Policy)
    monkeypatch.setattr(Sender, "start", lambda self: None)
    found = []
    for index in range(2):
        monkeypatch.setattr(context, "slot_index", lambda index=index: index)
        context.this_slot.cache_clear()
        found.append(context.this_slot())
    context.this_slot.cache_clear()
    first, second = found
    assert first.sender._post.run == second.sender._post.run == context.RUN
    assert [one.sender._spool._folders[0].name for one in found] == ["0", "1"]


def test_a_worker_is_barred_until_it_is_admitted_and_counts_its_admissions() -> None:
    slots = Slots()
    assert slots.is_barred
    for _ in range(2):
        slots.admit()
    assert (slots.is_barred, slots.admissions) == (False, 1)
    for _ in range(2):
        slots.bar()
    assert slots.is_barred
    slots.admit()
    assert (slots.is_barred, slots.admissions) == (False, 2)


def test_games_plies_and_states_are_counted_over_all_slots() -> None:
    slots = Slots()
    slots.enter(0, SlotState.BUSY)
    slots.enter(1, SlotState.HELD)
    slots.count_game(0, void=False, plies=30)
    slots.count_game(1, void=False, plies=12)
    slots.count_game(1, void=True, plies=1)
    assert (slots.games, slots.voids, slots.plies) == (2, 1, 43)
    assert (slots.number_in(SlotState.BUSY), slots.number_in(SlotState.HELD)) == (1, 1)


def test_the_trouble_of_the_first_slot_that_has_one_is_known() -> None:
    slots = Slots()
    assert slots.trouble == ""
    slots.set_trouble(7, "ü" * MAX_BYTES)
    slots.set_trouble(8, "another")
    assert slots.trouble == "ü" * (MAX_BYTES // 2)
    slots.set_trouble(7, "")
    assert slots.trouble == "another"
    slots.set_trouble(8, "")
    assert slots.trouble == ""
