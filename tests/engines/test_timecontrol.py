from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.protocol import Go, format_message
from engines.timecontrol import (
    MAX_LIMIT,
    TimeControl,
    TimeControlError,
    format_time_control,
    go_pattern,
    parse_time_control,
)

SPELLINGS = {
    "60+0.5": TimeControl(base_ms=60_000, increment_ms=500),
    "60+0": TimeControl(base_ms=60_000),
    "0.25+0.001": TimeControl(base_ms=250, increment_ms=1),
    "0.1/move": TimeControl(move_ms=100),
    "5/move": TimeControl(move_ms=5_000),
    "nodes=5000": TimeControl(nodes=5000),
    "depth=4": TimeControl(depth=4),
    "60+0.5;nodes=5000;depth=4": TimeControl(base_ms=60_000, increment_ms=500, nodes=5000, depth=4),
    "1+0;0.1/move": TimeControl(base_ms=1_000, move_ms=100),
}


@pytest.mark.parametrize(("text", "control"), SPELLINGS.items())
def test_a_spelling_means_a_time_control_and_back(text: str, control: TimeControl) -> None:
    assert parse_time_control(text) == control
    assert format_time_control(control) == text


def test_parts_may_come_in_any_order_and_are_written_in_one() -> None:
    assert format_time_control(parse_time_control("depth=4;0.100/move")) == "0.1/move;depth=4"


REFUSED = """
;|60|60+|+1|60+0.5;|60 + 0.5| 60+0.5|-60+0.5|60+-1|60++1|060+1|60.+1|.5+1|60+0.0005|1e3+0|٦٠+1
60,5+1|9999999+0|60+0.5;60+0.5|0/move|0.1/Move|/move|0.1|nodes=|nodes=0|nodes=-1|nodes=05|Nodes=5
depth=1.5|depth=0x4|depth=1;depth=2|nodes=9999999999|0+1|0+0|60+0.5;nodes=0|infinite|60+0.5,depth=3"""


@pytest.mark.parametrize(
    "text", [*REFUSED[1:].replace("\n", "|").split("|"), "", "60+0.5\n", "depth=" + "9" * 5000]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(TimeControlError):
        parse_time_control(text)


def test_the_complaint_names_the_part_that_is_wrong() -> None:
    with pytest.raises(TimeControlError, match=r"cannot read 'deep=4' in time control '60\+1;deep=4'"):
        parse_time_control("60+1;deep=4")


@pytest.mark.parametrize("text", ["9" * 100_000, ";" * 100_000, "depth=4;" * 10_000 + "depth=4"])
def test_the_complaint_about_a_long_text_is_short(text: str) -> None:
    with pytest.raises(TimeControlError) as refused:
        parse_time_control(text)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"increment_ms": 5},
        {"base_ms": 0},
        {"base_ms": MAX_LIMIT + 1},
        {"base_ms": 5, "increment_ms": -1},
        {"nodes": 5, "increment_ms": 1},
        {"depth": 0},
        {"move_ms": -3},
    ],
)
def test_an_impossible_control_cannot_be_made(limits: dict[str, int]) -> None:
    with pytest.raises(TimeControlError):
        TimeControl(**limits)


limits = st.none() | st.integers(1, MAX_LIMIT)


@given(limits, limits, limits, limits, st.integers(0, MAX_LIMIT))
def test_every_control_is_read_as_it_was_written(
    base: int | None, move: int | None, nodes: int | None, depth: int | None, increment: int
) -> None:
    if any(limit is not None for limit in (base, move, nodes, depth)):
        control = TimeControl(base, 0 if base is None else increment, move, nodes, depth)
        assert parse_time_control(format_time_control(control)) == control


@given(st.text(alphabet="0123456789.+;=/movendspth ", max_size=30))
def test_a_parsed_time_control_is_formatted_with_the_same_meaning(text: str) -> None:
    try:
        control = parse_time_control(text)
    except TimeControlError:
        return
    assert parse_time_control(format_time_control(control)) == control


def test_the_clocks_as_they_stand_are_sent() -> None:
    control = parse_time_control("60+0.5;depth=4")
    assert go_pattern(control) % (59_000, 0) == format_message(Go(59_000, 0, 500, 500, depth=4))
    assert go_pattern(control, (7, 0)) % (1, 2) == format_message(Go(1, 2, 7, 0, depth=4))


def test_without_clocks_none_are_sent() -> None:
    assert go_pattern(parse_time_control("0.1/move;nodes=9"), (1, 2)) == "go movetime 100 nodes 9"


def test_only_time_can_run_out() -> None:
    assert parse_time_control("1+0").is_timed
    assert parse_time_control("1/move;depth=3").is_timed
    assert not parse_time_control("nodes=100;depth=3").is_timed
