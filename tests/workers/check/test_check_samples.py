"""The sample bots pass the compliance check, each on some of its ladders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import engines
from engines.rules.registry import find_game
from tests.support.needs import need
from workers.check import check_engine, checked_process, protocol_checks
from workers.engine.launch import plan_launch
from workers.jobs import EngineSpec

pytestmark = pytest.mark.slow

TRIES = 5
LANGUAGES = Path(engines.__file__).parent / "bots" / "languages"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no fault: a bot has much longer than usual to start and to end."""
    monkeypatch.setattr(checked_process, "READY_SECONDS", 60.0)
    monkeypatch.setattr(protocol_checks, "READY_SECONDS", 60.0)
    monkeypatch.setattr(protocol_checks, "EXIT_SECONDS", 20.0)


def assert_clean(
    command: tuple[str, ...], *ladders: str, options: tuple[tuple[str, str], ...] = (), slow_for: str = ""
) -> None:
    """One clean check of five is enough, since a busy machine may delay any bot.

    The fault of the check ``slow_for`` is one that the bot may have.
    """
    for _ in range(TRIES):
        report = check_engine(
            lambda: plan_launch(EngineSpec("sample", "1", command), None),
            ladders=[find_game(code) for code in ladders],
            options=options,
            seconds=300.0,
        )
        faults = [finding for finding in report.faults if finding.check != slow_for]
        if not faults and all(finding.was_tried for finding in report.findings):
            return
    assert faults == []
    assert all(finding.was_tried for finding in report.findings)


@pytest.mark.parametrize(
    ("module", "ladders"),
    [
        ("random_bot", ()),
        ("greedy_bot", ("duploline",)),
        pytest.param("alphabeta_bot", ("dogon-kulei",), marks=pytest.mark.thorough),
        pytest.param("mcts_bot", ("duovallis",), marks=pytest.mark.thorough),
    ],
)
def test_a_sample_bot_is_clean(module: str, ladders: tuple[str, ...]) -> None:
    assert_clean(("python3", "-m", f"engines.bots.{module}"), *ladders)


ONLY_STOPPED = """
from engines.sdk import run

def choose(turn):
    tokens = list(turn.position.legal_moves())
    best = tokens[0]
    while not turn.should_stop():
        best = max(best, turn.random.choice(tokens))
    return best

run(choose, name="Only Stopped", games=["dogon-kulei"])
"""
"""A search that knows no limit but ``should_stop``."""


def test_a_bot_of_the_sdk_that_only_asks_whether_to_stop_is_clean(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ONLY_STOPPED)
    assert_clean(("python3", str(tmp_path / "main.py")), "dogon-kulei")


@pytest.mark.thorough
def test_the_bot_in_c_is_clean(tmp_path: Path) -> None:
    program = tmp_path / "dogon"
    subprocess.run([need("cc"), "-O2", "-o", program, LANGUAGES / "dogon.c"], check=True)
    assert_clean((str(program),), "dogon-gagara")


@pytest.mark.thorough
def test_the_bot_in_javascript_is_clean() -> None:
    assert_clean((need("node"), str(LANGUAGES / "hexagons.js")), "dualma")


@pytest.mark.thorough
def test_the_bot_in_shell_is_clean_but_for_short_times() -> None:
    """It starts a program for every move."""
    assert_clean(
        ("sh", str(LANGUAGES / "moves.sh")),
        "duploline",
        options=(("Python", sys.executable),),
        slow_for="short times",
    )
