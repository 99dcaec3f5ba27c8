"""A short form of the soak test ``python -m benchmarks.soak``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.needs import need
from tests.support.sites import bare_environment
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.thorough
MAX_SECONDS = "900"
"""Several times the time on an idle machine."""


def test_with_faults_the_same_tournaments_are_recorded_once_as_with_one_slot_or_eight(
    tmp_path: Path,
) -> None:
    need("cc")
    databases = ("--database=sqlite", "--database=postgresql")
    words = ("--games=1", "--lease=8", f"--most={MAX_SECONDS}", "--calm", *databases)
    command = (sys.executable, "-m", "benchmarks.soak", *words)
    output = tmp_path / "output"
    try:
        with output.open("w") as file:
            run = subprocess.run(
                command, cwd=ROOT, env=bare_environment(), stdout=file, stderr=subprocess.STDOUT, check=False
            )
    finally:
        print(text := output.read_text())  # also if it takes too long
    assert run.returncode == 0
    assert text.count("All games are recorded once") == 4
    assert "All runs: the same games" in text
    for kind in ("kills of site", "stops of keeper", "workers cut off", "times without the database"):
        counts = [int(number) for number in re.findall(rf"^\| {kind} \| (\d+)", text, re.MULTILINE)]
        assert len(counts) == 2, kind
        assert min(counts) > 0, kind
