from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from engines.protocol import Score
from engines.records import (
    Fault,
    MoveNote,
    Record,
    RecordError,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    clean_text,
    format_record,
)
from engines.rules.base import Result, UnknownGame
from tests.support.records import finished_record, read_text, record_of, with_headers

DOGON = ("d1+", "c2+", "c1+", "d2+")
BLACK_TO_MOVE = "4,4,4,4,4,5/4,4,0,5,5,5 b 0 0 - - 1"


def movetext(record: Record) -> str:
    return format_record(record).split("\n\n", 1)[1].replace("\n", " ").strip()


def test_a_whole_record_is_written_like_this() -> None:
    moves = (
        RecordMove("d1+", book=True),
        RecordMove("c2+", book=True),
        RecordMove("c1+", MoveNote(Score(35), 12, 104, 12034, 90, ("d2+", "a1-"))),
        RecordMove("d2+", MoveNote(ms=500)),
    )
    record = record_of(
        "dogon-kulei", DOGON, book=2, event="Spring", site="duarena", round_name="1", more=[("Rated", "no")]
    )
    assert (
        format_record(replace(record, moves=moves))
        == r"""[Event "Spring"]
[Site "duarena"]
[Date "2026.11.21"]
[Round "1"]
[White "Stone Age"]
[Black "The \"Quoted\" \\ Bot"]
[Result "0-1"]
[Game "dogon-kulei"]
[Termination "resignation"]
[Fault "none"]
[PlyCount "4"]
[TimeControl "60+0.5"]
[WhiteVersion "1"]
[BlackVersion "2"]
[GameId "spring/1/4/1"]
[OpeningPlies "2"]
[Rated "no"]

1. d1+ {book} 1... c2+ {book} 2. c1+ {+0.35/12 0.104s 12034n cpu 0.090s pv d2+
a1-} 2... d2+ {0.500s} 0-1
"""
    )


def test_a_move_of_the_second_player_is_numbered_only_after_a_comment() -> None:
    assert movetext(record_of("dogon-kulei", DOGON)) == "1. d1+ c2+ 2. c1+ d2+ 0-1"


def test_a_start_with_the_second_player_to_move_counts_from_his_half() -> None:
    moves = ("c2+", "d1+")
    assert movetext(record_of("dogon-kulei", moves, fen=BLACK_TO_MOVE)) == "1... c2+ 2. d1+ 1-0"


def test_in_dualma_black_moves_first() -> None:
    moves = ("a1:a2", "a3:a4", "b1:b2")
    assert movetext(record_of("dualma", moves)) == "1. a1:a2 a3:a4 2. b1:b2 0-1"
    start = record_of("dualma", ("a3:a4", "b1:b2"), fen="5/6/7/8/9/8/7/6/b,w,3 w 1")
    assert movetext(start) == "1... a3:a4 2. b1:b2 0-1"


def test_a_game_without_moves_is_its_result() -> None:
    record = record_of("dogon-kulei", (), termination=Termination.CRASH)
    assert format_record(record).endswith("\n\n0-1\n")


def test_lines_break_before_column_80_and_are_filled() -> None:
    note = MoveNote(Score(mate=-4), 99, 123456, 10**15, 999, ("Dc3-d4:Rd5-e5",) * 12)
    record = finished_record("duploline")
    record = replace(record, moves=tuple(RecordMove(move.token, note) for move in record.moves))
    lines = format_record(record).split("\n\n", 1)[1].splitlines()
    assert max(map(len, lines)) <= 79
    assert all(len(line) + 1 + len(after.split()[0]) > 79 for line, after in pairwise(lines))


def test_headers_are_put_into_their_order_and_unknown_ones_last() -> None:
    record = finished_record("dogon-kulei", more=[("Rated", "no"), ("Annotator", "Ana")])
    shuffled = replace(record, headers=tuple(reversed(record.headers)))
    names = [line.split()[0][1:] for line in format_record(shuffled).splitlines() if line.startswith("[")]
    assert names[:7] == ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
    assert names[-4:] == ["WhiteScore", "BlackScore", "Annotator", "Rated"]


def test_games_of_a_file_are_parted_by_an_empty_line() -> None:
    records = [record_of("dogon-kulei", DOGON), record_of("dogon-kulei", DOGON[:2])]
    text = "".join(f"{format_record(record)}\n" for record in records)
    assert text.count("\n\n[Event") == 1
    assert read_text(text) == records


def test_only_headers_that_say_something_are_built() -> None:
    record = record_of("dogon-kulei", DOGON, fen="4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", ply_limit=500)
    for name in ("FEN", "SetUp", "PlyLimit", "OpeningPlies", "Reason", "WhiteScore", "Evidence"):
        assert not record.has(name)
    assert record.header("Event") == "?"


def test_a_given_position_and_another_ply_limit_are_written() -> None:
    record = record_of("dogon-kulei", ("c2+",), fen=BLACK_TO_MOVE, ply_limit=2)
    assert record.header("FEN") == BLACK_TO_MOVE
    assert record.header("SetUp") == "1"
    assert record.header("PlyLimit") == "2"
    assert record.header("Termination") == "ply limit"
    assert not record.has("Reason")


def test_a_ladder_that_is_not_there_has_no_records() -> None:
    with pytest.raises(UnknownGame, match="'chess'"):
        build_record(
            (),
            players=RecordPlayers("a", "b"),
            settings=RecordSettings("chess", "1+1"),
            outcome=RecordOutcome(Result.UNDECIDED, Termination.VOID, Fault.INFRASTRUCTURE),
        )


def test_evidence_is_made_fit_for_a_line() -> None:
    record = record_of("dogon-kulei", DOGON, evidence="exit\ncode 1\0\ud800 " + "x" * 5000)
    evidence = record.header("Evidence")
    assert evidence.startswith("exit code 1\ufffd\ufffd xxx")
    assert evidence.endswith("…")
    assert len(evidence) == 500
    assert clean_text("naïve “bot” 🤖") == "naïve “bot” 🤖"
    format_record(record)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"White": None}, "header White is missing"),
        ({"GameId": None}, "header GameId is missing"),
        ({"White": "a\nb"}, "header White holds a character that cannot be written: 'a\\nb'"),
        ({"White": "\ud800"}, "header White holds a character that cannot be written: '\\ud800'"),
        ({"White": "a\u2028b"}, "header White holds a character that cannot be written: 'a\\u2028b'"),
        ({"My Header": "x"}, "'My Header' is not the name of a header"),
        ({"Date": "21.11.2026"}, "header Date is '21.11.2026', not YYYY.MM.DD"),
        ({"Result": "1-0"}, "header Result is '1-0', but the moves end with '0-1'"),
        ({"Game": "go"}, "header Game: unknown game 'go'"),
        ({"Termination": "boredom"}, "header Termination is 'boredom': it is not a known value"),
        ({"Fault": "both"}, "header Fault is 'both': it is not a known value"),
        ({"Fault": "white"}, "header Fault is 'white', but termination 'resignation' means 'none'"),
        ({"PlyCount": "5"}, "header PlyCount is '5', but there are 4 moves"),
        ({"PlyLimit": "0"}, "header PlyLimit is '0': not a number"),
        ({"RulesVersion": "1"}, "header RulesVersion is 1: it must be left out"),
        ({"PlyLimit": "500"}, "header PlyLimit is the game's default: it must be left out"),
        ({"TimeControl": "fast"}, "header TimeControl: cannot read 'fast'"),
        ({"SetUp": "1"}, "header SetUp is '1'"),
        ({"FEN": BLACK_TO_MOVE}, "header SetUp is missing"),
        ({"FEN": "x", "SetUp": "1"}, "header FEN: bad position 'x'"),
        ({"FEN": "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0", "SetUp": "1"}, "header FEN is the initial position"),
        ({"OpeningPlies": "2"}, "header OpeningPlies is '2', but there are 0 book moves"),
        ({"Termination": "rules"}, "header Reason is missing"),
        ({"Reason": "seeds"}, "header Reason is 'seeds', but the termination is 'resignation'"),
        ({"Termination": "crash"}, "a forfeit by 'crash' with fault 'none' cannot have the result '0-1'"),
        (
            {"Termination": "void", "Fault": "infrastructure"},
            "the result '0-1' is impossible with termination 'void'",
        ),
    ],
)
def test_what_is_wrong_is_not_written_but_named(changes: dict[str, str | None], sentence: str) -> None:
    record = with_headers(record_of("dogon-kulei", DOGON), changes)
    with pytest.raises(RecordError) as caught:
        format_record(record)
    assert sentence in str(caught.value)


def test_a_reason_is_for_the_rules_alone() -> None:
    record = record_of("dogon-kulei", ("c2+",), fen=BLACK_TO_MOVE, ply_limit=2)
    with pytest.raises(RecordError, match="Reason must be left out"):
        format_record(with_headers(record, {"Reason": "ply-limit"}))


def test_a_header_stands_once() -> None:
    record = record_of("dogon-kulei", DOGON)
    with pytest.raises(RecordError, match="header White is given twice"):
        format_record(replace(record, headers=(*record.headers, ("White", "x"))))


@pytest.mark.parametrize("token", ["", "c1 c2", "1-0", "*", "{", "c1\n", "12", "é", "a" * 41, "c1!"])
def test_a_word_that_is_no_move_is_not_written(token: str) -> None:
    record = record_of("dogon-kulei", DOGON)
    moves = (*record.moves[:3], RecordMove(token))
    with pytest.raises(RecordError, match=r"ply 4: .* is not spelled as a move"):
        format_record(replace(record, moves=moves))


def test_given_plies_come_first_and_have_no_note() -> None:
    record = record_of("dogon-kulei", DOGON, book=1)
    late = (*record.moves[:3], RecordMove("d2+", book=True))
    with pytest.raises(RecordError, match="a book move after a move that was chosen"):
        format_record(replace(record, moves=late))
    noted = (RecordMove("d1+", MoveNote(ms=1), book=True), *record.moves[1:])
    with pytest.raises(RecordError, match="ply 1: a book move must not have a note"):
        format_record(replace(record, moves=noted))
