"""Games that users stop on a running site, with its real workers and engines."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from benchmarks.stops import TARGET_S
from tests.support.sites import bare_environment
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.thorough


def test_engines_are_gone_soon_after_a_pause_a_withdrawal_and_a_cancellation() -> None:
    """Deadline of the behaviour: five seconds; ten times that here. Paused games are played again before."""
    command = (sys.executable, "-m", "benchmarks.stops", "--times=1")
    run = subprocess.run(
        command, cwd=ROOT, env=bare_environment(), capture_output=True, text=True, check=False
    )
    longest = dict(re.findall(r"^\| (\w+) \| .* \| ([0-9.]+) s \|$", run.stdout, re.MULTILINE))
    assert longest.keys() == {"pause", "withdrawal", "cancellation"}, run.stdout + run.stderr
    assert all(float(seconds) < 10 * TARGET_S for seconds in longest.values()), longest
