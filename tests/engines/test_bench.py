"""The output of ``python -m engines bench``, without its speeds."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engines import bench, compiled
from engines.__main__ import main
from engines.rules import GAMES, find_game

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"(\S+) +([\d,]+\.\d) +([\d,]+) +([\d,]+) +(\d+) +(\d+\.\d\d)")


def test_every_ladder_has_a_line_below_the_head(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.001"]) == 0
    form, start, blank, head, *rows, other_blank, referee = capsys.readouterr().out.splitlines()
    assert form == f"rules: {bench.describe_form()}"
    assert re.fullmatch(r"importing them: \d+ ms", start)
    assert blank == other_blank == ""
    assert head.split()[0] == "ladder"
    assert [row.split()[0] for row in rows] == list(GAMES)
    assert {len(row) for row in rows} == {len(head)}
    for row in rows:
        figures = ROW.fullmatch(row)
        assert figures, row
        assert all(float(figure.replace(",", "")) > 0 for figure in figures.groups()[1:])
    assert re.fullmatch(r"referee: \d+\.\d\d µs a move at the median ladder, \d+\.\d\d in the worst", referee)


def test_only_the_ladders_that_are_named_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.001", "dogon-gagara", "dogon-kulei"]) == 0
    rows = capsys.readouterr().out.splitlines()[4:6]
    assert [row.split()[0] for row in rows] == ["dogon-gagara", "dogon-kulei"]


def test_an_unknown_ladder_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "dogon-kulei", "chess"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("unknown game 'chess': the games are duovallis, ")


@pytest.mark.parametrize(
    "seconds", ["", "0", "0.0", "-1", "nan", "inf", "1e3", "x", "3601", "1.5.2", "9" * 5000]
)
def test_a_time_that_makes_no_sense_is_exit_code_2(capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", f"--seconds={seconds}"])
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "is not a number of seconds up to 3600" in printed.err


def test_the_form_in_use_is_printed() -> None:
    python = f"CPython {platform.python_version()} on {platform.machine()}"
    if compiled.FINDER.why_plain:
        assert bench.describe_form() == f"plain Python, {python}: {compiled.FINDER.why_plain}"
    else:
        assert bench.describe_form() == f"compiled, {python}"


def test_selected_plain_python_is_printed() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "engines", "bench", "dogon-kulei", "--seconds", "0.001"),
        cwd=ROOT,
        env={**os.environ, compiled.PURE_VARIABLE: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    first = done.stdout.splitlines()[0]
    assert first.startswith("rules: plain Python, ")
    assert first.endswith(": DUARENA_PURE is set")


def test_the_perft_that_is_measured_is_the_deepest_that_fits_into_the_time() -> None:
    start = find_game("dogon-kulei").position.initial()
    assert bench.deepest_perft(start, 0.0) == 1
    assert bench.deepest_perft(start, 0.05) > 1


def test_a_game_that_ends_early_is_counted_to_its_end() -> None:
    last_move = find_game("dogon-kulei").position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1")
    assert bench.deepest_perft(last_move, 1.0) == 0
