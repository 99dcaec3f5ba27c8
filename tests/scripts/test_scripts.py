"""Node's own test runner tests what the scripts of the pages compute."""

from __future__ import annotations

import graphlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.needs import need

STATIC = Path(__file__).parents[2] / "tournament" / "static"
FILES = sorted(Path(__file__).parent.glob("*.test.js"))
QUIET = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
"""Scripts are modules; a ``package.json`` that says so would also count for the sample bot in JavaScript."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_its_tests_pass(file: Path) -> None:
    command = (need("node"), QUIET, "--test", "--test-reporter=tap", str(file))
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "\n# pass 0\n" not in run.stdout


def test_scripts_import_each_other_in_one_direction() -> None:
    """``collectstatic`` cannot name files by their content if they import each other."""
    imports = {
        script.name: set(re.findall(r'(?:from |import |import\()"\./([\w.]+)"', script.read_text()))
        for script in STATIC.glob("*.js")
    }
    assert imports["replay.js"] > {"clock.js", "analysed.js"}
    assert set(graphlib.TopologicalSorter(imports).static_order()) == set(imports)
