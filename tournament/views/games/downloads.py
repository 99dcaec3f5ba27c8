"""Downloads of records and texts; many records are streamed, never all in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse

from tournament.models import GameRecord

PGN_TYPE = "application/vnd.chess-pgn; charset=utf-8"
TEXT_TYPE = "text/plain; charset=utf-8"
_CHUNK = 200
"""Records read by one query, about 1 MB of text."""


def attached(content: str, name: str, content_type: str) -> HttpResponse:
    """A response that the browser saves as a file."""
    return HttpResponse(content, content_type=content_type, headers=_attachment(name))


def csv_file(columns: Sequence[str], rows: Iterable[Mapping[str, object]], name: str) -> HttpResponse:
    """A CSV file in UTF-8 with a header row; no name in it is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    return attached(text.getvalue(), name, "text/csv; charset=utf-8")


def _harmless(value: object) -> object:
    """The value with an apostrophe before a name that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def streamed_records(records: QuerySet[GameRecord], name: str) -> StreamingHttpResponse:
    """One PGN file of these records, with a blank line between games."""
    return StreamingHttpResponse(_texts(records), content_type=PGN_TYPE, headers=_attachment(name))


def _texts(records: QuerySet[GameRecord]) -> Iterator[str]:
    texts = records.values_list("text", flat=True).iterator(chunk_size=_CHUNK)
    for number, text in enumerate(texts):
        yield f"\n{text}" if number else text


def _attachment(name: str) -> dict[str, str]:
    """``name`` must not need quoting: letters, digits, dots and hyphens."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
