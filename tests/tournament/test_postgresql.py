"""The record path once more on a real PostgreSQL, which starts without root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import running_postgres

ROOT = Path(__file__).parents[2]
AGAIN = tuple(
    f"services/test_{subject}.py" for subject in ("delivery", "keeper", "bots", "parcels", "rounds")
)
"""Double delivery at once, everything a report can be, what a void leads to, claims in bulk, rounds once."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_postgres() as address:
        yield address


@pytest.mark.slow
def test_results_are_stored_once_on_postgresql_too(server: str) -> None:
    """In a process of its own: a Django has its database for life."""
    tests = [f"tests/tournament/{name}" for name in AGAIN]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--create-db", *tests],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": server},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-1000:]
