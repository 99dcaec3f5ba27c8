"""The grammar of all position strings: fields, numbers, side and ply.

Only the canonical spelling is accepted; for any other a ``PositionError`` names the
field and quotes the offending text. Each game's module parses its own fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engines.rules.base import MAX_NUMBER, PositionError, Side, quote

_SMALL_NUMBERS: Final = {str(number): number for number in range(1000)}
_SIDES: Final = {side.letter: side for side in Side}


def field_error(field: str, text: str, why: str) -> PositionError:
    """The error for ``text`` in ``field``; ``why`` is the rest of the sentence."""
    return PositionError(f"bad {field} {quote(text)}: {why}")


def split_fields(text: str, names: Sequence[str]) -> list[str]:
    """The fields of a position string, exactly one for each of ``names``."""
    fields = text.split(" ")
    if len(fields) != len(names):
        raise field_error(
            "position",
            text,
            f"{_counted(len(fields), 'fields')} instead of {len(names)}, "
            f"separated by single spaces: {' '.join(names)}",
        )
    return fields


def split_parts(text: str, separator: str, count: int, field: str, parts: str) -> list[str]:
    """The ``count`` parts of one field; ``parts`` is their plural for the message, as "ranks"."""
    found = text.split(separator)
    if len(found) != count:
        why = f"{_counted(len(found), parts)} instead of {count}, separated by {separator!r}"
        raise field_error(field, text, why)
    return found


def _counted(number: int, things: str) -> str:
    return f"{number} {things.removesuffix('s') if number == 1 else things}"


def parse_number(text: str, field: str) -> int:
    """A non-negative integer in plain digits without leading zeros, at most ``MAX_NUMBER``."""
    number = _SMALL_NUMBERS.get(text)
    return number if number is not None else _parse_large_number(text, field)


def _parse_large_number(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise field_error(field, text, "not a number in plain digits")
    if text[0] == "0":
        raise field_error(field, text, "a number has no leading zero")
    if len(text) > len(str(MAX_NUMBER)):
        raise field_error(field, text, f"no number may be over {MAX_NUMBER}")
    return int(text)


def parse_turn(side_text: str, ply_text: str, first: Side) -> tuple[Side, int]:
    """The side to move and the ply, which must agree: ``first`` moves at even plies."""
    side = _SIDES.get(side_text)
    if side is None:
        raise field_error("side", side_text, "neither 'w' nor 'b'")
    ply = parse_number(ply_text, "ply")
    if ply % 2 != side ^ first:
        raise field_error("side", side_text, f"at ply {ply_text} the other side is to move")
    return side, ply
