"""The programs of docs/research.md run, and its packages are those of the tests."""

from __future__ import annotations

import pytest

from tests.support.documents import blocks
from tournament.embedded.plan import ROOT

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: requirements-dev.txt")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: requirements-dev.txt")


@pytest.mark.parametrize("number", [0, 1])
def test_the_programs_of_the_page_play_a_game(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("docs/research.md", "python")[number], {})
    assert capsys.readouterr().out


def test_the_pins_of_the_packages_are_those_of_the_tests() -> None:
    def pins(name: str) -> set[str]:
        lines = (ROOT / name).read_text().splitlines()
        return {line.partition("#")[0].strip() for line in lines if "==" in line}

    assert pins("requirements-research.txt") <= pins("requirements-dev.txt") | pins("requirements.txt")
