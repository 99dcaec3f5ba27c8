"""The common part of both command lines."""

from __future__ import annotations

import pytest

from engines.console import format_duration


@pytest.mark.parametrize(
    ("seconds", "short", "words"),
    [
        (0.4, "0 s", "0 seconds"),
        (89.4, "89 s", "89 seconds"),
        (90, "2 min", "2 minutes"),
        (3600, "60 min", "60 minutes"),
        (12345, "3 h 26 min", "3 h 26 min"),
        (200_000, "2 d 7 h", "2 days 7 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, short: str, words: str) -> None:
    assert format_duration(seconds) == short
    assert format_duration(seconds, words=True) == words
