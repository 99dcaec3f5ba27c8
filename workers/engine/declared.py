"""Compares the options that are set in an engine with those that it declares. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engines.protocol import OptionDeclared, OptionType, parse_number
from engines.rules.base import quote


class Unsuited(NamedTuple):
    """An option that an engine does not take as it is set, and why, in a sentence."""

    option: str
    why: str


def find_unsuited(
    declared: Mapping[str, OptionDeclared], options: Iterable[tuple[str, str]]
) -> Iterator[Unsuited]:
    """Each option that is not declared, or whose value is not one that it takes.

    ``declared`` is by the option's name in lower case; case does not matter in UGI.
    """
    for name, value in options:
        option = declared.get(name.lower())
        if option is None:
            yield Unsuited(name, f"it declares no option {quote(name)}")
        elif (wanted := _wanted(option, value)) is not None:
            yield Unsuited(name, f"option {quote(name)} takes {wanted}, not {quote(value)}")


def _wanted(option: OptionDeclared, value: str) -> str | None:
    """The values that the option takes; None if ``value`` is one of them."""
    match option.type:
        case OptionType.CHECK:
            return None if value in ("true", "false") else "true or false"
        case OptionType.SPIN:
            return _wanted_number(option, value)
        case OptionType.COMBO:
            choices = option.choices or tuple(filter(None, [option.default]))
            return None if value in choices or not choices else f"one of {', '.join(map(quote, choices))}"
        case OptionType.BUTTON:
            return "no value: it is a button"
        case OptionType.STRING:
            return None


def _wanted_number(option: OptionDeclared, value: str) -> str | None:
    number = parse_number(value)
    least, most = option.min, option.max
    if number is not None and (least is None or least <= number) and (most is None or number <= most):
        return None
    limits = {"from": least, "to": most}
    return " ".join(["a whole number", *(f"{word} {end}" for word, end in limits.items() if end is not None)])
