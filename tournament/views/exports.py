"""The tables of pages as CSV and JSON files with the same columns, and the links to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlencode

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from tournament.rows.fields import csv_text
from tournament.views.downloads import attached
from tournament.views.paging import Page

Row = tuple[object, ...]
MAX_EXPORTED = 1000
"""Rows of one file of a long list; its header ``Link`` names the address of the next part."""
_CSV_TYPE = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True)
class TableLinks:
    """The addresses of a table as files; ``title`` names the table."""

    title: str
    csv: str
    json: str


def table_links(title: str, view: str, *args: object, **filters: object) -> TableLinks:
    """The links to the files that ``view`` serves; filters without a value are left out."""
    query = urlencode({name: value for name, value in filters.items() if value})
    addresses = [reverse(view, args=[*args, kind]) for kind in ("csv", "json")]
    return TableLinks(title, *(f"{address}?{query}" if query else address for address in addresses))


def served_table(
    kind: str,
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    file: str,
    **about: object,
) -> HttpResponse:
    """The rows as ``csv`` or ``json``; raises ``Http404`` for another kind.

    ``file`` is the name of the CSV file without its ending. In JSON the rows are the list ``name``, beside
    the values of ``about``.
    """
    if kind == "csv":
        return attached_csv(columns, rows, f"{file}.csv")
    if kind == "json":
        return JsonResponse({**about, name: [dict(zip(columns, row, strict=True)) for row in rows]})
    raise Http404(f"no {name} as {kind!r}")


def served_rows(
    kind: str,
    name: str,
    of: type[msgspec.Struct],
    rows: Iterable[msgspec.Struct],
    *,
    file: str,
    **about: object,
) -> HttpResponse:
    """As ``served_table``, of typed rows: their fields are the columns."""
    values = map(msgspec.structs.astuple, rows)
    return served_table(kind, name, of.__struct_fields__, values, file=file, **about)


def origin_of(request: HttpRequest) -> str:
    """The site's address without a slash at its end, for the pages in a table's rows."""
    return request.build_absolute_uri("/").removesuffix("/")


def attached_csv(columns: Sequence[str], rows: Iterable[Sequence[object]], name: str) -> HttpResponse:
    """A table as a CSV file with a header; no text in it is run as a formula by a spreadsheet."""
    return attached(csv_text(chain([columns], rows)), name, _CSV_TYPE)


def with_next(request: HttpRequest, response: HttpResponse, page: Page) -> HttpResponse:
    """The response with the address of the page after this one in its header ``Link``, if there is one."""
    if page.next:
        address = request.build_absolute_uri(f"{request.path}{page.next}")
        response["Link"] = f'<{address}>; rel="next"'
    return response
