"""A pytest plugin: where ``CI`` is set, a skipped test is a failed one.

On a developer's machine a missing browser is a reason to skip. In CI it would
hide that nothing was tested; there every test runs or the run is red.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false", "no"}


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
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
    """End-to-end tests come last and all in one process: they use the whole machine."""
    for item in items:
        if item.path.parent.name == "e2e":
            item.add_marker(pytest.mark.xdist_group("e2e"))
    items.sort(key=lambda item: item.path.parent.name == "e2e")
