"""Reads JSON strictly into frozen dataclasses, and writes them: each value in one form.

A field is required, and has the type of its annotation: ``str``, ``int``, ``float``, ``bool``, an enum of
strings, a dataclass, ``tuple[X, ...]``, ``Mapping[str, X]``, or one of these or None. Nothing else is
accepted: what another program might read otherwise, such as a key that stands twice, is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from engines.rules.base import quote

LARGEST = 2**63 - 1
"""The largest whole number, as in the site's database."""

Row = TypeVar("Row")
_Convert = Callable[[Any, str], Any]


class FormatError(ValueError):
    """A file that is not as the format says; the text is a sentence."""


def read_json(kind: type[Row], text: str) -> Row:
    """The object in ``text``; raises ``FormatError``."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except FormatError:
        raise
    except RecursionError:
        raise FormatError("it is nested too deeply") from None
    except ValueError as error:  # also a whole number of thousands of digits
        raise FormatError(f"it is not JSON: {error}: {quote(text)}") from None
    target: Any = kind
    found: Row = _converter(target)(value, "the line")
    return found


def write_json(row: Any, *, indent: int | None = None) -> str:
    """One line with its end; with ``indent`` several."""
    separators = (",", ":") if indent is None else (",", ": ")
    value = _plain(row)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent) + "\n"


def _plain(value: Any) -> Any:
    """``dataclasses.asdict`` copies every value deeply, and takes five times as long."""
    kind: Any = type(value)
    if names := _names(kind):
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass; none of another type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"the key {quote(twice)} stands twice")
    return found


def _refuse_constant(word: str) -> Any:
    raise FormatError(f"{word} is not a number")


@cache
def _converter(kind: Any) -> _Convert:
    """The function that checks a value and converts it; its second argument names the value in errors."""
    arguments = get_args(kind)
    if isinstance(kind, UnionType):
        (inner,) = (one for one in arguments if one is not NoneType)
        return partial(_optional, _converter(inner))
    if get_origin(kind) is tuple:
        return partial(_tuple, _converter(arguments[0]))
    if get_origin(kind) is Mapping:
        return partial(_mapping, _converter(arguments[1]))
    if names := _names(kind):
        hints = get_type_hints(kind)
        return partial(_object, kind, {name: _converter(hints[name]) for name in names})
    if issubclass(kind, StrEnum):
        return partial(_member, kind)
    return _PLAIN[kind]


def _optional(convert: _Convert, value: Any, name: str) -> Any:
    return None if value is None else convert(value, name)


def _tuple(convert: _Convert, value: Any, name: str) -> Any:
    if not isinstance(value, list):
        raise _wrong(value, name, "a list")
    return tuple(convert(one, name) for one in value)


def _mapping(convert: _Convert, value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, name, "an object")
    return {_text(key, name): convert(one, f"{name}[{quote(key)}]") for key, one in value.items()}


def _object(kind: Any, converters: Mapping[str, _Convert], value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, name, "an object")
    if value.keys() != converters.keys():
        missing = sorted(converters.keys() - value.keys())
        if missing:
            raise FormatError(f"{name} has no {missing[0]!r}")
        raise FormatError(f"{name} has the unknown key {quote(min(value.keys() - converters.keys()))}")
    return kind(**{key: convert(value[key], key) for key, convert in converters.items()})


def _member(kind: type[StrEnum], value: Any, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise _wrong(value, name, f"one of {', '.join(kind)}") from None


def _text(value: Any, name: str) -> str:
    if type(value) is not str:
        raise _wrong(value, name, "a text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _wrong(value, name, "a text: it has half a character") from None
    return value


def _whole(value: Any, name: str) -> int:
    if type(value) is not int or not -LARGEST <= value <= LARGEST:
        raise _wrong(value, name, "a whole number")
    return value


def _number(value: Any, name: str) -> float:
    if type(value) not in (int, float) or abs(value) > LARGEST or not math.isfinite(value):
        raise _wrong(value, name, "a number")
    return float(value)


def _truth(value: Any, name: str) -> bool:
    if type(value) is not bool:
        raise _wrong(value, name, "true or false")
    return value


_PLAIN: Mapping[Any, _Convert] = {str: _text, int: _whole, float: _number, bool: _truth}


def _wrong(value: Any, name: str, what: str) -> FormatError:
    shown = json.dumps(value) if not isinstance(value, str) else value
    return FormatError(f"{name} is {quote(shown)}, not {what}")
