"""The test command leaves no processes or files, after a normal end and after an interrupt."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.run import PASSED_ALONE, closing_lines, failed_tests, parse
from tests.support.jobs import processes_with, wait_until
from tests.support.needs import link_programs
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

MARK = f"98765{os.getpid()}"
"""The seconds that a process of these tests sleeps at most; other processes sleep other times."""
ORPHAN = """
import subprocess, sys
subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
sys.exit({code})
"""
WAITS = f"import subprocess; subprocess.run(['sleep', '{MARK}'])"
ONE_STEP = """
import sys
from pathlib import Path
from tests import run

run.CACHE = Path({cache!r})
run.END_SECONDS = 0.1

def only_step(self):
    return 0 if self._step("a step", sys.executable, "-c", {program!r}, is_test=True) else 1

run.Run._run_steps = only_step
sys.exit(run.main([]))
"""

TEST_RUN = """
import sys
from pathlib import Path
from tests import run

run.CACHE = Path({cache!r})
run.Run._processes = lambda self: 1  # more take longer to start

def one_run(self):
    self._test("tests", {tests!r}, "--rootdir", str(Path({tests!r}).parent))
    return 0 if all(step.passed for step in self._steps) else 1

run.Run._run_steps = one_run
sys.exit(run.main(["--all"]))
"""
NAMED = """
import sys
from pathlib import Path
from tests import run

run.CACHE = Path({cache!r})
sys.exit(run.main(["tests/tournament/test_tasks.py", "-k", "tending_tells"]))
"""
UNSTEADY = """
from pathlib import Path

def test_that_passes_from_the_second_time_on():
    seen = Path({seen!r})
    before = seen.exists()
    seen.touch()
    assert before

def test_that_passes():
    Path({seen!r} + "-passing").open("a").write("x")
"""
SKIPPING = """
import pytest

@pytest.mark.parametrize("package", ["fruit", "fruit", "nuts and", ""])
def test_that_needs(package):
    pytest.skip(f"needs a meal (apt-get install {{package}})" if package else "needs a quiet machine")
"""
TEST_REDIS = "tests/tournament/embedded/processes/test_redis_server.py"
OPTIONAL = (
    "tests/benchmarks/test_contention.py",
    "tests/benchmarks/test_overhead.py::test_a_match_and_a_bare_loop_are_timed",
    "tests/e2e/test_format_tutorial.py",
    "tests/engines/test_compiled.py::test_the_compiled_form_runs_where_it_was_made_of_these_sources",
    f"{TEST_REDIS}::test_a_redis_with_tls_is_used_if_its_certificate_is_trusted",
    "tests/tournament/monitoring/test_prometheus.py::test_prometheus_accepts_the_alerts",
    "tests/workers/check/test_check_samples.py::test_the_bot_in_javascript_is_clean",
    "tests/workers/service/test_restart.py::test_a_worker_whose_probe_failed_on_a_busy_machine_probes_again",
    "tests/workers/service/test_restart.py::test_a_worker_that_is_only_stopped_does_not_start_again",
)
"""Tests that need optional programs, and one that needs none."""
PACKAGES = "bubblewrap gcc git libc6-dev nodejs openssl prometheus"
"""Some of the packages that these tests need."""
HIDE = """
from workers.sandbox.bwrap import OUTER_ENVIRONMENT
OUTER_ENVIRONMENT["PATH"] = {path!r}
"""
REQUIRED = "sh dirname basename cat cksum sed tail rm id prlimit".split()
"""The programs that the product cannot do without, beside Python."""
SELECTED = """
import sys
from pathlib import Path
from tests import run

run.CACHE = Path({cache!r})

def one_run(self):
    self._test("tests", "-p", "hide_programs", *{tests!r})
    return 0 if all(step.passed for step in self._steps) else 1

run.Run._run_steps = one_run
sys.exit(run.main(["--all"]))
"""
FAILING = """
import os, time

def test_a():
    assert "a mistake" == ""

def test_b():
    open({seen!r}, "w").close()
    time.sleep(600)
"""


@contextmanager
def started(folder: Path, program: str) -> Iterator[subprocess.Popen[str]]:
    """The test command with this program as its only step, and its temporary folder in ``folder``."""
    with running(folder, ONE_STEP.format(cache=str(folder / "cache"), program=program)) as run:
        yield run


@contextmanager
def running(folder: Path, source: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        (sys.executable, "-c", source),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            yield run
        finally:
            run.kill()


REUSED = """
import os, subprocess
from tests.run import Children
children = Children()
step = subprocess.Popen(["true"])
step.wait()
orphan = os.fork()
if orphan == 0:
    os._exit(0)
os.waitid(os.P_PID, orphan, os.WEXITED | os.WNOWAIT)
step.pid = orphan
children.reap({orphan: step})
print(children.ended, os.path.exists(f"/proc/{orphan}"))
"""


def test_an_orphan_with_the_number_of_an_ended_step_is_reaped() -> None:
    """Process numbers come again after 32,768 others, while a step that has ended is still remembered."""
    command = (sys.executable, "-c", REUSED)
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert run.stdout == "{} False\n", run.stderr


@pytest.mark.parametrize("words", [["--quick", "--all"], ["--fast"], ["-k"]])
def test_an_unknown_argument_is_refused_with_status_2(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(words)


def test_the_closing_lines_are_the_short_summary_or_the_last_line() -> None:
    summary = "==== short test summary info ====\nFAILED tests/a.py\n1 failed in 2.00s"
    assert closing_lines(f".F\n{summary}\n") == summary
    assert closing_lines("..\n2 passed in 1.00s\n") == "2 passed in 1.00s"
    assert closing_lines("") == ""
    colored = "\x1b[31mF\x1b[0m\n\x1b[36m== short test summary info ==\n\x1b[31mFAILED\x1b[0m a\n"
    assert closing_lines(colored).endswith("\nFAILED a")


def test_failed_tests_are_counted_unless_there_are_errors() -> None:
    assert failed_tests("FAILED a.py::one - why\nFAILED a.py::two\n2 failed in 2.00s") == 2
    assert failed_tests("FAILED a.py::one\nERROR b.py - cannot be imported\n1 failed, 1 error") == 0
    assert failed_tests("2 passed in 1.00s") == 0


@pytest.mark.parametrize(("body", "code"), [(UNSTEADY, 0), ("def test_a():\n    assert False\n", 1)])
def test_a_failed_test_is_repeated_alone_and_named(body: str, code: int, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    test = tmp_path / "test_it.py"
    test.write_text(body.format(seen=str(seen)))
    source = TEST_RUN.format(cache=str(tmp_path / "cache"), tests=str(test))
    with running(tmp_path, source) as run:
        printed = run.communicate()[0]
    assert run.returncode == code, printed
    summary = printed.partition("== summary\n")[2]
    assert [line.split()[0] for line in summary.splitlines()[:2]] == ["FAILED" if code else "ok"] * 2
    assert "tests: the failed ones again, one at a time" in summary
    assert "FAILED " in summary
    assert "test_it.py::test_" in summary
    assert (PASSED_ALONE in summary) == (code == 0)
    if not code:
        assert Path(f"{seen}-passing").read_text() == "x"  # what passed is not repeated


@pytest.mark.parametrize("code", [0, 3])
def test_a_process_that_outlives_the_tests_is_named_killed_and_fails_the_run(
    code: int, tmp_path: Path
) -> None:
    with started(tmp_path, ORPHAN.format(mark=MARK, code=code)) as run:
        printed = run.communicate()[0]
    assert run.returncode == 1
    assert "left running, and killed now:\n" in printed
    assert f": sleep {MARK}" in printed
    assert "FAILED" in printed
    assert processes_with(MARK) == []


def test_named_tests_run_alone_and_the_next_run_begins_with_their_database(tmp_path: Path) -> None:
    source = NAMED.format(cache=str(tmp_path / "cache"))
    kept = []
    for _ in range(2):
        with running(tmp_path, source) as run:
            printed = run.communicate()[0]
        assert run.returncode == 0, printed
        assert re.search(r"== summary\nok +\d+ s  tests\n\ntests:\n1 passed, \d+ deselected in", printed), (
            printed
        )
        kept.append([path.stat().st_ino for path in (tmp_path / "cache" / "databases").glob("*.sqlite3")])
    assert kept[0] == kept[1]
    assert len(kept[0]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_and_no_file(number: signal.Signals, tmp_path: Path) -> None:
    with started(tmp_path, WAITS) as run:
        assert wait_until(lambda: processes_with(MARK) != [])
        run.send_signal(number)
        printed = run.communicate()[0]
    assert run.returncode == 130
    assert printed.endswith("arena: interrupted\n")
    assert processes_with(MARK) == []
    assert os.listdir(tmp_path) == ["cache"]


def test_the_summary_has_one_command_that_installs_what_skipped_tests_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "")  # in CI a skipped test fails
    test = tmp_path / "test_it.py"
    test.write_text(SKIPPING.format())
    with running(tmp_path, TEST_RUN.format(cache=str(tmp_path / "cache"), tests=str(test))) as run:
        printed = run.communicate()[0]
    assert printed.endswith("\nto run 3 more tests: apt-get install and fruit nuts\n")


@pytest.mark.thorough
def test_a_machine_without_optional_programs_skips_what_needs_them_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    link_programs(programs, REQUIRED)
    (tmp_path / "hide_programs.py").write_text(HIDE.format(path=str(programs)))
    monkeypatch.setenv("CI", "")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with running(tmp_path, SELECTED.format(cache=str(tmp_path / "cache"), tests=OPTIONAL)) as run:
        printed = run.communicate()[0]
    assert run.returncode == 0, printed
    assert "FAILED" not in printed.partition("== summary")[2]
    assert re.search(r"\b1 passed, \d+ skipped\b", printed), printed
    (line,) = re.findall(r"^to run \d+ more tests: apt-get install (.*)$", printed, re.MULTILINE)
    assert set(PACKAGES.split()) <= set(line.split())


def test_an_interrupted_run_shows_the_failures_so_far(tmp_path: Path) -> None:
    test, seen = tmp_path / "test_it.py", tmp_path / "seen"
    test.write_text(FAILING.format(seen=str(seen)))
    with running(tmp_path, TEST_RUN.format(cache=str(tmp_path / "cache"), tests=str(test))) as run:
        assert wait_until(seen.exists)
        assert run.stdout is not None
        printed = "".join(iter(partial(run.stdout.read, 1), "F"))  # the sign of the failed test
        run.send_signal(signal.SIGINT)
        printed += run.communicate()[0]
    assert run.returncode == 130
    assert "assert 'a mistake' == ''" in printed
    assert re.search(r"^FAILED \S*::test_a", printed.partition("== summary\n")[2], re.MULTILINE), printed
