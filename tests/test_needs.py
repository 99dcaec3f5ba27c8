"""The programs that tests need are those that ``./arena test`` installs."""

from __future__ import annotations

import sys

from tests.support.needs import TOOLS
from tournament.embedded.plan import ROOT


def test_arena_installs_the_packages_that_the_tests_name() -> None:
    script = (ROOT / "arena").read_text()
    listed = script.partition("missing_packages() {")[2].partition("\n}")[0]
    listed = listed.replace("%d.%d", "{}.{}".format(*sys.version_info))
    packages = {package for tool in TOOLS.values() for package in tool.package.split()}
    assert [package for package in sorted(packages) if f" {package}" not in listed] == []
