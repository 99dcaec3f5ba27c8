"""A pytest plugin: where ``CI`` is set, a skipped test is a failed one.

On a developer's machine a missing browser is a reason to skip. In CI it would
hide that nothing was tested; there every test runs or the run is red. Tests of
walls that the machine or the user cannot have are the exception: they are named
at the end of the run as not run.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

NOT_RUN = "without walls: "
"""How the reason of a test begins that needs walls which this machine, or this user, has not."""


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false", "no"}


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped."""
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(told).removeprefix("Skipped: ")


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if reason.startswith(NOT_RUN):
            return
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, and CI skips nothing ({reason})"


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
    """End-to-end tests come last: they use the whole machine."""
    items.sort(key=lambda item: item.path.parent.name == "e2e")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the tests that had no walls to try, by what they lacked."""
    skipped = [(report.nodeid, _reason(report)) for report in terminalreporter.stats.get("skipped", [])]
    for reason in sorted({reason for _, reason in skipped if reason.startswith(NOT_RUN)}):
        terminalreporter.section("not run", sep="-")
        terminalreporter.line(reason.removeprefix(NOT_RUN))
        for name in sorted(name for name, why in skipped if why == reason):
            terminalreporter.line(f"  {name}")
