"""A job from end to end in this process: games, reports, progress, stops, and faults of our own."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import msgspec
import pytest

from engines.records import parse_note
from tests.support.bad_engines import LINE
from tests.support.jobs import (
    BadBundles,
    bad_engine,
    engine_of,
    job_of,
    nothing_left,
    play_job,
    processes_with,
)
from workers.engine import process
from workers.jobs import EngineSpec, GameReport, Progress, SideLog
from workers.messages import decode
from workers.play import runner
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext

pytestmark = pytest.mark.slow

WORKER = WorkerContext("tester", Path("/nowhere"), Path("/nowhere"))


def test_colours_are_those_of_the_games_and_processes_are_kept() -> None:
    first, second, third = play_job(job_of(bad_engine(), bad_engine(), games=3)).reports
    seen = [min(engine_of(lines)) for lines in (first.white.lines, second.black.lines, third.white.lines)]
    assert [game for _, game in seen] == [1, 2, 3]
    assert len({pid for pid, _ in seen}) == 1
    assert [report.key for report in (first, second, third)] == [f"spring/1/1/{n}" for n in (1, 2, 3)]


def test_an_engine_is_started_anew_after_a_forfeit() -> None:
    first, second = play_job(job_of(bad_engine("go:1", "only", r"bestmove\n"), bad_engine(), games=2)).reports
    assert (first.fault, second.fault) == ("white", "black")
    ((one, _),), ((other, game),) = engine_of(first.white.lines), engine_of(second.black.lines)
    assert one != other
    assert game == 1


def test_a_report_has_the_whole_game_and_survives_serialization() -> None:
    (report,) = play_job(job_of(bad_engine(), bad_engine(), opening=tuple(LINE[:2]))).reports
    assert [token for token, _ in report.moves] == LINE[:6]
    assert [comment for _, comment in report.moves[:2]] == ["book", "book"]
    assert all(parse_note(comment) is not None for _, comment in report.moves[2:])
    assert (report.termination, report.fault, report.worker) == ("ply limit", "none", "tester")
    assert report.started <= report.finished
    assert report.started.endswith("+00:00")
    assert decode(GameReport, msgspec.json.encode(report)) == report


# Progress


def test_progress_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 3600.0)
    played = play_job(job_of(bad_engine(), bad_engine(), games=2))
    assert [(sent.key, sent.moves) for sent in played.progress] == [
        ("spring/1/1/1", ()),
        ("spring/1/1/2", ()),
    ]


@pytest.mark.parametrize("plan", [("go:1", "hang", "-"), ("go:1", "drip", r"info x\n")])
def test_heartbeats_continue_while_an_engine_thinks(
    plan: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.05)
    monkeypatch.setattr(process, "WAIT_NS", 20_000_000)
    thinking: list[Progress] = []
    line = Callbacks(
        lambda report: None, thinking.append, lambda: len([sent for sent in thinking if sent.white_ms]) == 4
    )
    job = job_of(bad_engine(*plan), bad_engine(), time_control="15/move")
    assert play_batch([job], WORKER, line) == job.games
    left_ms = thinking[-1].white_ms
    assert left_ms is not None
    assert 0 < left_ms < 15_000
    assert thinking[-1] == Progress("spring/1/1/1", "attempt-1", 0, (), left_ms, None)


def test_progress_of_a_watched_game_comes_with_each_new_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 3600.0)
    monkeypatch.setattr(process, "WAIT_NS", 20_000_000)
    late = bad_engine("go:1", "late", "0.1", "go:2", "late", "0.1", "go:3", "late", "0.1")
    watched = iter([False, True])
    played = play_job(job_of(late, late), is_watched=lambda: next(watched, True))
    assert [len(sent.moves) for sent in played.progress] == [0, 0, 1, 2, 3, 4, 5], (
        "the second: they are ready"
    )


def test_progress_has_moves_and_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(process, "QUICK_NS", 0)
    played = play_job(job_of(bad_engine("go:1", "late", "0.1"), bad_engine(), time_control="5+1"))
    last = played.progress[-1]
    assert last.moves == played.reports[0].moves[:-1], (
        "the last progress is sent while the last move is awaited"
    )
    assert last.white_ms is not None
    assert last.black_ms is not None
    assert last.white_ms <= 5000 + 3 * 1000 - 100
    assert 5000 < last.black_ms <= 5000 + 2 * 1000


@pytest.mark.parametrize(
    ("control", "most_ms", "other_ms"),
    [("5+1", 5000, 5000), ("2/move", 2000, None), ("nodes=9", 120_000, None)],
)
def test_times_run_from_the_first_question_on_and_not_while_engines_get_ready(
    control: str, most_ms: int, other_ms: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(process, "WAIT_NS", 20_000_000)
    slow = bad_engine("isready", "late", "0.1", "go:1", "late", "0.2")
    progress = play_job(job_of(slow, bad_engine("isready", "late", "0.1"), time_control=control)).progress
    first = [(sent.white_ms, sent.black_ms) for sent in progress if not sent.moves]
    ready = [times for times in first if times != (None, None)]
    assert len(first) > len(ready) + 5, "the engines got ready"
    assert [times for times in first if times == (None, None)] + ready == first
    assert {black for _, black in ready} == {other_ms}
    whites = [white for white, _ in ready if white is not None]
    assert whites == sorted(whites, reverse=True)
    assert most_ms - 20_000 < whites[-1] <= most_ms - 100
    assert whites[0] > most_ms - 100


def test_the_time_of_a_watched_game_is_shown_when_the_engines_are_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 3600.0)
    monkeypatch.setattr(process, "WAIT_NS", 20_000_000)
    late = bad_engine("go:1", "late", "0.1")
    played = play_job(job_of(late, late, time_control="5+0"), is_watched=lambda: True)
    before, ready, *_ = played.progress
    assert (before.white_ms, before.black_ms) == (None, None)
    assert (ready.moves, ready.black_ms) == ((), 5000)


# Stopping


@pytest.mark.parametrize(
    "plan",
    [
        ("go:2", "resist", "-"),
        ("go:2", "drip", r"info x\n"),
        pytest.param(("ugi", "resist", "-"), marks=pytest.mark.slow),
    ],
)
def test_a_stopping_worker_gives_the_game_back_within_a_second(plan: tuple[str, ...], mark: str) -> None:
    """Ten times as long here. The game under way and those after it come back; no engine stays."""
    polls: list[float] = []

    def is_stopping() -> bool:
        if len(processes_with(mark)) == 2 or (plan[0] == "ugi" and processes_with(mark)):
            polls.append(time.monotonic())
        return len(polls) > 3

    job = job_of(bad_engine(*plan, mark=mark), bad_engine(mark=mark), games=3, time_control="60+0")
    with nothing_left(mark):
        played = play_job(job, is_stopping=is_stopping)
    assert time.monotonic() - polls[3] < 10
    assert played.returned == job.games
    assert played.reports == []


def test_games_done_before_the_stop_stay_done(mark: str) -> None:
    reports: list[GameReport] = []
    job = job_of(bad_engine(mark=mark), bad_engine(mark=mark), games=3)
    with nothing_left(mark):
        line = Callbacks(reports.append, lambda progress: None, lambda: len(reports) == 2)
        assert play_batch([job], WORKER, line) == job.games[2:]
    assert len(reports) == 2


def test_a_stop_while_the_engines_quit_loses_nothing(mark: str) -> None:
    """The stop comes between the last report and the end of an engine that quits slowly."""
    reports: list[GameReport] = []
    asked: list[bool] = []

    def is_stopping() -> bool:
        asked.extend([True] * len(reports))
        return len(asked) > 1

    one = bad_engine("quit", "resist", "-", mark=mark)
    with nothing_left(mark):
        job = job_of(one, bad_engine(mark=mark))
        assert play_batch([job], WORKER, Callbacks(reports.append, lambda progress: None, is_stopping)) == ()
    assert len(reports) == 1


def test_a_report_that_cannot_be_sent_leaves_no_engine(mark: str) -> None:
    def refuse(report: GameReport) -> None:
        raise ConnectionError

    job = job_of(bad_engine(mark=mark), bad_engine(mark=mark))
    with nothing_left(mark), pytest.raises(ConnectionError):
        play_batch([job], WORKER, Callbacks(refuse, lambda progress: None))


# Our own faults


@pytest.mark.parametrize(
    ("change", "evidence"),
    [
        ({"game": "chess"}, "UnknownGame: "),
        ({"fen": "4,4 w"}, "PositionError: "),
        ({"time_control": "soon"}, "TimeControlError: cannot read 'soon'"),
        ({"opening": ("d1+", "d1+")}, "IllegalMove: illegal move 'd1+' in position"),
    ],
)
def test_an_invalid_job_is_void_with_the_reason_as_evidence(change: dict[str, object], evidence: str) -> None:
    first, second = play_job(job_of(bad_engine(), bad_engine(), games=2, **change)).reports
    for report in (first, second):
        assert (report.result, report.termination, report.fault) == ("*", "void", "infrastructure")
        assert report.evidence.startswith(evidence)
        assert (report.white, report.black) == (SideLog(), SideLog())


def test_an_exception_of_ours_is_void_with_the_moves_so_far_and_the_next_game_is_played(mark: str) -> None:
    reports: list[GameReport] = []
    sent: list[Progress] = []

    def stumble(progress: Progress) -> None:
        sent.append(progress)
        if len(sent) == 3:
            raise ZeroDivisionError("once\nonly")

    with pytest.MonkeyPatch.context() as patch, nothing_left(mark):
        patch.setattr(runner, "PROGRESS_SECONDS", 0.0)
        job = job_of(bad_engine(mark=mark), bad_engine(mark=mark), games=2)
        play_batch([job], WORKER, Callbacks(reports.append, stumble))
    assert (reports[0].termination, reports[0].fault) == ("void", "infrastructure")
    assert reports[0].evidence == "ZeroDivisionError: once only"
    assert reports[1].termination == "ply limit"


def test_a_bundle_that_cannot_be_fetched_is_a_void_that_names_it(tmp_path: Path) -> None:
    one = EngineSpec("Stone Age", "1", ("./run",), bundle="ab" * 32)
    (report,) = play_job(job_of(one, bad_engine()), folder=tmp_path).reports
    assert (report.termination, report.fault) == ("void", "infrastructure")
    assert report.evidence == "the bundle of Stone Age is not available: No such file or directory"


# What an engine sees


def bundled(folder: Path, *plan: str) -> EngineSpec:
    """The bad engine as a separate bundle in the store of ``folder``."""
    return BadBundles(folder / "store")(*plan, name="A")


def test_an_engine_sees_its_bundle_and_nothing_of_the_workers_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("REDIS_URL", "redis://secret")
    monkeypatch.setenv("DUARENA_CACHE", "secret")
    monkeypatch.delenv("DUARENA_PURE", raising=False)
    spec = bundled(tmp_path, "ugi", "look", "-")
    (report,) = play_job(job_of(spec, bad_engine()), folder=tmp_path).reports
    assert report.termination == "ply limit", report.evidence
    seen = json.loads(report.white.stderr)
    place = tmp_path / "cache" / str(spec.bundle)
    assert seen["cwd"] == str(place)
    assert seen["files"] == ["bot.toml", "main.py"]
    assert (
        sorted(seen["environment"])
        == "HOME LANG PATH PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONUNBUFFERED TMPDIR".split()
    )
    assert not any(stat.S_IMODE(os.stat(place / name).st_mode) & 0o222 for name in seen["files"])
    home = Path(seen["environment"]["HOME"])
    assert tmp_path in home.parents
    assert not home.exists(), "the note in its home folder is left"


def test_engines_also_use_plain_python_rules_if_those_are_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUARENA_PURE", "1")
    program = "import engines.rules, sys; print(engines.compiled.FINDER.why_plain, file=sys.stderr)"
    spec = EngineSpec("A", "1", ("python3", "-c", program), directory=str(tmp_path))
    (report,) = play_job(job_of(spec, bad_engine())).reports
    assert report.white.stderr == "DUARENA_PURE is set\n"


def test_an_engine_can_import_the_kit_and_no_other_package_of_ours(tmp_path: Path) -> None:
    program = (
        "import importlib.util as u, sys; import engines.sdk; "
        "print([bool(u.find_spec(n)) for n in ('engines', 'workers', 'tournament')], file=sys.stderr)"
    )
    spec = EngineSpec("A", "1", ("python3", "-c", program), directory=str(tmp_path))
    (report,) = play_job(job_of(spec, bad_engine())).reports
    assert report.white.stderr == "[True, False, False]\n"
