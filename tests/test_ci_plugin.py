"""Where CI is set, a skip is a failure; elsewhere it is a skip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ci_plugin
from tournament.embedded.plan import ROOT

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


NOTING = """
import os
import pathlib
import pytest

@pytest.mark.parametrize("number", range(6))
def test_notes_its_process(number):
    with open(pathlib.Path(__file__).with_suffix(".txt"), "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


def run(folder: Path, source: str, ci: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\n")
    plugins = ("-p", "tests.ci_plugin", "-p", "no:django", "-p", "no:cacheprovider")
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


def test_in_ci_a_file_that_skips_itself_fails(tmp_path: Path) -> None:
    answer = run(tmp_path, "import pytest\npytest.importorskip('no_such_package')\n", "true")
    assert answer.returncode != 0
    assert "CI skips nothing" in answer.stdout


@pytest.mark.parametrize(
    ("value", "is_ci"), [("", False), ("0", False), ("false", False), ("true", True), ("1", True)]
)
def test_ci_is_what_the_variable_says(value: str, is_ci: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", value)
    assert ci_plugin.in_ci() == is_ci


def test_tests_without_walls_to_try_are_named_also_in_ci(tmp_path: Path) -> None:
    source = (
        f"import pytest\n\ndef test_walls():\n    pytest.skip({ci_plugin.NOT_RUN + 'no control group'!r})\n"
    )
    answer = run(tmp_path, source, "true")
    assert answer.returncode == 0
    told = answer.stdout[answer.stdout.index("- not run -") :]
    assert "no control group\n  test_sample.py::test_walls\n" in told


def test_the_tests_of_a_file_share_a_process(tmp_path: Path) -> None:
    """And so what the file sets up, a site for instance."""
    (tmp_path / "e2e").mkdir()
    for name in ("one", "two"):
        (tmp_path / "e2e" / f"test_{name}.py").write_text(NOTING)
    answer = run(tmp_path, "", "true", "-n", "2", "--dist", "loadfile")
    assert answer.returncode == 0, answer.stdout
    for name in ("one", "two"):
        processes = (tmp_path / "e2e" / f"test_{name}.txt").read_text().split()
        assert len(processes) == 6
        assert len(set(processes)) == 1
