"""Times of a record that its own clocks contradict."""

from __future__ import annotations

import pytest

from engines.records import read_records, verify_record
from engines.records.model import Record

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
