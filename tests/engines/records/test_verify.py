"""Records against the rules and against their own clocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from engines.protocol import Score
from engines.records import (
    Fault,
    MoveNote,
    Record,
    RecordError,
    RecordMove,
    Termination,
    find_disagreements,
    format_record,
    read_records,
    verify_record,
)
from engines.rules import GAMES
from engines.rules.base import Result
from tests.support.records import finished_record, random_moves, read_one, record_of, with_headers

CODES = list(GAMES)
DOGON = ("d1+", "c2+", "c1+", "d2+")
FORFEITS = [termination for termination in Termination if termination.is_forfeit]
CYCLE = (
    "pass f2- e1+ pass f1- pass d1- pass c1- pass b1- pass a1- b2+ pass a2- pass c2- pass d2- pass e2-"
).split()
CYCLE_START = "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0"
OVER = "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1"


def ended(
    termination: str, result: Result, fault: Fault, changes: Mapping[str, str | None] | None = None
) -> Record:
    """Four plies of Dogon, White to move, that ended as told."""
    record = record_of("dogon-kulei", DOGON, termination=Termination.RESIGNATION)
    headers = {"Termination": str(termination), "Result": str(result), "Fault": str(fault), **(changes or {})}
    return replace(with_headers(record, headers), result=result)


@pytest.mark.parametrize("code", CODES)
def test_a_game_played_to_its_end_agrees(code: str) -> None:
    for number in (1, 2):
        record = finished_record(code, number, book=3)
        assert verify_record(record) == []
        assert verify_record(read_one(format_record(record))) == []


@pytest.mark.parametrize("code", CODES)
def test_a_game_stopped_on_the_way_agrees(code: str) -> None:
    for termination in (Termination.RESIGNATION, *FORFEITS):
        record = record_of(code, random_moves(code, 1)[:7], termination=termination)
        assert verify_record(record) == []


def test_repetition_and_the_ply_limit_agree() -> None:
    repeated = record_of("dogon-kulei", (*CYCLE, *CYCLE), fen=CYCLE_START)
    assert (repeated.header("Termination"), repeated.result) == ("repetition", Result.BLACK_WINS)
    limited = record_of("dogon-kulei", DOGON, ply_limit=4)
    assert (limited.header("Termination"), limited.header("WhiteScore")) == ("ply limit", "24")
    for record in (repeated, limited):
        assert verify_record(record) == []
        assert verify_record(with_headers(record, {"Termination": "rules", "Reason": "seeds"}))
        other = {"repetition": "ply limit", "ply limit": "repetition"}[record.header("Termination")]
        assert verify_record(with_headers(record, {"Termination": other}))


def test_a_game_over_at_its_start_agrees_without_a_move() -> None:
    record = record_of("dogon-kulei", (), fen=OVER)
    assert record.header("Termination") == "rules"
    assert verify_record(record) == []
    assert verify_record(ended(Termination.CRASH, Result.BLACK_WINS, Fault.WHITE)) == []
    crashed = {"Termination": "crash", "Fault": "white", "Reason": None}
    assert verify_record(with_headers(record, crashed))


@pytest.mark.parametrize("code", CODES)
def test_an_altered_move_disagrees(code: str) -> None:
    record = finished_record(code)
    for ply in {0, 1, len(record.moves) // 2, len(record.moves) - 1}:
        for token in ("zz9", "pass" if record.moves[ply].token != "pass" else "a1", "resign"):
            moves = (*record.moves[:ply], RecordMove(token), *record.moves[ply + 1 :])
            (sentence,) = verify_record(replace(record, moves=moves))
            assert sentence.startswith(f"ply {ply + 1}: illegal move {token!r} in position ")


@pytest.mark.parametrize("code", CODES)
def test_a_move_left_out_or_added_disagrees(code: str) -> None:
    record = finished_record(code)
    shorter = replace(record, moves=record.moves[:-1])
    assert any("PlyCount" in sentence for sentence in verify_record(shorter))
    counted = with_headers(shorter, {"PlyCount": str(len(shorter.moves))})
    assert any("after the last move the game is not over" in sentence for sentence in verify_record(counted))
    longer = replace(record, moves=(*record.moves, RecordMove("a1")))
    assert any("illegal move 'a1'" in sentence for sentence in verify_record(longer))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "changes",
    [
        {"Termination": "ply limit"},
        {"Termination": "repetition"},
        {"Termination": "resignation"},
        {"Termination": "adjudication"},
        {"Termination": "void"},
        {"Termination": "crash"},
        {"Termination": "Rules"},
        {"Termination": None},
        {"Reason": "ply-limit"},
        {"Reason": ""},
        {"Reason": None},
        {"Fault": "white"},
        {"Fault": "infrastructure"},
        {"Fault": None},
        {"PlyCount": "1"},
        {"PlyCount": ""},
        {"PlyCount": None},
        {"PlyLimit": "1"},
        {"PlyLimit": "none"},
        {"WhiteScore": "7"},
        {"BlackScore": "+7"},
        {"TimeControl": "soon"},
        {"TimeControl": None},
        {"OpeningPlies": "1"},
        {"SetUp": "1"},
        {"Game": "chess"},
        {"Game": None},
        {"Event": None},
        {"BlackVersion": None},
        {"Result": "*"},
    ],
)
def test_an_altered_header_disagrees(code: str, changes: dict[str, str | None]) -> None:
    assert verify_record(with_headers(finished_record(code), changes))


def test_records_without_a_version_are_of_the_first_rules() -> None:
    record = record_of("dogon-kulei", DOGON, termination=Termination.RESIGNATION)
    assert not record.has("RulesVersion")
    assert verify_record(with_headers(record, {"RulesVersion": "1"})) == []


@pytest.mark.parametrize("version", ["2", "0", "x"])
def test_a_game_of_another_version_of_the_rules_is_refused_by_one_sentence(version: str) -> None:
    record = record_of("dogon-kulei", DOGON, termination=Termination.RESIGNATION)
    other = with_headers(replace(record, moves=record.moves[::-1]), {"RulesVersion": version})
    (sentence,) = verify_record(other)
    assert sentence.startswith(f"the game was played by version {version!r} of the rules of Dogon kulei,")
    assert sentence.endswith("and this program has version 1: it cannot be checked")
    with pytest.raises(RecordError, match="this program has version 1"):
        format_record(other)


def test_a_record_names_a_later_version_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "dogon-kulei", replace(GAMES["dogon-kulei"], rules_version=2))
    record = record_of("dogon-kulei", DOGON, termination=Termination.RESIGNATION)
    names = [name for name, _ in record.headers]
    assert names[names.index("Game") + 1] == "RulesVersion"
    assert record.header("RulesVersion") == "2"
    assert verify_record(read_one(format_record(record))) == []
    (old,) = verify_record(with_headers(record, {"RulesVersion": None}))
    assert "version '1'" in old


@pytest.mark.parametrize("code", CODES)
def test_another_result_disagrees_even_where_it_is_told_twice(code: str) -> None:
    record = finished_record(code)
    for result in Result:
        if result is not record.result:
            assert verify_record(replace(record, result=result))
            both = replace(with_headers(record, {"Result": str(result)}), result=result)
            assert verify_record(both)


@pytest.mark.parametrize("code", ["dogon-kulei", "dogon-gagara"])
def test_a_score_is_the_one_of_the_end_or_a_disagreement(code: str) -> None:
    record = finished_record(code)
    white = record.header("WhiteScore")
    for wrong in (str(int(white) + 1), f"0{white}", "", None):
        (sentence,) = verify_record(with_headers(record, {"WhiteScore": wrong}))
        assert sentence.startswith("header WhiteScore is ")


def test_there_is_no_score_without_an_end() -> None:
    record = with_headers(record_of("dogon-kulei", DOGON), {"WhiteScore": "24"})
    assert verify_record(record) == ["header WhiteScore is '24', but this result has no score"]


def test_another_game_s_moves_disagree() -> None:
    assert verify_record(with_headers(finished_record("dogon-kulei"), {"Game": "dualma"}))


def test_a_given_start_is_part_of_the_game() -> None:
    record = record_of("dogon-kulei", ("c1+",), fen="4,4,4,0,5,5/4,4,4,0,5,5 w 0 4 - - 0")
    assert verify_record(record) == []
    assert verify_record(with_headers(record, {"FEN": "4,4,4,0,5,5/4,4,4,0,5,5 w 0 5 - - 0"}))
    assert verify_record(with_headers(record, {"FEN": None}))
    assert verify_record(with_headers(record, {"SetUp": None}))
    assert verify_record(with_headers(record, {"SetUp": "0"}))


def test_a_missing_header_is_not_quoted_as_if_it_were_given() -> None:
    record = record_of("dogon-kulei", ("c1+",), fen="4,4,4,0,5,5/4,4,4,0,5,5 w 0 4 - - 0")
    (wrong,) = verify_record(with_headers(record, {"SetUp": None}))
    assert "header SetUp is missing: it must be" in str(wrong)
    booked = replace(record, moves=(replace(record.moves[0], book=True),))
    (wrong,) = verify_record(with_headers(booked, {"OpeningPlies": None}))
    assert "header OpeningPlies is missing, but there are 1 book moves" in str(wrong)


def test_what_need_not_be_said_may_be_said_rightly() -> None:
    record = finished_record("dogon-kulei")
    said = {
        "PlyLimit": "500",
        "FEN": "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0",
        "SetUp": "1",
        "OpeningPlies": "0",
    }
    assert verify_record(with_headers(record, said)) == []
    limited = record_of("dogon-kulei", DOGON, ply_limit=4)
    assert verify_record(with_headers(limited, {"Reason": "ply-limit"})) == []


@pytest.mark.parametrize("termination", FORFEITS)
def test_a_forfeit_is_lost_by_the_side_at_fault(termination: Termination) -> None:
    assert verify_record(ended(termination, Result.BLACK_WINS, Fault.WHITE)) == []
    for result, fault in (
        (Result.WHITE_WINS, Fault.WHITE),
        (Result.BLACK_WINS, Fault.BLACK),
        (Result.BLACK_WINS, Fault.NONE),
        (Result.BLACK_WINS, Fault.INFRASTRUCTURE),
        (Result.DRAW, Fault.WHITE),
        (Result.UNDECIDED, Fault.WHITE),
    ):
        assert verify_record(ended(termination, result, fault))


@pytest.mark.parametrize("termination", FORFEITS)
def test_only_some_faults_are_those_of_the_side_to_move_alone(termination: Termination) -> None:
    by_the_other = ended(termination, Result.WHITE_WINS, Fault.BLACK)
    only_mover = termination in (Termination.ILLEGAL_MOVE, Termination.TIME)
    assert bool(verify_record(by_the_other)) is only_mover


def test_the_side_to_move_resigns_and_nobody_is_at_fault() -> None:
    assert verify_record(ended(Termination.RESIGNATION, Result.BLACK_WINS, Fault.NONE)) == []
    for result, fault in (
        (Result.WHITE_WINS, Fault.NONE),
        (Result.DRAW, Fault.NONE),
        (Result.BLACK_WINS, Fault.WHITE),
    ):
        assert verify_record(ended(Termination.RESIGNATION, result, fault))


@pytest.mark.parametrize("result", [Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW])
def test_an_adjudication_has_any_result_and_no_fault(result: Result) -> None:
    assert verify_record(ended(Termination.ADJUDICATION, result, Fault.NONE)) == []
    assert verify_record(ended(Termination.ADJUDICATION, result, Fault.BLACK))
    assert verify_record(ended(Termination.ADJUDICATION, Result.UNDECIDED, Fault.NONE))


@pytest.mark.parametrize("name", ["WhiteScore", "PlyCount", "PlyLimit", "OpeningPlies", "Termination"])
def test_a_complaint_about_a_long_header_is_short(name: str) -> None:
    complaints = verify_record(with_headers(finished_record("dogon-kulei"), {name: "9" * 100_000}))
    assert complaints
    assert all(len(complaint) < 400 for complaint in complaints)


def test_a_game_that_goes_on_has_no_result_and_nobody_s_fault() -> None:
    assert verify_record(ended("unterminated", Result.UNDECIDED, Fault.NONE)) == []
    assert verify_record(ended("unterminated", Result.UNDECIDED, Fault.INFRASTRUCTURE))
    assert verify_record(ended("unterminated", Result.DRAW, Fault.NONE))


def test_a_void_has_no_result_and_is_our_own_fault() -> None:
    assert verify_record(ended(Termination.VOID, Result.UNDECIDED, Fault.INFRASTRUCTURE)) == []
    assert verify_record(ended(Termination.VOID, Result.UNDECIDED, Fault.NONE))
    assert verify_record(ended(Termination.VOID, Result.DRAW, Fault.INFRASTRUCTURE))
    scored = ended(Termination.VOID, Result.UNDECIDED, Fault.INFRASTRUCTURE, {"BlackScore": "24"})
    assert verify_record(scored) == ["header BlackScore is '24', but this result has no score"]


@pytest.mark.parametrize(
    ("white", "black", "possible"),
    [
        (Score(310), Score(-290), {Result.WHITE_WINS, Result.DRAW}),
        (Score(-310), Score(mate=4), {Result.BLACK_WINS, Result.DRAW}),
        (None, Score(-290), {Result.WHITE_WINS, Result.DRAW}),
        (Score(0), Score(0), {Result.DRAW}),
        (Score(310), Score(290), {Result.DRAW}),
        (None, None, {Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW}),
    ],
)
def test_an_adjudicated_win_is_the_one_both_scores_speak_of(
    white: Score | None, black: Score | None, possible: set[Result]
) -> None:
    def noted(result: Result) -> Record:
        record = ended(Termination.ADJUDICATION, result, Fault.NONE)
        early = [replace(move, note=MoveNote(Score(0))) for move in record.moves[:2] if white or black]
        late = [
            replace(move, note=MoveNote(score, ms=5))
            for move, score in zip(record.moves[2:], (white, black), strict=True)
        ]
        if white is None:
            early[:1] = record.moves[:1]
        if black is None:
            early[1:] = record.moves[1:2]
        return replace(record, moves=(*early, *late))

    decided = (Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW)
    assert {result for result in decided if not verify_record(noted(result))} == possible


def test_a_reason_without_the_rules_disagrees() -> None:
    assert verify_record(ended(Termination.CRASH, Result.BLACK_WINS, Fault.WHITE, {"Reason": "seeds"}))


def test_every_disagreement_is_told_with_its_line() -> None:
    record = read_one(
        format_record(record_of("dogon-kulei", DOGON)).replace("c2+", "zz9").replace("60+0.5", "x")
    )
    time_control, move = find_disagreements(record)
    assert time_control.field == "TimeControl"
    assert (move.field, move.line) == ("moves", 17)
    assert move.sentence.startswith("ply 2: illegal move 'zz9' in position '")


@pytest.mark.parametrize(
    "text", ["*", '[Game "dualma"]\n\n1. c1 1-0', '[Game "go"]\n[FEN "x"]\n\n*', "c1 {book} *"]
)
def test_a_record_that_says_little_is_told_what_is_missing(text: str) -> None:
    assert "header Termination is missing" in verify_record(read_one(text))


GAME = """[Event "?"]
[Site "?"]
[Date "2026.11.21"]
[Round "?"]
[White "A"]
[Black "B"]
[Result "1/2-1/2"]
[Game "dogon-kulei"]
[Termination "ply limit"]
[Fault "none"]
[PlyCount "4"]
[PlyLimit "4"]
[TimeControl "%s"]
%s[WhiteScore "24"]
[BlackScore "24"]

1. d1+ {%s} d2+ {%s} 2. c1+ {%s} c2+ {%s} 1/2-1/2
"""


def complaints(control: str, times: str, headers: str = "") -> list[str]:
    text = GAME % (control, headers, *(f"{time}s" for time in times.split()))
    (record,) = read_records(text.splitlines(), "game.pgn")
    assert isinstance(record, Record)
    return [sentence for sentence in verify_record(record) if "the move took" in sentence]


@pytest.mark.parametrize(
    ("control", "times"),
    [
        ("1+0", "0.600 1.050 0.450 0.001"),
        ("1+0.5", "1.049 1.050 0.550 0.550"),
        ("0.1/move", "0.150 0.150 0.150 0.150"),
        ("nodes=5", "100.000 100.000 100.000 100.000"),
        ("10+0;0.1/move", "0.150 0.150 0.150 0.150"),
    ],
)
def test_times_within_the_clock_and_its_margin_are_no_complaint(control: str, times: str) -> None:
    assert complaints(control, times) == []


@pytest.mark.parametrize(
    ("control", "times", "complaint"),
    [
        ("1+0", "1.053 0.001 0.001 0.001", "ply 1: the move took 1.053 s, but the clock allowed 1.05"),
        ("1+0", "0.600 0.001 0.453 0.001", "ply 3: the move took 0.453 s, but the clock allowed 0.451 s"),
        ("1+0.1", "0.001 1.000 0.001 0.160", "ply 4: the move took 0.160 s, but the clock allowed 0.151 s"),
        ("0.1/move", "0.001 0.151 0.001 0.001", "ply 2: the move took 0.151 s"),
        ("10+0;0.1/move", "0.151 0.001 0.001 0.001", "ply 1: the move took 0.151 s"),
    ],
)
def test_a_move_longer_than_its_clock_is_named(control: str, times: str, complaint: str) -> None:
    (found,) = complaints(control, times)
    assert found.startswith(complaint)


def test_the_margin_and_the_clock_of_each_side_count() -> None:
    own = '[WhiteTimeControl "0.5/move"]\n[BlackTimeControl "0.1/move"]\n'
    assert complaints("0.1/move", "0.550 0.150 0.550 0.150", own) == []
    assert len(complaints("0.1/move", "0.550 0.550 0.550 0.150", own)) == 1
    assert complaints("0.1/move", "0.150 0.550 0.150 0.550", '[BlackMargin "450"]\n') == []


def test_a_time_control_that_cannot_be_read_is_reported_once() -> None:
    assert complaints("soon", "1.000 1.000 1.000 1.000") == []
