"""The bots we bring pass the compliance check, each on ladders of its own choosing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engines
from engines.rules.registry import find_game
from workers.check import check_engine
from workers.jobs import EngineSpec
from workers.launch import plan_launch

pytestmark = pytest.mark.slow

TRIES = 3
LANGUAGES = Path(engines.__file__).parent / "bots" / "languages"


def assert_clean(command: tuple[str, ...], *ladders: str, options: tuple[tuple[str, str], ...] = ()) -> None:
    """One clean check of three will do: a machine with much else to do makes any bot late now and then."""
    for _ in range(TRIES):
        report = check_engine(
            lambda: plan_launch(EngineSpec("sample", "1", command), None),
            ladders=[find_game(code) for code in ladders],
            options=options,
        )
        if report.is_clean:
            return
    assert report.faults == ()
    assert report.is_clean


@pytest.mark.parametrize(
    ("module", "ladders"),
    [
        ("random_bot", ()),
        ("greedy_bot", ("duploline",)),
        ("alphabeta_bot", ("dogon-kulei",)),
        ("mcts_bot", ("duovallis",)),
    ],
)
def test_a_sample_bot_is_clean(module: str, ladders: tuple[str, ...]) -> None:
    assert_clean(("python3", "-m", f"engines.bots.{module}"), *ladders)


def test_the_bot_in_c_is_clean(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    program = tmp_path / "dogon"
    subprocess.run([compiler, "-O2", "-o", program, LANGUAGES / "dogon.c"], check=True)
    assert_clean((str(program),), "dogon-gagara")


def test_the_bot_in_javascript_is_clean() -> None:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    assert_clean(("node", str(LANGUAGES / "hexagons.js")), "dualma")


def test_the_bot_in_shell_is_clean() -> None:
    assert_clean(("sh", str(LANGUAGES / "moves.sh")), "duploline", options=(("Python", sys.executable),))
