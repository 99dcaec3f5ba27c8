"""The forms of answers: an object, a page of rows, or all rows as lines of JSON; entity tags and CORS."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.http import http_date
from msgspec import Meta

from engines.visible import visible
from tournament.api.envelope import ApiError
from tournament.api.limits import LIMITS, Client
from tournament.views.paced import PacedResponse
from tournament.views.paging import LAST_ID, is_whole

BEGIN = "Where the page begins: as in `next` of the page before."
MAX_ROWS = 1000
"""Most rows of one page."""
MAX_PLACE = 1_000_000
"""How far lists can be read whose cursor is a position in the database."""
LINES_TYPE = "application/x-ndjson"
JSON_TYPE = "application/json"
_Model = TypeVar("_Model", bound=Model)
_ENCODER = msgspec.json.Encoder()
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Deprecation, ETag, Link, Retry-After, Sunset",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "Accept, Authorization, If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
}


class PageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of every list; those of a list with filters are a subclass."""

    after: Annotated[str, Meta(description=BEGIN, extra_json_schema={"pattern": "^[0-9]{0,18}$"})] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="Most rows of the page.")] = MAX_ROWS


@dataclass(frozen=True, slots=True)
class Rows:
    """A page of rows; ``after`` is the cursor of those after them, "" if there are none.

    ``whole`` is the list that it is a part of, if that is ready: the pages after it are parts of it too.
    """

    rows: Sequence[Any]
    after: str = ""
    whole: Sequence[Any] | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """When an operation was deprecated, and when it ends."""

    deprecated: datetime.datetime
    sunset: datetime.datetime

    @property
    def headers(self) -> dict[str, str]:
        """As RFC 9745 and RFC 8594 define them."""
        since, until = self.deprecated.timestamp(), self.sunset.timestamp()
        return {"Deprecation": f"@{int(since)}", "Sunset": http_date(until)}


def part_of(rows: Sequence[Any], query: PageQuery) -> Rows:
    """A page of a list that is ready as a whole; its cursor is a position. Raises ``ApiError``."""
    start = cursor_of(query)
    end = start + query.limit
    return Rows(rows[start:end], str(end) if end < len(rows) else "", rows)


def page_by_id(found: QuerySet[_Model], query: PageQuery, row_of: Callable[[_Model], Any]) -> Rows:
    """A page of rows of a table, the oldest first; its cursor is an id. Raises ``ApiError``."""
    window = list(found.filter(pk__gt=cursor_of(query)).order_by("pk")[: query.limit + 1])
    shown = window[: query.limit]
    return Rows(list(map(row_of, shown)), str(shown[-1].pk) if len(window) > len(shown) else "")


def page_by_place(found: QuerySet[_Model], query: PageQuery, row_of: Callable[[_Model], Any]) -> Rows:
    """A page of rows in the order of ``found``; its cursor is a position. Raises ``ApiError``."""
    start = cursor_of(query)
    if start > MAX_PLACE:
        return Rows([])
    window = list(found[start : start + query.limit + 1])
    end = str(start + query.limit) if len(window) > query.limit else ""
    return Rows(list(map(row_of, window[: query.limit])), end)


def cursor_of(query: PageQuery) -> int:
    """The cursor as a number; 0 for the first page."""
    if query.after and not is_whole(query.after, LAST_ID):
        raise ApiError(400, f"The parameter after is {visible(query.after, 40)!r}: no cursor of this list.")
    return int(query.after or 0)


def wants_lines(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").split(";")[0].strip() == LINES_TYPE


def page_answer(request: HttpRequest, rows: Rows) -> HttpResponse:
    """``{"rows": [...], "next": address or null}``."""
    address = None
    if rows.after:
        parameters = request.GET.copy()
        parameters["after"] = rows.after
        address = request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}")
    response = object_answer({"rows": rows.rows, "next": address})
    if address:
        response["Link"] = f'<{address}>; rel="next"'
    return response


def object_answer(value: object, status: int = 200) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(value), JSON_TYPE, status)


def lines_answer(first: Rows, more: Callable[[str], Rows], client: Client) -> PacedResponse:
    """All rows from ``first`` on, a line each; ``more`` reads the page after a cursor."""

    def parts() -> Iterator[bytes]:
        rows = first
        while True:
            # A part is never empty: the server ends at an empty one.
            if rows.rows:
                yield _ENCODER.encode_lines(rows.rows)
            if not rows.after:
                return
            rows = more(rows.after)
            LIMITS.count(client, len(rows.rows))

    return PacedResponse(parts(), lambda: LIMITS.wait_s(client), LINES_TYPE)


def preflight(methods: Iterable[str]) -> HttpResponse:
    """The answer to a browser that asks whether a page of another site may read this address."""
    return HttpResponse(status=204, headers={**_CORS, **_PREFLIGHT, "Allow": ", ".join(sorted(methods))})


def error_answer(status: int, sentence: str, headers: dict[str, str] | None = None) -> JsonResponse:
    return JsonResponse({"ok": False, "error": sentence}, status=status, headers=headers)


def set_headers(response: HttpResponseBase, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        response[name] = value


def finished(request: HttpRequest, response: HttpResponseBase, *, has_token: bool) -> HttpResponseBase:
    """The response with the headers that all answers have; 304 if the client has it already."""
    reads = request.method in {"GET", "HEAD"}
    if reads:
        set_headers(response, _CORS)
    patch_vary_headers(response, ("Accept", "Authorization"))
    if not reads or response.status_code != 200:
        patch_cache_control(response, no_store=True)
        return response
    patch_cache_control(response, no_cache=True, **({"private": True} if has_token else {}))
    if response.streaming or not isinstance(response, HttpResponse):
        return response
    etag = f'"{hashlib.sha256(response.content).hexdigest()[:24]}"'
    response["ETag"] = etag
    answer = get_conditional_response(request, etag=etag, response=response)
    if answer is not response and answer is not None:
        set_headers(answer, _CORS)
    return answer or response
