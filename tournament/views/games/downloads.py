"""Downloads of records, texts and tables; many records are streamed, never all in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse

from tournament.models import GameRecord

PGN_TYPE = "application/vnd.chess-pgn; charset=utf-8"
TEXT_TYPE = "text/plain; charset=utf-8"
_CSV_TYPE = "text/csv; charset=utf-8"
_CHUNK = 200
"""Records read by one query, about 1 MB of text."""


def attached(content: str, name: str, content_type: str) -> HttpResponse:
    """A response that the browser saves as a file."""
    return HttpResponse(content, content_type=content_type, headers=_attachment(name))


def attached_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]], name: str) -> HttpResponse:
    """A table as a CSV file with a header; no text in it is run as a formula by a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({column: _harmless(value) for column, value in row.items()})
    return attached(text.getvalue(), name, _CSV_TYPE)


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
