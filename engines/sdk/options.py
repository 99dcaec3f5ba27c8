"""The options that an engine declares, and their values."""

from __future__ import annotations

from collections.abc import Iterable

from engines.protocol import OptionDeclared, OptionType, parse_number

OptionValue = int | bool | str


def spin(name: str, default: int, minimum: int, maximum: int) -> OptionDeclared:
    """An option with a whole number in a range, both ends included."""
    return OptionDeclared(name, OptionType.SPIN, str(default), minimum, maximum)


def check(name: str, default: bool) -> OptionDeclared:
    return OptionDeclared(name, OptionType.CHECK, str(default).lower())


def combo(name: str, default: str, choices: Iterable[str]) -> OptionDeclared:
    return OptionDeclared(name, OptionType.COMBO, default, choices=tuple(choices))


def text(name: str, default: str = "") -> OptionDeclared:
    return OptionDeclared(name, OptionType.STRING, default or "<empty>")


def parse_value(option: OptionDeclared, value: str) -> OptionValue:
    """Convert ``value``; raises ``ValueError`` with a sentence if the option does not allow it."""
    match option.type:
        case OptionType.SPIN:
            number = parse_number(value)
            if number is not None and (option.min or 0) <= number <= (option.max or 0):
                return number
            wanted = f"a number from {option.min} to {option.max}"
        case OptionType.CHECK:
            if value in ("true", "false"):
                return value == "true"
            wanted = "true or false"
        case OptionType.COMBO:
            if value in option.choices:
                return value
            wanted = f"one of {', '.join(option.choices)}"
        case _:
            return "" if value == "<empty>" else value
    raise ValueError(f"option {option.name!r} takes {wanted}, not {value!r}")
