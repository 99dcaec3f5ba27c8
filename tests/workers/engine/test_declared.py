"""Options that are set in an engine, compared with those that it declares."""

from __future__ import annotations

import pytest

from engines.protocol import OptionDeclared, parse_engine_line
from workers.engine.declared import find_unsuited

DECLARED = (
    "option name Hash type spin default 16 min 1 max 1024",
    "option name Skill type spin default 0 min -5",
    "option name Any type spin default 0",
    "option name Book type check default true",
    "option name Style type combo default calm var calm var wild",
    "option name Log File type string default <empty>",
    "option name Clear type button",
)


def test_a_combo_without_values_takes_its_default_or_anything() -> None:
    for line, unsuited in (("default calm", 1), ("default calm var calm var wild", 0), ("", 0)):
        option = parse_engine_line(f"option name Style type combo {line}")
        assert isinstance(option, OptionDeclared)
        assert len(list(find_unsuited({"style": option}, [("Style", "wild")]))) == unsuited


def complaints(name: str, value: str) -> list[str]:
    declared = {}
    for line in DECLARED:
        option = parse_engine_line(line)
        assert isinstance(option, OptionDeclared)
        declared[option.name.lower()] = option
    return [unsuited.why for unsuited in find_unsuited(declared, [(name, value)])]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Hash", "1"), ("hash", "1024"), ("Skill", "-5"), ("Skill", "99"), ("Any", "-3")),
        *(("Book", "false"), ("Style", "wild"), ("log file", "any thing"), ("Log File", "")),
    ],
)
def test_a_value_that_an_engine_takes_is_not_complained_of(name: str, value: str) -> None:
    assert complaints(name, value) == []


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("Foo", "7", "it declares no option 'Foo'"),
        ("Hash", "0", "option 'Hash' takes a whole number from 1 to 1024, not '0'"),
        ("Hash", "1025", "option 'Hash' takes a whole number from 1 to 1024, not '1025'"),
        ("Hash", "much", "option 'Hash' takes a whole number from 1 to 1024, not 'much'"),
        ("Skill", "-6", "option 'Skill' takes a whole number from -5, not '-6'"),
        ("Any", "1.5", "option 'Any' takes a whole number, not '1.5'"),
        ("Book", "yes", "option 'Book' takes true or false, not 'yes'"),
        ("Style", "bold", "option 'Style' takes one of 'calm', 'wild', not 'bold'"),
        ("Clear", "now", "option 'Clear' takes no value: it is a button, not 'now'"),
    ],
)
def test_an_option_that_an_engine_does_not_take_is_named_with_what_it_takes(
    name: str, value: str, complaint: str
) -> None:
    assert complaints(name, value) == [complaint]
