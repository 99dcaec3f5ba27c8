"""The texts of a game: its moves' comments, the same as by parsing every line, and its log for authors."""

from __future__ import annotations

import re
from time import monotonic_ns as now

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engines.protocol import last_info
from engines.records import format_note, note_from_info
from workers.game.fastpath.comments import NEVER, format_comment
from workers.game.fastpath.conversation import KEPT_BYTES, Conversation

LINES = [
    b"info depth 12 score cp 31 nodes 123456 nps 1000000 time 123 pv d1+ d2- a1-",
    b"info depth 13 seldepth 20 multipv 1 score mate -3 nodes 7 hashfull 5 tbhits 0 pv e2e4 e7e5",
    b"info depth 1 score cp -5 lowerbound nodes 0 pv a1\r",
    b"info depth 20 currmove e2e4 currmovenumber 3",
    b"info string depth 5 score cp 9",
    b"info depth 5",
    b"info score cp 0 pv c1+",
    b"info nodes 99",
    b"",
    b"info",
]
ODD_LINES = [
    b"info depth -5 nodes -1 score cp -0 pv",
    b"info depth 007 score cp +250",
    b"info depth 99999999999999999999 nodes 1e9",
    b"info\tdepth  4\tscore mate 0 ",
    b"info score depth 5",
    b"info currmove string depth 5",
    b"info pv a1 b2 nodes 5 pv c3",
    b"info depth 3 pv a1 ] b2",
    b"info depth 3 pv " + b"x" * 41,
    b"info depth 3 pv " + b" ".join(b"a%d" % n for n in range(20)),
    b"info depth 3 pv a1 \xff\xfe \x00 b2",
    b"readyok info depth 9",
    b"joho info depth 8",
    b"option name pv type check",
    b"\x00\xff\x1b[31m",
    b"no",
]

WORDS = [
    *"info depth seldepth nodes nps time pv score cp mate string currmove lowerbound multipv".split(),
    *"bestmov readyok id a1 c1+ x:y } - 5 -7 0 007 +3 19999999999999999999 \t".split(),
    "",
    "é",
]
lines = st.lists(st.one_of(st.sampled_from([*LINES, *ODD_LINES]), st.binary(max_size=20))).map(b"\n".join)
worded = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=4).map(
    lambda rows: "\n".join(" ".join(["info", *row]) for row in rows).encode()
)


def slow_comment(output: bytes, ms: int, cpu_ms: int) -> str:
    info = last_info([line for line in output.split(b"\n") if line])
    return format_note(note_from_info(info, ms, None if cpu_ms == NEVER else cpu_ms))


@given(st.one_of(lines, worded), st.integers(0, 5000), st.sampled_from([NEVER, 0, 3, 1234]))
@example(b"", 0, NEVER)
@example(b"\n\n", 999, 1000)
@example(b"info pv a1 nodes 5 pv c3\ninfo depth 3 pv a1", 0, NEVER)
def test_a_comment_has_the_last_values_of_the_output(output: bytes, ms: int, cpu_ms: int) -> None:
    answer = output + b"\nbestmove c1+\n" if output else b"bestmove c1+\n"
    assert format_comment(answer, ms, cpu_ms) == slow_comment(output, ms, cpu_ms)


@pytest.mark.parametrize("line", [*LINES, *ODD_LINES])
def test_values_that_the_last_line_lacks_are_those_of_earlier_lines(line: bytes) -> None:
    for output in (line, b"\n".join((LINES[0], line)), b"\n".join((LINES[0], LINES[3], line))):
        assert format_comment(output + b"\nbestmove c1+\n", 5, NEVER) == slow_comment(output, 5, NEVER)


def test_a_comment_has_score_depth_times_nodes_and_moves_in_this_order() -> None:
    answer = LINES[0] + b"\nbestmove d1+\n"
    assert format_comment(answer, 1104, 90) == "+0.31/12 1.104s 123456n cpu 0.090s pv d1+ d2- a1-"


def test_lines_are_listed_with_their_direction_and_time() -> None:
    conversation = Conversation()
    conversation.sent(b"position startpos\ngo depth 1\n", now())
    conversation.received(b"info depth 1\n\nbestmove c1+\r\n", now())
    assert re.sub(r"\d\.\d{3}", "T", conversation.text()) == (
        "   T > position startpos\n   T > go depth 1\n   T < info depth 1\n   T < bestmove c1+\r\n"
    )


def test_invalid_utf_8_is_replaced() -> None:
    conversation = Conversation()
    conversation.received(b"\xff\x00", now())
    assert conversation.text().endswith("< \ufffd\0\n")


def test_of_a_long_game_both_ends_are_kept() -> None:
    conversation = Conversation()
    for number in range(20_000):
        conversation.received(b"info string %d" % number, now())
    text = conversation.text()
    assert "< info string 0\n" in text
    assert "< info string 19999\n" in text
    assert "info string 10000\n" not in text
    (left_out,) = re.findall(r"^\[\.\.\. (\d+) bytes left out \.\.\.\]$", text, re.MULTILINE)
    whole = sum(len(f"   0.000 < info string {number}\n") for number in range(20_000))
    assert abs(len(text) + int(left_out) - whole) < 100
    assert len(text) < 2 * KEPT_BYTES + 200


def test_empty_lines_are_counted_too() -> None:
    conversation = Conversation()
    for _ in range(100_000):
        conversation.received(b"", now())
    assert len(conversation.text()) < 2 * KEPT_BYTES + 200
