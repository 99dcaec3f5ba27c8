"""The compliance check: good engines pass, and each fault is named; with real processes."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from engines.rules.registry import find_game
from tests.support.jobs import bad_engine, nothing_left, plan_of, processes_with
from workers.check import (
    CannotCheck,
    CheckReport,
    Finding,
    check_engine,
    checked_process,
    format_finding,
    format_summary,
    playing,
    protocol_checks,
    run,
)
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import Budget, CheckTimedOut
from workers.check.report import MENTIONS, REFUSES
from workers.check.run import CHECKS, HANDSHAKE, try_check
from workers.check.verdicts import explain_exception
from workers.engine.launch import Launch, plan_launch
from workers.jobs import EngineSpec

DOGON = find_game("dogon-kulei")
BY_NAME = {check.name: check for check in (HANDSHAKE, *CHECKS)}
SEED_LINE = r"option\x20name\x20UGI_Seed\x20type\x20spin\x20default\x200\x20min\x200\x20max\x2099\n"


def launch_of(mark: str, plan: str) -> Launch:
    return plan_launch(bad_engine(*plan_of(plan), mark=mark), None)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no fault: engines have much longer than usual for what they do at once."""
    monkeypatch.setattr(checked_process, "READY_SECONDS", 60.0)
    monkeypatch.setattr(protocol_checks, "READY_SECONDS", 60.0)
    monkeypatch.setattr(protocol_checks, "EXIT_SECONDS", 20.0)


def found_by(name: str, plan: str, mark: str, seconds: float = 240.0) -> Finding:
    """What one check finds in an engine with this plan."""
    engine = CheckedEngine(lambda: launch_of(mark, plan), Budget(seconds))
    try:
        return try_check(engine, BY_NAME[name], DOGON)
    finally:
        engine.clear()


FAULTS = [
    ("handshake", r"ugi only ugiok\n", "it sends no 'id name'"),
    ("handshake", "ugi leave 3", "it crashed: the process ended with exit code 3"),
    ("handshake", "start die SIGSEGV", r"it crashed: .* signal 11 \(SIGSEGV\)"),
    ("handshake", r"ugi also bestmove\x20d1+\n", "it sent a bestmove without a go"),
    ("handshake", r"ugi flood 1\x20option\n", "it floods: more than 1024 KiB of output"),
    ("options", r"ugi also option\x20name\x20Hash\x20type\x20spun\n", "a type of check, spin, combo"),
    (
        "options",
        r"ugi also option\x20name\x20Hash\x20type\x20spin\x20default\x209\x20min\x201\x20max\x204\n",
        "option 'Hash' has the default 9, which is not from 1 to 4",
    ),
    ("options", rf"ugi also {SEED_LINE} setoption leave 4", "it crashed: the process ended with exit code 4"),
    (
        "options",
        r"ugi also option\x20name\x20a\x00b\x20type\x20string\x20default\x20x\n",
        r"option 'a\\x00b' has a character that is not printable",
    ),
    ("isready", "isready:2 only -", "no third of three readyok within 1 seconds"),
    ("isready", r"isready also readyok\n", "it sent more readyok than it got isready"),
    ("one answer", r"stop only bestmove\x20{move}\n", r"after its answer it also sent 'bestmove d1\+'"),
    ("one answer", r"go also bestmove\x20{move}\n", r"after its answer it also sent 'bestmove d1\+'"),
    ("unknown words", "joho leave 5", "it crashed: the process ended with exit code 5"),
    ("unknown words", r"joho only bestmove\x20a1+\n", "it sent a bestmove without a go"),
    ("line ends", "start narrow -", r"no readyok to a line that ends in \\r\\n within 1 seconds"),
    ("idle", "go spin -", r"while idle it used \d\.\d\d s of processor time in 0\.5 s"),
    ("legal moves", r"go only bestmove\x20a1+-\n", r"illegal move 'a1\+-' in position '4,4,4,4,4,4/4,4"),
    ("legal moves", r"go:3 only bestmove\n", "the bestmove line named no move"),
    (
        "info lines",
        r"go also info\x20depth\x20deep\n",
        "'depth' is not followed by a number in 'info depth deep",
    ),
    (
        "info lines",
        r"go also info\x20pv\x20d1+\x20d1+\n",
        r"move 2 of the pv cannot be played: illegal move 'd1\+'",
    ),
    (
        "info lines",
        r"go also info\x20depth\x20-2\x20nodes\x205\n",
        "'depth' is negative in 'info depth -2 nodes 5'",
    ),
    ("info lines", r"go also info\x20nodes\x20-5\n", "'nodes' is negative in 'info nodes -5'"),
    (
        "info lines",
        r"go also info\x20pv\x20a1-\n",
        r"the last pv begins with 'a1-', but the bestmove is 'd1\+'",
    ),
    ("scores", "position score -", r"its scores are always from White's side: "),
    (
        "end of game",
        r"go only bestmove\x20a1+\n",
        "the game is over in this position .1/2-1/2",
    ),
    ("time control", "go hang -", "no bestmove to 'go p1time 1000 .*' within 1.1 seconds"),
    (
        "time control",
        r"go drip info\x20depth\x201\n",
        "no bestmove to 'go p1time 1000 .*' within 1.1 seconds",
    ),
    (
        "time control",
        "go squander 40",
        "to 'go p1time 1000 .*' move 40 of a game took [0-9]+ ms, 3 times in a row: too little is left",
    ),
    ("first move", "go:1 late 2", r"its first move: to 'go p1time 1500 .*' the answer took \d+ ms of 1500"),
    ("stop", "go hang -", "no bestmove within 0.1 second of stop"),
    ("long game", "position tire 30", "it crashed: the process ended with exit code 9"),
    ("long game", "position cramp 512", "it crashed: the process ended with exit code 9"),
    ("whole game", "go leak thread", r"its threads and processes grow with every move: .*; a site allows 64"),
    ("whole game", "go leak child", r"its threads and processes grow with every move: .*; a site allows 64"),
    (
        "whole game",
        "go leak file",
        r"its open files grow with every move: there were \d+, and \d+ after \d+ moves",
    ),
    ("whole game", "go complain 100000", r"\d+ bytes of standard error in \d+ moves: in a long game"),
    ("whole game", "go complain 17000000", "it floods: more than 16 MiB of standard error"),
    (
        "same seed",
        f"ugi also {SEED_LINE} position whim -",
        "with the same UGI_Seed and 'go nodes 50' it played",
    ),
    ("new game", "position age -", "after another game and uginewgame it played"),
    ("rare rules", r"go:20 only bestmove\x20a1+-\n", r"illegal move 'a1\+-' in position"),
    (
        "short times",
        "go late 0.3",
        "to 'go movetime 20' the answer took [0-9]+ ms of 20.*; .* times in a row",
    ),
    (
        "short times",
        "go late 0.09",
        "to 'go movetime 20' the answer took [0-9]+ ms of 20.*; .* times in a row",
    ),
    ("short times", "go panic 90", "it crashed: the process ended with exit code 9"),
    ("flush", "start lazy -", "without PYTHONUNBUFFERED its answer to 'ugi' arrives only when it ends"),
    ("quit", "quit only -", "1 seconds after quit it was still running$"),
    ("quit", "go:2 hang -", "1 seconds after quit during a search it was still running$"),
    ("end of input", "end hang -", "1 seconds after the end of its input it was still running$"),
    (
        "end of input",
        "end spin - end hang -",
        r"after the end of its input it was still running, using \d\.\d s of processor time",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plan", "sentence"), FAULTS)
def test_the_fault_is_named_of_an_engine_that_does(
    name: str, plan: str, sentence: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waits for answers that never come are short here; computations may be slow on a busy machine."""
    monkeypatch.setattr(checked_process, "READY_SECONDS", 60.0)
    monkeypatch.setattr(protocol_checks, "READY_SECONDS", 1.0)
    monkeypatch.setattr(protocol_checks, "EXIT_SECONDS", 1.0)
    monkeypatch.setattr(protocol_checks, "BUSY_SHARE", 0.05)
    monkeypatch.setattr(playing, "GRACE_SECONDS", 5.0 if name in ("short times", "first move") else 0.1)
    monkeypatch.setattr(playing, "STOP_SECONDS", 0.1)
    with nothing_left(mark):
        finding = found_by(name, plan, mark)
    assert re.search(sentence, finding.fault), finding
    assert finding.check == name
    assert finding.advice
    assert "> ugi\n" in finding.lines


WRONG = """
from engines.sdk import run
run(lambda turn: "a9+", name="Wrong", games=["dogon-kulei"])
"""
BROKEN = r"""
import json, sys

def choose(words):
    return {"a1+": 1}["b1+"]

for line in sys.stdin:
    words = line.split()
    if words == ["ugi"]:
        print("id name Broken\nid author Somebody\nugiok", flush=True)
    elif words == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["go"]:
        print("bestmove", choose(words), flush=True)
"""
"""A Python engine that understands the protocol, and ends with a KeyError where it should choose a move."""


@pytest.mark.slow
def test_the_advice_on_a_python_exception_names_it_in_every_check(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BROKEN)
    spec = EngineSpec("Broken", "1", ("python3", "main.py"), trusted=True)
    report = check_engine(lambda: plan_launch(spec, tmp_path), ladders=[DOGON], seconds=60.0)
    crashed = [finding for finding in report.faults if "it crashed" in finding.fault]
    assert {"one answer", "legal moves", "time control", "stop"} <= {finding.check for finding in crashed}
    file = tmp_path.resolve() / "main.py"
    advice = f"its Python program raised KeyError: 'b1+' in line 5 of {file} (choose): look there first"
    assert {finding.advice for finding in crashed} == {advice}
    assert f"    What to do: {advice}\n" in format_finding(crashed[0])
    assert crashed[0].fault.startswith(f"KeyError: 'b1+' in line 5 of {file} (choose): it crashed: ")


@pytest.mark.slow
def test_an_exception_is_one_finding_and_later_ones_refer_to_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BROKEN)
    spec = EngineSpec("Broken", "1", ("python3", "main.py"), trusted=True)
    report = check_engine(lambda: plan_launch(spec, tmp_path), ladders=[DOGON], seconds=60.0)
    first, *others = [finding for finding in report.faults if "it crashed" in finding.fault]
    assert (first.check, first.same_as) == ("one answer", "")
    assert others
    assert {other.same_as for other in others} == {"'one answer'"}
    assert format_finding(others[-1]).endswith("FAULT: the same as in 'one answer'")


def test_the_same_illegal_move_is_one_finding_and_later_ones_refer_to_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(WRONG)
    spec = EngineSpec("Wrong", "1", ("python3", "main.py"), trusted=True)
    report = check_engine(lambda: plan_launch(spec, tmp_path), ladders=[DOGON], seconds=60.0)
    first, *others = [finding for finding in report.faults if "illegal move 'a9+'" in finding.fault]
    assert (first.check, first.same_as) == ("one answer", "")
    again = [finding for finding in others if finding.fault == first.fault]
    assert len(again) > 3
    assert {(finding.same_as, finding.lines) for finding in again} == {("'one answer'", "")}
    assert any(not finding.same_as and finding.lines for finding in others), "in another position"


@pytest.mark.parametrize(("is_grave", "sentence"), [(True, REFUSES), (False, MENTIONS)])
def test_a_fault_says_what_a_site_does_about_it(is_grave: bool, sentence: str) -> None:
    finding = Finding("stop", "", "no answer", "answer", is_grave=is_grave)
    assert f"    {sentence}" in format_finding(finding).splitlines()
    report = CheckReport("A", (finding,), 1.0)
    assert f"1 fault ({int(is_grave)} for which a site refuses a bot)" in format_summary(report)


FRAMES = """Traceback (most recent call last):
  File "/bot/main.py", line 9, in <module>
    main()
  File "/bot/main.py", line 5, in main
    json.loads(text)
    ^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
"""
CHAINED = f"""{FRAMES}ValueError: one

During handling of the above exception, another exception occurred:

{FRAMES}  File "/bot/b.py", line 2, in f
    x
NameError: two\x1b[31m
"""


@pytest.mark.parametrize(
    ("stderr", "description"),
    [
        (
            f"hello\n{FRAMES}json.decoder.JSONDecodeError: Expecting value: line 1\n\nmore\n",
            "json.decoder.JSONDecodeError: Expecting value: line 1 in line 5 of /bot/main.py (main)",
        ),
        (f"{FRAMES}KeyboardInterrupt\n", "KeyboardInterrupt in line 5 of /bot/main.py (main)"),
        (
            CHAINED,
            "NameError: two\\x1b[31m in line 2 of /bot/b.py (f)",
        ),
        (
            "  File \"/bot/main.py\", line 3\n    x = (\n        ^\nSyntaxError: '(' was never closed\n",
            "SyntaxError: '(' was never closed in line 3 of /bot/main.py",
        ),
        ('  File "<frozen runpy>", line 7, in f\nE: x\n', "E: x in line 7 of <frozen runpy> (f)"),
    ],
)
def test_an_exception_is_reported_with_the_line_of_the_author_s_code(stderr: str, description: str) -> None:
    assert explain_exception(stderr) == f"its Python program raised {description}: look there first"


@pytest.mark.parametrize(
    "stderr", ["", "Error: no move", "Traceback (most recent call last):", FRAMES, 'File "x", line 3\nbut no']
)
def test_without_an_exception_the_advice_is_that_of_the_check(stderr: str) -> None:
    assert explain_exception(stderr) is None


def test_an_exception_s_advice_is_short_for_any_output_of_the_engine() -> None:
    flood = f'  File "{"f" * 9999}", line {"9" * 9}, in {"g" * 9999}\n'
    advice = explain_exception(flood * 99 + f"E: {'x' * 99999}\n")
    assert advice is not None
    assert len(advice) < 700


@pytest.mark.slow
def test_an_answer_that_is_late_three_times_is_a_fault(
    mark: str, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "GRACE_SECONDS", 20.0)
    with nothing_left(mark):
        finding = found_by("time control", "go late 1.1", mark)
    late = r"to 'go p1time 1000 .*' the answer took \d{4,5} ms of 1000.*, 3 times in a row"
    assert re.search(late, finding.fault), finding


def test_every_check_has_an_engine_that_fails_it() -> None:
    assert {name for name, _, _ in FAULTS} == set(BY_NAME)


def checked(mark: str, plan: str, seconds: float) -> CheckReport:
    return check_engine(lambda: launch_of(mark, plan), ladders=[DOGON], seconds=seconds)


@pytest.mark.slow
def test_an_engine_that_does_nothing_wrong_is_clean(mark: str, patient: None) -> None:
    with nothing_left(mark):
        report = checked(mark, "go also info\\x20depth\\x201\\n", 240.0)
    assert report.faults == ()
    assert report.is_clean
    assert [finding.check for finding in report.findings] == list(BY_NAME)
    assert format_summary(report).startswith(f"Bad: no fault in {len(BY_NAME)} checks, ")


ALONE = {"options": 2, "unknown words": 2, "info lines": 2, "new game": 1}
"""Checks, with the number of their first engines in ``FAULTS`` that have no other fault."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plan"),
    [fault[:2] for name, count in ALONE.items() for fault in [f for f in FAULTS if f[0] == name][:count]],
)
def test_an_engine_with_one_fault_fails_that_check_alone(
    name: str, plan: str, mark: str, patient: None
) -> None:
    with nothing_left(mark):
        report = checked(mark, plan, 240.0)
    assert {finding.check for finding in report.faults} == {name}, report.faults
    assert all(finding.was_tried for finding in report.findings)


NO_ANSWER = r"no bestmove to 'go [a-z0-9 ]+' within \d(\.\d)? seconds|no bestmove within 1 second of stop"
FLOODS = r"it floods: (more than 1024 KiB of output in one move|a line of output was over 64 KiB)"
CRASHES = r"it crashed: the process was ended by signal 9 \(SIGKILL\)"
RUNS_ON = (
    r"2 seconds after (quit|the end of its input) during a search it was still running"
    r"(, using \d\.\d s of processor time)?"
)
"""The fault of an engine that does not read its input while it searches."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "sentences"),
    [
        ("go resist -", (NO_ANSWER, RUNS_ON)),
        ("go stop -", (NO_ANSWER, RUNS_ON)),
        (r"go drip info\x20string\x20x\n", (NO_ANSWER, RUNS_ON)),
        ("go drip x", (NO_ANSWER, RUNS_ON)),
        (r"go flood 1\x20info\x20x\n", (FLOODS, RUNS_ON)),
        (r"go flood 1\x20x", (FLOODS, RUNS_ON)),
        ("go die SIGKILL", (CRASHES,)),
        ("go close 1", ("it closed its output", RUNS_ON)),
    ],
)
def test_the_check_ends_in_its_time_and_leaves_nothing_of_an_engine_that_does(
    plan: str, sentences: tuple[str, ...], mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of checks done depends on the machine; every fault found is a true one.

    Deadline of the behaviour: a second after its time; ten times that here.
    """
    if NO_ANSWER in sentences:  # shorter waits, so that more checks are done
        monkeypatch.setattr(protocol_checks, "ANSWER_SECONDS", 0.1)
        monkeypatch.setattr(playing, "ANSWER_SECONDS", 0.1)
    with nothing_left(mark):
        started = time.monotonic()
        report = checked(mark, plan, 1.0)
        took = time.monotonic() - started
    assert took < 1.0 + 10.0
    assert not report.is_clean
    for finding in report.faults:
        assert any(re.fullmatch(sentence, finding.fault) for sentence in sentences), finding


def test_a_check_that_ran_out_of_time_is_not_called_clean(
    mark: str, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is up when two checks are done."""
    done: list[Finding] = []

    class Short(Budget):
        def deadline_ns(self, seconds: float) -> int:
            if len(done) >= 2:
                raise CheckTimedOut
            return super().deadline_ns(seconds)

    monkeypatch.setattr(run, "Budget", Short)
    report = check_engine(lambda: launch_of(mark, ""), ladders=[DOGON], seconds=60.0, on_finding=done.append)
    assert report.faults == ()
    assert not report.is_clean
    assert format_finding(report.findings[-1]) == "end of input                       not tried"
    rest = len(BY_NAME) - 2
    assert re.search(rf"no fault in 2 checks, \d+\.\d s; {rest} more were not tried", format_summary(report))


def test_a_check_aborted_at_the_time_limit_is_reported_with_its_lines(mark: str) -> None:
    (finding,) = checked(mark, "ugi hang -", 0.5).findings
    report = format_finding(finding)
    assert report.startswith("handshake                          aborted when the time was up\n")
    assert re.search(r"\n +0\.\d\d\d > ugi$", report)


def test_without_a_handshake_nothing_else_is_tried(mark: str) -> None:
    report = checked(mark, "start leave 1", 60.0)
    (finding,) = report.findings
    assert finding.check == "handshake"
    assert report.engine == ""


def test_an_engine_of_no_known_ladder_needs_one_named(mark: str) -> None:
    with pytest.raises(CannotCheck, match="declares no ladder in UGI_Variant: name one with --game"):
        check_engine(lambda: launch_of(mark, ""), seconds=60.0)
    assert processes_with(mark) == []


def test_a_ladder_it_does_not_claim_cannot_be_checked(mark: str) -> None:
    plan = r"ugi also option\x20name\x20UGI_Variant\x20type\x20combo\x20default\x20dualma\x20var\x20dualma\n"
    with pytest.raises(CannotCheck, match="does not declare 'dogon-kulei' in UGI_Variant"):
        checked(mark, plan, 60.0)


def test_a_missing_program_cannot_be_checked(tmp_path: Path) -> None:
    missing = Launch(("/nowhere/engine",), {}, str(tmp_path), str(tmp_path / "scratch"))
    with pytest.raises(CannotCheck, match="cannot start '/nowhere/engine': No such file"):
        check_engine(lambda: missing, ladders=[DOGON], seconds=60.0)


def test_a_fault_is_reported_with_its_lines_its_log_and_what_to_do(mark: str) -> None:
    plan = r"go complain 12 go only bestmove\x20\x1b[31m\n"
    finding = found_by("legal moves", plan, mark)
    report = format_finding(finding)
    assert report.startswith(
        "legal moves (dogon-kulei)          FAULT: illegal move '\\x1b[31m' in position "
    )
    assert "    What to do: set up exactly the position of the last 'position' line; " in report
    assert re.search(r"      +\d\.\d\d\d > position startpos\n      +\d\.\d\d\d > go p1time 5000 ", report)
    assert re.search(r"      +\d\.\d\d\d < bestmove \\x1b\[31m\n", report)
    assert report.endswith("The last lines of its standard error:\n      FIRSTxxxLAST")


def test_long_conversations_are_cut_in_the_report() -> None:
    finding = Finding("stop", "", "no answer", "answer", "\n".join(["x" * 1000] * 100))
    lines = format_finding(finding).splitlines()
    assert len(lines) < 20
    assert max(map(len, lines)) < 170
