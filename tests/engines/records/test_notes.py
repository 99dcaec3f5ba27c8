from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.protocol import Info, Score
from engines.records import MoveNote, RecordMove, format_note, note_from_info, parse_note

NOTES = {
    "+0.35/12 0.104s 12034n pv b1 c4": MoveNote(Score(35), 12, 104, 12034, pv=("b1", "c4")),
    "#+3/9 0.020s": MoveNote(Score(mate=3), 9, 20),
    "#-4": MoveNote(Score(mate=-4)),
    "0.500s": MoveNote(ms=500),
    "+0.00": MoveNote(Score(0)),
    "-0.05": MoveNote(Score(-5)),
    "-12.34/0": MoveNote(Score(-1234), 0),
    "/12": MoveNote(depth=12),
    "/3 cpu 1.002s": MoveNote(depth=3, cpu_ms=1002),
    "7n": MoveNote(nodes=7),
    "cpu 0.000s": MoveNote(cpu_ms=0),
    "pv Dd4:Rd5-e5": MoveNote(pv=("Dd4:Rd5-e5",)),
    "+1.00/2 3600.000s 5n cpu 61.010s pv pass": MoveNote(Score(100), 2, 3_600_000, 5, 61_010, ("pass",)),
}


@pytest.mark.parametrize(("text", "note"), NOTES.items())
def test_a_note_is_written_and_read(text: str, note: MoveNote) -> None:
    assert format_note(note) == text
    assert parse_note(text) == note


REMARKS = """
book|0.35|+0.3|+.35|-0.00|+00.35|#3|#-0|mate 3|+0.35 /12|12|/|0.5s|0.5000s|12 n|1.000s 1.000s
7n 1.000s|pv|pv | 0.500s|0.500s |/1  0.500s|pv b1,c4|cpu 7n|a good move|[%clk 0:01:00]
+0.35/12 0.104s 12034n pv b1  c4|/-3"""


@pytest.mark.parametrize(
    "text",
    [
        *REMARKS[1:].replace("\n", "|").split("|"),
        "",
        " ",
        f"pv{' c1' * 13}",
        "9" * 5000 + "n",
        f"/{'9' * 20}",
    ],
)
def test_anything_else_is_somebody_s_remark(text: str) -> None:
    assert parse_note(text) is None


def test_a_pv_is_cut_to_twelve_moves() -> None:
    assert MoveNote(pv=("c1",) * 40).pv == ("c1",) * 12


@pytest.mark.parametrize("bad", ["c1,", "}", "", "é1", "c1 c2", "a" * 41, "\0", "c1\n"])
def test_a_pv_is_cut_at_the_first_word_that_could_be_no_move(bad: str) -> None:
    assert MoveNote(pv=("c1", bad, "c2")).pv == ("c1",)


def test_a_negative_count_is_no_note() -> None:
    with pytest.raises(ValueError, match="ms cannot be negative"):
        MoveNote(ms=-1)


def test_an_empty_note_is_none() -> None:
    assert RecordMove("c1", MoveNote()).note is None
    assert format_note(MoveNote()) == ""


def test_a_note_is_what_the_engine_said_and_what_was_measured() -> None:
    info = Info(depth=-1, score=Score(mate=0), time_ms=999, nodes=-5, pv=("a1", "??"))
    assert note_from_info(info, ms=20, cpu_ms=10) == MoveNote(Score(mate=0), ms=20, cpu_ms=10, pv=("a1",))
    assert note_from_info(info).ms == 999
    assert note_from_info(Info(time_ms=-4, depth=3)) == MoveNote(depth=3)


counts = st.none() | st.integers(0, 10**18)
scores = (
    st.none() | st.integers(-(10**6), 10**6).map(Score) | st.integers(-99, 99).map(lambda n: Score(mate=n))
)
tokens = st.from_regex(r"[A-Za-z0-9+\-:_#=]{1,12}", fullmatch=True)
notes = st.builds(
    MoveNote,
    score=scores,
    depth=counts,
    ms=counts,
    nodes=counts,
    cpu_ms=counts,
    pv=st.lists(tokens, max_size=14).map(tuple),
)


@given(notes)
def test_every_note_is_read_as_it_was_written(note: MoveNote) -> None:
    text = format_note(note)
    assert parse_note(text) == (None if note == MoveNote() else note)


@given(st.text(alphabet="0123456789+-#/.snpvcu b", max_size=25))
def test_what_is_read_as_a_note_has_no_other_spelling(text: str) -> None:
    note = parse_note(text)
    assert note is None or format_note(note) == text
