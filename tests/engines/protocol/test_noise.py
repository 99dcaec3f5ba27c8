"""Parsing any bytes of an engine or a server raises nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.protocol import (
    Info,
    ProtocolError,
    format_message,
    last_info,
    parse_engine_line,
    parse_number,
    parse_server_line,
)
from tests.engines.protocol.test_messages import FROM_ENGINE, TO_ENGINE
from tests.support.effort import EXAMPLES
from tests.support.fuzz import noise

lines = noise([*TO_ENGINE, *FROM_ENGINE])


@settings(max_examples=2 * EXAMPLES)
@given(lines)
def test_any_bytes_are_a_message_or_none(line: str) -> None:
    parse_engine_line(line)
    parse_server_line(line)
    parse_number(line)


@settings(max_examples=2 * EXAMPLES)
@given(lines)
def test_a_parsed_message_is_formatted_and_parsed_the_same_or_refused(line: str) -> None:
    for parse in (parse_engine_line, parse_server_line):
        message = parse(line)
        if message is None:
            continue
        try:
            written = format_message(message)
        except ProtocolError:
            continue
        assert "\n" not in written
        assert parse(written) == message


@given(st.lists(lines.map(str.encode) | st.binary(max_size=100) | lines, max_size=6))
def test_the_last_info_of_any_bytes_is_one(said: list[bytes | str]) -> None:
    assert isinstance(last_info(said), Info)
