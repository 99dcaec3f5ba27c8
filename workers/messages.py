"""Reads the messages of ``jobs.py`` from JSON; ``msgspec.json.encode`` writes them.

For the site and its workers alone: what authors run has only the standard library.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
import typing
from typing import Annotated, Any, TypeVar

import msgspec

from workers.jobs import JobError

MAX_TOLD = 200
"""Characters of a refusal."""

Message = TypeVar("Message")


def decode(kind: type[Message], data: bytes | str) -> Message:
    """Read a message; a field that has a default may be missing.

    Raises ``JobError``, which names the field, for unknown and missing fields, wrong types and values out of
    range, another ``ValueError`` for what is not JSON in UTF-8, and ``RecursionError``.
    """
    try:
        message = msgspec.json.decode(data, type=kind)
        msgspec.json.decode(data, type=_outline(kind))  # type: ignore[arg-type]
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, JobError):
            raise error.__cause__ from None
        what, _, path = str(error).partition(" - at `$")
        raise JobError(f"{kind.__name__}{path.rstrip('`')}: {what}"[:MAX_TOLD]) from None
    return message


@functools.cache
def _outline(kind: type) -> type:
    """What msgspec does not check in a dataclass: that all fields are known, and integers have 64 bits."""
    kinds = typing.get_type_hints(kind)
    fields = [(each.name, _checked(kinds[each.name]), None) for each in dataclasses.fields(kind)]
    return msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True)


def _checked(kind: Any) -> Any:
    """The type of a field in an outline; ``Raw`` is skipped unread."""
    if kind is int:
        return Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    if dataclasses.is_dataclass(kind):
        return _outline(kind)  # type: ignore[arg-type]
    if kind in (Ellipsis, types.NoneType):
        return kind
    parts: Any = tuple(map(_checked, typing.get_args(kind)))
    if set(parts) <= {msgspec.Raw, Ellipsis, types.NoneType}:
        return msgspec.Raw
    return tuple[parts] if typing.get_origin(kind) is tuple else functools.reduce(operator.or_, parts)
