"""``python -m workers replay`` on the records of a match, with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.records import read_records
from tests.support.matches import engine, run_match
from workers.commands.replay import main


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of six plies between engines of the same moves, A and B with White in turn."""
    folder = tmp_path_factory.mktemp("match")
    terms = "-game dogon-kulei -tc nodes=5 -plylimit 6 -openings none -seed 3".split()
    finished = run_match(folder, *engine("A"), *engine("B"), *terms)
    assert finished.code == 0, finished.err
    return finished.records


class Printed:
    """What the command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        self.code = main(words)
        self.out, self.err = capsys.readouterr()


def test_the_same_engines_play_the_same_game(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "dogon-kulei/1/1/1", *engine("A"), *engine("B"))
    printed = Printed(capsys, str(records), *words)
    assert (printed.code, printed.out, printed.err) == (0, "the same game: 6 plies, ply limit, 0-1\n", "")


def test_each_engine_plays_the_side_that_the_record_gives_its_name(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """B has White in the second game, and plays another first move here."""
    other = engine("B", "go:1", "only", r"bestmove f1-\n")
    printed = Printed(capsys, str(records), "--game", "dogon-kulei/1/1/2", *engine("A"), *other)
    assert printed.code == 1
    assert printed.out.splitlines() == [
        "first difference at ply 1, white to move in position '4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0'",
        "the record has: d1+",
        "now it came to: f1-",
    ]


def test_a_match_records_the_seed_it_gave(records: Path) -> None:
    with records.open(encoding="utf-8") as lines:
        seeds = [record.header("Seed") for record in read_records(lines, "match.pgn")]  # type: ignore[union-attr]
    assert len(set(seeds)) == 2
    assert all(seed.isdigit() for seed in seeds)


def test_the_output_states_that_a_record_has_no_seed(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = records.read_text("utf-8").partition("\n\n[")[0]
    bare = tmp_path / "bare.pgn"
    bare.write_text("".join(line for line in first.splitlines(True) if "Seed" not in line), "utf-8")
    printed = Printed(capsys, str(bare), *engine("A"), *engine("B"))
    note = "the record has no Seed: engines that use random numbers may play differently"
    assert printed.out.startswith(f"{note}\nthe same")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "the first word must be FILE.pgn"),
        (("-game", "x"), "the first word must be FILE.pgn"),
        (("/nowhere.pgn",), "cannot read '/nowhere.pgn': No such file or directory"),
        (("{records}",), "has 2 games: choose one with --game and its GameId"),
        (("{records}", "--game", "no/such"), "has 0 games with the id 'no/such'"),
        (("{records}", "--game", "dogon-kulei/1/1/1"), "-engine: a game has two engines, not 0"),
        (("{records}", "--dice", "6"), "-dice 6: unknown option (known are -game, -engine, -each, -site)"),
        (("{records}", "--game", "a", "b"), "-game a b: takes one word, not 2"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(
    words: tuple[str, ...], complaint: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = Printed(capsys, *(word.format(records=records) for word in words))
    assert (printed.code, printed.out) == (2, "")
    assert complaint in printed.err
    assert printed.err.count("\n") == 1


def test_engines_that_cannot_start_replay_nothing(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "dogon-kulei/1/1/1", *engine("A", "start", "leave", "1"))
    printed = Printed(capsys, str(records), *words, *engine("B", "start", "leave", "1"))
    assert printed.code == 2
    assert "both engines unable to start" in printed.err
