"""The path of a record on a real PostgreSQL, which starts without root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = """
services/test_at_once.py services/work/test_at_once.py
services/results/test_keeper.py services/results/test_rebuilding.py services/uploads/test_submission.py
services/test_fair_share.py services/work/test_leases.py
services/work/test_next_batch.py services/schedule/test_rounds.py services/schedule/test_slugs.py
services/schedule/test_large_schedules.py services/version_tests/test_progress.py
views/version_tests/test_version_tests.py services/test_annulments.py services/test_pruning.py
api/v1/test_kept_answers.py api/v1/test_contract.py
services/evidence/test_ladders.py services/searches/test_sampling.py services/webhooks/test_killed_senders.py
test_hostile_workers.py views/test_hostile_requests.py::test_no_address_breaks_on_odd_values
"""
"""First what SQLite, with one writer at a time, cannot show: concurrent double delivery, the order of locks,
limits passed by one of several requests, pairs of version tests counted once. Then every kind of report,
the effects of a void, bulk claims, rounds made once, slugs taken meanwhile, large schedules in parts,
rebuilds beside new games, annulments, pruning, odd values of messages and requests.
"""


@pytest.mark.thorough
def test_results_are_stored_once_on_postgresql_too(postgres: str) -> None:
    """In a new process, since Django cannot change its database."""
    tests = [f"tests/tournament/{name}" for name in FILES.split()]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--create-db", *tests],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": postgres},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-1000:]
