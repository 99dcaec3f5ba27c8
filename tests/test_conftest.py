"""A test that hangs fails, and the next one runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tournament.embedded.plan import ROOT

HANGING = """
import os, subprocess, threading
import pytest
from tests import conftest
conftest.MOST_SECONDS = 1

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


@pytest.mark.slow
def test_a_test_that_waits_for_anything_fails_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(HANGING)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    plugins = ("-p", "tests.conftest", "-p", "no:django", "-p", "no:cacheprovider")
    command = (sys.executable, "-m", "pytest", *plugins, "-q", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "3 failed, 2 passed, 2 errors" in answer.stdout
    messages = [line.partition("hangs ")[2] for line in answer.stdout.splitlines() if line.startswith("E ")]
    assert sorted(messages) == sorted(
        ["in the middle: it is not done after 1 s"] * 3
        + [f"{where}: it is not done after 1 s" for where in ("before it began", "while it cleaned up")]
    )
