"""Books of openings: which positions are near even, and the text that the match runner reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.__main__ import main
from engines.book import (
    BookError,
    BookStart,
    Opening,
    choose_balanced,
    count_openings,
    format_book,
    read_book,
)
from engines.records import (
    Fault,
    Record,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    format_record,
)
from engines.rules.base import Result
from engines.rules.registry import GAMES

KULEI = GAMES["dogon-kulei"]
FEN = "5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2"
RESULTS = {"1": Result.WHITE_WINS, "0": Result.BLACK_WINS, "=": Result.DRAW}


def record(moves: str, result: str, code: str = "dogon-kulei", fen: str | None = None) -> Record:
    return build_record(
        [RecordMove(token) for token in moves.split()],
        players=RecordPlayers("Alpha", "Beta"),
        settings=RecordSettings(code, "5+0.1", fen=fen),
        outcome=RecordOutcome(RESULTS[result], Termination.ADJUDICATION, Fault.NONE),
        event=RecordEvent(),
    )


def test_mirror_images_and_transpositions_count_as_one_opening() -> None:
    games = [record("c1+ c2- a1+", "1"), record("d1- d2+ f1-", "0"), record("c1+ c2- b1+", "=")]
    (found,) = count_openings(KULEI, games, 2)
    assert found == Opening(("c1+", "c2-"), 3, 1.5)
    assert found.share == 50


def test_games_of_another_start_or_game_and_short_ones_are_left_out() -> None:
    others = [
        record("c1+ c2-", "1"),
        record("f1+ b2+ a1+", "1", fen=FEN),
        record("c1+ f2- b1-", "1", "dogon-gagara"),
        record("c1+ c1+ c1+ c1+", "1"),
    ]
    assert count_openings(KULEI, others, 2) == []


def test_the_even_ones_with_the_most_games_come_first() -> None:
    a, b, c, d = (
        Opening(("a",), 20, 10),
        Opening(("b",), 50, 29),
        Opening(("c",), 50, 31),
        Opening(("d",), 9, 4.5),
    )
    assert choose_balanced([a, b, c, d]) == [b, a]
    assert choose_balanced([a, b, c, d], least_games=9, balance=12) == [b, c, a, d]
    assert choose_balanced([a, b, c, d], most=1) == [b]


def test_a_book_is_read_as_it_is_written() -> None:
    text = format_book(KULEI, [Opening(("c1+", "c2-"), 12, 5.5), Opening(("a1-", "f2-"), 10, 5)])
    assert text.splitlines()[:3] == ["[dogon-kulei]", "# 12 games, White 45.8 %", "c1+ c2-"]
    assert list(read_book(KULEI, text)) == [BookStart(moves=("c1+", "c2-")), BookStart(moves=("a1-", "f2-"))]
    assert list(read_book(GAMES["dualma"], text)) == []


@pytest.mark.parametrize(
    ("line", "said"), [("c1+ c1+", "line 2, for dogon-kulei: "), ("[chess]", "line 2: "), ("c1+ ?", "line 2")]
)
def test_a_wrong_line_is_named(line: str, said: str) -> None:
    with pytest.raises(BookError, match=said):
        list(read_book(KULEI, f"c1+\n{line}\n"))


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    games = [record("c1+ c2- a1+", "1"), record("d1- d2+ f1-", "0")] * 5
    path = tmp_path / "games.pgn"
    path.write_text("\n".join(map(format_record, games)), "utf-8")
    return path


def test_the_command_prints_the_book_of_records(pgn: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["book", "dogon-kulei", str(pgn), "--plies", "2"]) == 0
    assert capsys.readouterr().out == "[dogon-kulei]\n# 10 games, White 50.0 %\nc1+ c2-\n"


def test_the_command_says_when_nothing_is_even(pgn: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["book", "dogon-kulei", str(pgn), "--plies", "2", "--games", "11"]) == 1
    assert "no opening of 2 plies" in capsys.readouterr().err


def test_the_command_goes_on_after_what_it_cannot_read(
    pgn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.pgn"
    assert main(["book", "dogon-kulei", str(missing), str(pgn), "--plies", "2"]) != 0
    said = capsys.readouterr()
    assert "missing.pgn" in said.err
    assert "c1+ c2-" in said.out


@pytest.mark.parametrize(
    ("option", "value"), [("--plies", "0"), ("--plies", "41"), ("--balance", "51"), ("--games", "x")]
)
def test_a_wrong_number_is_named(
    option: str, value: str, pgn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["book", "dogon-kulei", str(pgn), option, value])
    assert repr(value) in capsys.readouterr().err
