"""Untrusted text made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.visible import visible, visible_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve, 将棋", "plain, naïve, 将棋"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb", r"a\u202eb"),
        ("a\x00b\x07", r"a\x00b\x07"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("\ud800", r"\ud800"),
        ("two\nlines", r"two\nlines"),
        ("<b>&", "<b>&"),
    ],
)
def test_characters_that_do_not_print_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_and_tabs_of_a_log_stay() -> None:
    assert visible_lines("a\tb\r\n\x1bc\rd\n") == "a\tb\n\\x1bc\\rd\n"


def test_of_a_long_log_both_ends_stay() -> None:
    shown = visible_lines("first " + "x" * 1000 + " last", 100)
    assert len(shown) == 100
    assert shown.startswith("first ")
    assert shown.endswith(" last")
    assert "characters left out" in shown


@given(st.text(), st.integers(80, 200))
def test_any_text_becomes_printable_and_bounded(text: str, limit: int) -> None:
    assert visible(text).isprintable()
    assert len(visible(text, limit)) <= limit
    assert visible(visible(text)) == visible(text)
    lines = visible_lines(text * 40, limit)
    assert len(lines) <= limit
    assert lines.replace("\n", "").replace("\t", "").isprintable()
