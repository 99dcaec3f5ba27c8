"""The record file: complete records stay, an incomplete one is removed, and only one match writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.records import (
    Fault,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    format_record,
)
from engines.rules.base import Reason, Result
from tests.support.matches import terms_of
from workers.match.options.options import MatchOptionError
from workers.match.recordfile import RecordFile, check_state, write_state


def record(number: int, *, white: str = "A") -> str:
    return format_record(
        build_record(
            [RecordMove("d1+"), RecordMove("d2+")],
            players=RecordPlayers(white, 'B "the \\ second"'),
            settings=RecordSettings("dogon-kulei", "1+0", ply_limit=2),
            outcome=RecordOutcome(Result.DRAW, Termination.PLY_LIMIT, Fault.NONE, Reason.PLY_LIMIT),
            event=RecordEvent(date="2026.11.21", game_id=f"dogon-kulei/{number}/1/1"),
        )
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.pgn"


def results(path: Path) -> list[str]:
    file = RecordFile(path)
    try:
        return [game.key for game in file.read_results()]
    finally:
        file.close()


def write(path: Path, *records: str) -> None:
    file = RecordFile(path)
    for text in records:
        file.append(text)
    file.close()


def test_appended_records_are_read_again(path: Path) -> None:
    write(path, record(1), record(2))
    write(path, record(3))
    file = RecordFile(path)
    games = list(file.read_results())
    assert [game.key for game in games] == [f"dogon-kulei/{n}/1/1" for n in (1, 2, 3)]
    assert (games[0].white, games[0].black) == ("A", 'B "the \\ second"')
    assert (games[0].result, games[0].termination, games[0].fault) == (Result.DRAW, "ply limit", "none")


def test_a_last_record_torn_at_any_place_is_removed(path: Path) -> None:
    whole, last = record(1) + "\n", record(2) + "\n"
    for cut in range(len(last)):
        path.write_text(whole + last[:cut])
        known = results(path)
        is_whole = last[:cut].rstrip("\n").endswith(" 1/2-1/2")
        assert known == ["dogon-kulei/1/1/1", "dogon-kulei/2/1/1"][: 1 + is_whole]
        write(path, record(3))
        assert path.read_text() == whole + last * is_whole + record(3) + "\n"


def test_a_lone_torn_record_leaves_nothing(path: Path) -> None:
    path.write_text(record(1)[:40])
    assert results(path) == []
    assert path.read_bytes() == b""


@pytest.mark.parametrize("text", ["nonsense\n\n", record(1).replace("[GameId", "[Id") + "\n"])
def test_a_file_with_other_games_is_refused_and_kept(path: Path, text: str) -> None:
    path.write_text(text + record(2) + "\n")
    before = path.read_bytes()
    with pytest.raises(MatchOptionError, match=r"match\.pgn, line 1: not a game of a match"):
        results(path)
    assert path.read_bytes() == before


THESIS = "My thesis\n\nOf rooks and kings.\n"


@pytest.mark.parametrize("text", [THESIS, record(1)[:-30] + "\n" + record(2)[:-30]])
def test_only_a_torn_record_is_cut_off(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(MatchOptionError, match=r"match\.pgn, line \d+: .* does not begin a game of a match"):
        results(path)
    assert path.read_text() == text


def test_a_file_that_an_editor_gave_other_line_ends_keeps_its_games(path: Path) -> None:
    path.write_bytes((record(1) + "\n" + record(2) + "\n").replace("\n", "\r\n").encode())
    assert results(path) == ["dogon-kulei/1/1/1", "dogon-kulei/2/1/1"]
    write(path, record(3))
    assert results(path)[2:] == ["dogon-kulei/3/1/1"]


def test_an_empty_line_is_no_game(path: Path) -> None:
    path.write_text("\n")
    assert results(path) == []


@pytest.mark.parametrize("result", ["*", "2-0"])
def test_a_game_without_a_result_is_refused_unless_it_is_void(path: Path, result: str) -> None:
    path.write_text(record(1).replace("1/2-1/2", result) + "\n" + record(2) + "\n")
    with pytest.raises(MatchOptionError, match=r"match\.pgn, line 1: invalid Result '.*'"):
        results(path)


@pytest.mark.parametrize("place", [0, 1])
def test_a_game_whose_header_contradicts_its_end_is_refused_and_kept(path: Path, place: int) -> None:
    records = [record(1), record(2)]
    records[place] = records[place].replace('Result "1/2-1/2"', 'Result "1-0"')
    path.write_text(text := "\n".join(records) + "\n")
    with pytest.raises(MatchOptionError, match="header Result is '1-0', but the moves end with '1/2-1/2'"):
        results(path)
    assert path.read_text() == text


def test_only_one_match_at_a_time_uses_a_file(path: Path) -> None:
    file = RecordFile(path)
    with pytest.raises(MatchOptionError, match="another match is writing it"):
        RecordFile(path)
    file.close()
    RecordFile(path).close()


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MatchOptionError, match=r"gone/match\.pgn: cannot be opened: No such file"):
        RecordFile(tmp_path / "gone" / "match.pgn")


def test_the_terms_that_an_earlier_release_wrote_are_those_of_the_same_match(path: Path) -> None:
    terms = terms_of()
    write_state(path, terms)
    state = path.with_name("match.pgn.state")
    text = state.read_text()
    assert '"entrants.1.name": "A"' in text
    state.write_text(text.replace('"entrants.1.name"', '"entrants.1.spec.name"'))
    check_state(path, terms)
    with pytest.raises(MatchOptionError, match=r"other terms: entrants\.1\.name was "):
        check_state(path, terms_of("C B"))
