"""Cursors: where a client is in the events of an object, made from stored rows, as opaque text.

A text that this release does not understand, such as one of an older release, is treated like one that no
longer fits: the client is told to read the object again.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, TypeVar

import msgspec

C = TypeVar("C", bound=msgspec.Struct)
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A number that every database can compare."""
MAX_CURSOR = 2000
"""Characters of a cursor."""


def write_cursor(cursor: msgspec.Struct) -> str:
    """The cursor as text for addresses and headers."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def read_cursor(text: str, kind: type[C]) -> C | None:
    """The cursor that ``write_cursor`` wrote; None for any other text."""
    if not text or len(text) > MAX_CURSOR:
        return None
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(packed, type=kind)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        return None
