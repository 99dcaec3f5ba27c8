"""``check -sandbox``: the limits of a site count on an author's machine, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import bad_engines
from tests.support.sandboxes import bad_engine_in, sandbox_of
from tests.workers.check.test_check import BY_NAME, DOGON
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import Budget
from workers.check.run import try_check
from workers.engine.launch import plan_launch
from workers.sandbox.levels import Level

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(Path(bad_engines.__file__).read_text())
    engine = (
        "--game",
        "dogon-kulei",
        "--",
        "python3",
        "-S",
        "main.py",
        "mark",
        "uginewgame:1",
        "crowd",
        "80",
    )
    command = [sys.executable, "-m", "workers", "check", "--timeout", "5", *words, *engine]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_more_processes_than_a_site_allows_are_a_fault_in_the_sandbox_alone(tmp_path: Path) -> None:
    sandbox_of(Level.B)
    inside = check(tmp_path, "-sandbox")
    assert inside.returncode == 1, inside.stderr
    assert "Not tested" not in inside.stdout
    assert "FAULT: it crashed: " in inside.stdout
    outside = check(tmp_path)
    assert "it crashed" not in outside.stdout
    assert "Not tested: the sandbox of a site" in outside.stdout


@pytest.mark.parametrize("what", ["thread", "child", "file"])
def test_what_grows_with_every_move_is_counted_in_the_sandbox_as_well(what: str, tmp_path: Path) -> None:
    sandbox = sandbox_of(Level.B)
    spec = bad_engine_in(tmp_path / "bot", "go", "leak", what)
    engine = CheckedEngine(lambda: plan_launch(spec, tmp_path / "bot", sandbox), Budget(120.0))
    try:
        finding = try_check(engine, BY_NAME["whole game"], DOGON)
    finally:
        engine.clear()
    assert "grow with every move" in finding.fault, finding
