"""Every fault of PROTOCOL.md's table by a real process: the side at fault, the reason, and no leftovers.

Plans are arguments of ``tests.support.bad_engines``; a space inside a detail is written ``\\x20``.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.support.bad_engines import LINE
from tests.support.jobs import bad_engine, engine_of, job_of, nothing_left, plan_of, play_job, processes_with
from workers.engine import players
from workers.jobs import GameReport

pytestmark = pytest.mark.slow

SHORT, LONG = "0.25/move", "20+0"
ANSWER = r"bestmove\x20{move}"

FAULTS = [
    ("exits at once", "start leave 0", LONG, "crash", "ended with exit code 0"),
    ("fails at once", "start leave 3", LONG, "crash", "ended with exit code 3"),
    ("dies at once", "start die SIGSEGV", LONG, "crash", r"ended by signal 11 \(SIGSEGV\)"),
    ("dies in the handshake", "isready die SIGABRT", LONG, "crash", r"signal 6 \(SIGABRT\)"),
    ("exits in the game", "go:2 leave 0", LONG, "crash", "exit code 0"),
    ("dies in the game", "go:2 die SIGKILL", LONG, "crash", r"signal 9 \(SIGKILL\)"),
    ("kills its parent", "go:2 kill_parent -", LONG, "crash", r"signal 9 \(SIGKILL\)"),
    ("plays and is gone", rf"go:2 also {ANSWER}\n go:2 leave 1", LONG, "crash", "exit code 1"),
    ("hangs", "go:2 hang -", SHORT, "time forfeit", r"within 300 ms, margin included: no line arrived"),
    ("hangs deaf to signals", "go:2 resist -", SHORT, "time forfeit", "no answer"),
    ("stops itself", "go:2 stop -", SHORT, "time forfeit", "no answer"),
    ("closes its output", "go:2 close 1", "60+0", "time forfeit", "no answer: it closed its output"),
    (
        "closes its input",
        rf"go:2 shut 0 go:2 also {ANSWER}\n go:2 hang -",
        "60+0",
        "time forfeit",
        "no answer: it closed its input",
    ),
    (
        "drips past the flag",
        r"go:2 drip info\x20depth\x201\n",
        SHORT,
        "time forfeit",
        r"margin included: \d+ lines? arrived in time, the last 'info depth 1'",
    ),
    (
        "drips half a line",
        "go:2 drip x",
        SHORT,
        "time forfeit",
        r"no line arrived in time; \d+ bytes have no line end: 'x+'",
    ),
    ("answers late", "go:2 late 1", SHORT, "time forfeit", "no answer"),
    (
        "talks nonsense",
        r"go:2 only no\n\n\x00\xff\xfe\x1b[31m\n",
        SHORT,
        "time forfeit",
        r"2 lines arrived in time, the last '\\x00��\\x1b\[31m'",
    ),
    ("ends no line", rf"go:2 only {ANSWER}", SHORT, "time forfeit", "bytes have no line end: 'bestmove "),
    ("plays illegally", r"go:2 only bestmove\x20a1+-\n", LONG, "illegal move", r"move 'a1\+-' in position '"),
    ("names no move", r"go:2 only bestmove\n", LONG, "illegal move", "named no move"),
    ("names an escape", r"go only bestmove\x20\x1b[2J\x00\n", LONG, "illegal move", r"'\\x1b\[2J\\x00'"),
    ("names broken UTF-8", r"go only bestmove\x20c1\xff\n", LONG, "illegal move", "illegal move 'c1\ufffd'"),
    (
        "answers twice",
        rf"go:2 only {ANSWER}\n{ANSWER}\n",
        LONG,
        "unsolicited answer",
        "waiting before the engine",
    ),
    (
        "answers again a little later",
        rf"go:2 pieces {ANSWER}\n||||||||{ANSWER}\n",
        LONG,
        "illegal move",
        "it is the engine's last move again, perhaps a second bestmove that came late",
    ),
    (
        "is done before",
        r"uginewgame also bestmove\x20d1+\n",
        LONG,
        "unsolicited answer",
        "instead of readyok",
    ),
    ("begins before", rf"go:2 only {ANSWER}\nbestmove\x20b1+", LONG, "unsolicited answer", "waiting before"),
    (
        "floods",
        r"go:2 flood 1\x20info\x20string\x20x\n",
        LONG,
        "flood",
        "than 1024 KiB of output in one move",
    ),
    ("sends an endless line", r"go:2 flood 1\x20x", LONG, "flood", "a line of output was over 64 KiB"),
    ("floods its error output", r"go:2 flood 2\x20x\n", LONG, "flood", "over 16 MiB|more than 16 MiB"),
    ("floods the handshake", r"ugi flood 1\x20option\n", LONG, "flood", "more than 1024 KiB of output"),
    ("declares without end", r"ugi many 99999\x20option\x20name", LONG, "flood", "more than 1024 KiB"),
]


@pytest.mark.parametrize(
    ("plan", "control", "termination", "evidence"),
    [fault[1:] for fault in FAULTS],
    ids=[fault[0] for fault in FAULTS],
)
def test_the_fault_is_reported_of_an_engine_that(
    plan: str, control: str, termination: str, evidence: str, mark: str
) -> None:
    """It loses as White and as Black, its opponent plays on in the same process, and nothing is left."""
    bad, good = bad_engine(*plan_of(plan), mark=mark, control=control), bad_engine(mark=mark, name="Good")
    with nothing_left(mark):
        first, second = play_job(job_of(bad, good, games=2, time_control=LONG)).reports
    for report, side, result in ((first, "white", "0-1"), (second, "black", "1-0")):
        assert (report.fault, report.result, report.termination) == (side, result, termination)
        assert re.search(evidence, report.evidence), report.evidence
        assert "\n" not in report.evidence
    assert len({process for process, _ in engine_of(first.black.lines + second.white.lines)}) == 1


STALL = "no ugiok within 2.0 seconds"
STALLS = [
    ("never sends ugiok", "ugi hang -", STALL),
    (
        "never sends readyok",
        "isready only nothing",
        "no readyok within 2.0 seconds: 7 bytes have no line end: 'nothing'",
    ),
    ("closes its output at once", "start close 1", "no ugiok: it closed its output"),
    ("writes UTF-16", r"ugi only u\x00g\x00i\x00o\x00k\x00\n\x00", f"{STALL}: {players.NOT_UTF_8}"),
]


@pytest.mark.parametrize(("plan", "evidence"), [s[1:] for s in STALLS], ids=[s[0] for s in STALLS])
def test_a_stall_loses_for_an_engine_that(
    plan: str, evidence: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "READY_SECONDS", 2.0)
    with nothing_left(mark):
        (report,) = play_job(job_of(bad_engine(*plan_of(plan), mark=mark), bad_engine(mark=mark))).reports
    assert (report.fault, report.termination) == ("white", "stall")
    assert report.evidence == evidence


HARMLESS = [
    ("ends lines as Windows does", rf"go only {ANSWER}\r\n"),
    ("begins with a byte order mark", r"ugi only \xef\xbb\xbfugiok\n"),
    ("ponders", rf"go only {ANSWER}\x20ponder\x20c1+\n"),
    ("sends words before", rf"go only joho\x20{ANSWER}\n"),
    ("talks to a terminal", r"go also info\x20string\x20\x1b[31m\x00\xff\xfe\n"),
    ("sends empty lines", r"go also \n\n\n isready also \n\n"),
    ("talks of best moves", r"go also info\x20string\x20bestmove\x20z9\n"),
    ("declares much", r"ugi many 5000\x20option\x20name\x20X\x20type\x20check\x20default\x20true"),
    ("leaves a child behind", "go:2 multiply -"),
    ("digs deep", "start dig 1100"),
    ("complains much", "go complain 1000000"),
    ("closes its standard error", "start shut 2"),
]


@pytest.mark.parametrize(
    "plan",
    [pytest.param(plan, id=name, marks=pytest.mark.slow if "dig" in plan else ()) for name, plan in HARMLESS],
)
def test_no_fault_is_found_in_an_engine_that(
    plan: str, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with nothing_left(mark):
        one, two = bad_engine(*plan_of(plan), mark=mark), bad_engine(mark=mark)
        reports = play_job(job_of(one, two, games=2)).reports
    for report in reports:
        assert [token for token, _ in report.moves] == LINE[:6], report.evidence
        assert (report.termination, report.fault) == ("ply limit", "none")
    assert list(tmp_path.iterdir()) == [], "scratch folders are left"


def test_resigning_is_no_fault_and_the_process_plays_the_next_game(mark: str) -> None:
    one, two = bad_engine("go:2", "only", r"bestmove resign\n", mark=mark), bad_engine(mark=mark)
    with nothing_left(mark):
        first, second = play_job(job_of(one, two, games=2)).reports
    assert (first.result, first.termination, first.fault) == ("0-1", "resignation", "none")
    assert [token for token, _ in first.moves] == LINE[:2]
    assert second.termination == "ply limit"
    ((process, game),) = engine_of(second.black.lines)
    assert (process, game - 1) in engine_of(first.white.lines)


def test_an_unreadable_move_is_cut_in_the_evidence(mark: str) -> None:
    one = bad_engine("go", "only", "bestmove " + "x" * 61440 + r"\n", mark=mark)
    with nothing_left(mark):
        (report,) = play_job(job_of(one, bad_engine(mark=mark))).reports
    assert report.termination == "illegal move"
    assert report.evidence == f"unreadable move '{'x' * 80}…' of 61440 characters"


def test_the_first_and_the_last_of_much_standard_error_is_kept(mark: str) -> None:
    one = bad_engine("go:1", "complain", "1000000", mark=mark)
    (report,) = play_job(job_of(one, bad_engine(mark=mark))).reports
    stderr = report.white.stderr
    assert stderr.startswith("FIRSTx")
    assert stderr.endswith("xLAST")
    assert f"\n[... {1_000_000 - 2 * 65536} bytes left out ...]\n" in stderr
    assert report.black.stderr == ""


def test_both_engines_unable_to_start_is_a_void_to_be_halted_at_once(mark: str) -> None:
    with nothing_left(mark):
        one, two = bad_engine("start", "leave", "1", mark=mark), bad_engine("start", "leave", "2", mark=mark)
        (report,) = play_job(job_of(one, two)).reports
    assert (report.result, report.termination, report.fault) == ("*", "void", "infrastructure")
    assert report.evidence.startswith(
        "both engines unable to start: white: the process ended with exit code 1;"
    )


@pytest.mark.parametrize("plan", ["go:1 hang -", r"go:1 drip info\x20x\n", "go:1 resist -", "go:1 stop -"])
def test_a_flag_falls_in_time(plan: str, mark: str) -> None:
    """Deadline of the behaviour: 75 ms after the flag; ten times that here."""
    bad, good = bad_engine(*plan_of(plan), mark=mark, control="0.2/move"), bad_engine(mark=mark)
    job = job_of(bad, good, time_control=LONG)
    (report,) = play_job(job).reports
    (asked,) = re.findall(r"([\d.]+) > go movetime 200", report.white.lines)
    (sent_at,) = re.findall(r"([\d.]+) > gameover", report.black.lines)
    assert float(sent_at) - float(asked) - 0.25 < 0.75


def test_a_slot_is_usable_soon_after_a_fault(mark: str) -> None:
    """Deadline of the behaviour: 0.3 s; ten times that here."""
    bad = bad_engine("go:1", "resist", "-", mark=mark, control="0.1/move")
    job = job_of(bad, bad_engine(mark=mark), games=2, time_control=LONG)
    started = time.monotonic()
    reports: list[GameReport] = play_job(job).reports
    took = time.monotonic() - started
    assert [report.termination for report in reports] == ["time forfeit"] * 2
    assert took < 2 * (0.15 + 3.0)
    assert processes_with(mark) == []
