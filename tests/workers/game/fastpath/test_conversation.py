"""The log of a game for authors: every line with its time, and both ends of a long game."""

from __future__ import annotations

import re
from time import monotonic_ns as now

from workers.game.fastpath.conversation import KEPT_BYTES, Conversation


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
