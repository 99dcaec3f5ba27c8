"""If CI is set, a skip is a failure; files with long tests come first; a test that hangs fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ci_plugin
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.slow

SKIPPING = """
import pytest

def test_skips():
    pytest.skip("no browser")

@pytest.mark.skipif(True, reason="no browser")
def test_is_marked():
    pass

@pytest.mark.xfail
def test_is_known_to_fail():
    assert False
"""


def run(
    folder: Path, source: str, ci: str, *words: str, ini: str = "[pytest]\n", plugin: str = "tests.ci_plugin"
) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(source)
    (folder / "pytest.ini").write_text(ini)
    plugins = ("-p", plugin, "-p", "no:django", "-p", "no:cacheprovider")
    command = (sys.executable, "-m", "pytest", *plugins, "-q", *words, str(folder))
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_outside_ci_skips_are_skips(tmp_path: Path) -> None:
    answer = run(tmp_path, SKIPPING, "")
    assert answer.returncode == 0
    assert "2 skipped, 1 xfailed" in answer.stdout


def test_in_ci_every_skip_fails_with_its_reason(tmp_path: Path) -> None:
    answer = run(tmp_path, SKIPPING, "true")
    assert answer.returncode == 1
    assert "1 failed, 1 xfailed, 1 error" in answer.stdout
    assert "CI skips nothing" in answer.stdout
    assert "no browser" in answer.stdout


def test_skipped_tests_are_named_at_the_end_by_what_they_need(tmp_path: Path) -> None:
    output = run(tmp_path, SKIPPING, "").stdout
    assert "- not run -" in output
    assert "no browser\n  test_sample.py::test_is_marked\n  test_sample.py::test_skips\n" in output


def test_in_ci_only_the_tests_on_the_list_may_skip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ci_plugin, "read_allowed", lambda: {"tests/a.py::test_a": "a reason"})
    for test, outcome in (("tests/a.py::test_a[1]", "skipped"), ("tests/a.py::test_ab", "failed")):
        report = pytest.TestReport(test, ("tests/a.py", 1, ""), {}, "skipped", ("", 1, "Skipped: x"), "call")
        ci_plugin._forbid_skip(report)
        assert report.outcome == outcome


def test_every_skip_that_is_allowed_has_a_reason_and_a_test() -> None:
    for test, reason in ci_plugin.read_allowed().items():
        path, _, name = test.partition("::")
        assert f"\ndef {name}(" in (ROOT / path).read_text(), test
        assert len(reason.split()) > 3, test


def test_an_allowed_skip_without_a_reason_is_refused(tmp_path: Path) -> None:
    (tmp_path / "skips.txt").write_text("# a comment\n\ntests/a.py::test_a  a reason\ntests/a.py::test_b\n")
    with pytest.raises(ValueError, match=r"skips\.txt, line 4: 'tests/a\.py::test_b' has no reason"):
        ci_plugin.read_allowed(tmp_path / "skips.txt")


def test_files_with_long_tests_come_first(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n thorough\n")
    (tmp_path / "e2e").mkdir()
    mark = "import pytest\n@pytest.mark.{}\ndef test_it(): pass\n"
    sources = {
        "test_a.py": "def test_it(): pass\n",
        "test_b.py": mark.format("slow"),
        "test_c.py": "def test_quick(): pass\n" + mark.format("thorough"),
        "e2e/test_d.py": "def test_it(): pass\n",
    }
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    output = run(tmp_path, "", "true", "--collect-only", ini="[pytest]\nmarkers = slow\n thorough\n").stdout
    order = [line.partition("::")[0] for line in output.splitlines() if "::" in line]
    assert order == ["e2e/test_d.py", "test_c.py", "test_c.py", "test_b.py", "test_a.py"]


HANGING = """
import os, subprocess, threading
import pytest
from tests import conftest
conftest.MAX_SECONDS = 1

def in_the_middle(wait):
    def test():
        wait()
    return test

test_lock = in_the_middle(lambda: threading.Lock().acquire() and threading.Event().wait())
test_pipe = in_the_middle(lambda: os.read(os.pipe()[0], 1))
test_process = in_the_middle(lambda: subprocess.run(["sleep", "60"]))

@pytest.fixture
def slow_to_come():
    threading.Event().wait()

@pytest.fixture
def slow_to_go():
    yield
    threading.Event().wait()

def test_setup(slow_to_come):
    pass

def test_teardown(slow_to_go):
    pass

def test_sound():
    pass
"""


def test_a_test_that_waits_for_anything_fails_and_the_others_run(tmp_path: Path) -> None:
    answer = run(tmp_path, HANGING, "", ini="[pytest]\nmarkers = slow\n", plugin="tests.conftest")
    assert "3 failed, 2 passed, 2 errors" in answer.stdout
    messages = [line.partition("hangs ")[2] for line in answer.stdout.splitlines() if line.startswith("E ")]
    assert sorted(messages) == sorted(
        ["in the middle: it is not done after 1 s"] * 3
        + [f"{where}: it is not done after 1 s" for where in ("before it began", "while it cleaned up")]
    )
