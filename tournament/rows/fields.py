"""Moments and addresses in rows, and rows as CSV."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec

Moment = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
"""A moment as files have it, see ``as_text``."""
Address = Annotated[str, msgspec.Meta(extra_json_schema={"format": "uri"})]
"""An absolute address."""


def as_text(moment: datetime.datetime | None) -> str | None:
    """A moment as files have it: ISO 8601; None stays None."""
    return None if moment is None else moment.isoformat()


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV; no text in it is run as a formula by a spreadsheet."""
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(value) for value in row] for row in rows)
    return text.getvalue()


def _harmless(value: object) -> object:
    """The value with an apostrophe before a name that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
