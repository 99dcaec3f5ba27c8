"""A pytest plugin for skipped tests and the order of files.

On a developer's machine a missing browser is a reason to skip; the end of the run names each test that
did not run and what it needs. With ``CI`` set a skipped test fails, so that missing tests are noticed,
except for the tests that ``allowed_skips.txt`` names with a reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false", "no"}


def read_allowed(path: Path = ALLOWED) -> dict[str, str]:
    """The reasons why CI may skip tests, by the tests' ids without parameters.

    A line is an id, a space and a reason; ``#`` begins a comment. Raises ``ValueError`` for a line
    without a reason.
    """
    reasons: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        test, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError(f"{path.name}, line {number}: {test!r} has no reason")
        reasons[test] = reason.strip()
    return reasons


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped."""
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(told).removeprefix("Skipped: ")


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    is_skip = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    if is_skip and report.nodeid.partition("[")[0] not in read_allowed():
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, and CI skips nothing ({_reason(report)})"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    outcome = yield
    if in_ci():
        _forbid_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, None]:
    outcome = yield
    if in_ci():
        _forbid_skip(outcome.get_result())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run files with long tests first, so that the processes end at about the same time."""
    ranks: dict[Path, int] = {}
    for item in items:
        ranks[item.path] = max(ranks.get(item.path, 0), _rank(item))
    items.sort(key=lambda item: -ranks[item.path])


def _rank(item: pytest.Item) -> int:
    """A rough class of a test's duration, the longest highest."""
    marks = [
        item.path.parent.name == "e2e",
        item.get_closest_marker("thorough") is not None,
        item.get_closest_marker("slow") is not None,
    ]
    return sum(value << place for place, value in enumerate(reversed(marks)))


INSTALL = re.compile(r"\(apt-get install ([^)]+)\)$")
"""How a reason to skip names the packages that the test needs."""


def missing_packages(printed: str) -> tuple[set[str], int]:
    """The packages that skipped tests need, by a run's list of these tests, and the number of the tests."""
    packages: set[str] = set()
    tests, is_listed = 0, False
    for line in printed.splitlines():
        if found := INSTALL.search(line):
            packages.update(found[1].split())
        is_listed = found is not None or (is_listed and line.startswith("  "))
        tests += is_listed and not found
    return packages, tests


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the skipped tests by their reasons."""
    skipped = [(report.nodeid, _reason(report)) for report in terminalreporter.stats.get("skipped", [])]
    for reason in sorted({reason for _, reason in skipped}):
        terminalreporter.section("not run", sep="-")
        terminalreporter.line(reason)
        for name in sorted(name for name, why in skipped if why == reason):
            terminalreporter.line(f"  {name}")
