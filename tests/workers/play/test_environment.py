"""The headers of a record that describe the environment of a game."""

from __future__ import annotations

import re

import pytest

from workers.play.environment import environment_headers, measure_speed


def test_sandbox_speed_and_clock_become_headers() -> None:
    assert environment_headers("level A, freezer", "35.2", "run delay") == (
        ("Walls", "level A, freezer"),
        ("WorkerSpeed", "35.2"),
        ("Clock", "run delay"),
    )
    assert environment_headers("", "") == ()


@pytest.mark.parametrize("word", ["level C, freezer", 'level A, freezer"]', "35.2\n", "1e9", "-1.0", "٣.١"])
def test_texts_that_no_worker_sends_are_left_out(word: str) -> None:
    assert environment_headers(word, word, word) == ()


def test_a_speed_is_fit_for_a_header() -> None:
    speed = measure_speed()
    assert re.fullmatch(r"[0-9]+\.[0-9]", speed)
    assert environment_headers("", speed) == (("WorkerSpeed", speed),)
