"""The measurement of the environments plays games in both."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: requirements-dev.txt")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: requirements-dev.txt")

from benchmarks.environments import HEAD, main
from engines.rules import GAMES


def test_there_is_a_row_for_each_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "0.01"]) == 0
    _, _, table = capsys.readouterr().out.partition(HEAD)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[1:]]
    assert [row[0] for row in rows] == list(GAMES)
    assert all(float(figure.replace(",", "")) > 0 for row in rows for figure in row[1:])
