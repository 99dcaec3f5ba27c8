"""The benchmark of the sample bots: its arguments for the match runner, and its reading of the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import strength
from benchmarks.strength import PAIRINGS, match_words
from engines.arithmetic.statistics import Model, score_of_elo
from engines.rules import GAMES
from workers.match.options.flags import read_options
from workers.match.options.options import Format

QUICK = ["--pairing", "greedy-random", "--ladder", "dogon-kulei", "--pairs", "1"]


@pytest.mark.parametrize("name", PAIRINGS)
@pytest.mark.parametrize("ladder", GAMES)
def test_a_match_tests_the_target_against_five_hundredths_less(
    name: str, ladder: str, tmp_path: Path
) -> None:
    terms = read_options(match_words(PAIRINGS[name], ladder, 100), tmp_path).terms
    assert (terms.ladders, terms.format, terms.rounds, terms.games) == ((ladder,), Format.SPRT, 100, 2)
    assert terms.sprt is not None
    assert terms.sprt.model is Model.LOGISTIC
    target = PAIRINGS[name].target(ladder)
    assert score_of_elo(terms.sprt.elo1) == pytest.approx(target, abs=1e-4)
    assert score_of_elo(terms.sprt.elo0) == pytest.approx(target - 0.05, abs=1e-4)
    assert [entrant.time_control for entrant in terms.entrants] == [
        "0.1/move",
        "0.025/move" if name == "alphabeta-quarter" else "0.1/move",
    ]


@pytest.mark.thorough
def test_bots_are_measured_by_a_real_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*QUICK, "--records", str(tmp_path / "games")]
    first = strength.main(words)
    *head, measured = capsys.readouterr().out.splitlines()
    assert head == strength.HEAD.splitlines()
    pairing, ladder, *counts, points, target, verdict, forfeits = measured.strip("| ").split(" | ")
    assert (pairing, ladder, target, verdict, forfeits) == (
        "Greedy – Random",
        "dogon-kulei",
        "80%",
        "undecided",
        "0",
    )
    assert sum(map(int, counts)) == 2
    assert first == (0 if float(points.rstrip("%")) >= 80 else 1)
    assert [path.name for path in (tmp_path / "games").glob("*.pgn")] == ["greedy-random-dogon-kulei.pgn"]

    assert strength.main([*words, "--resume"]) == first
    assert capsys.readouterr().out.splitlines()[-1] == measured
    with pytest.raises(SystemExit, match="2"):
        strength.main(words)
