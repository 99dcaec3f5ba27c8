"""Pages of long lists, made without counting the table. A page beyond the end shows the last rows instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

from tournament.models import Game, Seat
from tournament.models.games import first_games

LAST_PAGE = 10_000
LAST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one page; ``previous`` and ``next`` are query strings, empty if there is no such page."""

    rows: list[Any]
    previous: str
    next: str
    first: int = 1
    """The position of the first row in the whole list, from 1; known only to ``numbered``."""


def whole_number(request: HttpRequest, name: str, default: int, *, most: int) -> int:
    """A number from the query string; raises ``Http404`` unless it is from 0 to ``most``."""
    text = request.GET.get(name, "")
    if not text:
        return default
    if not is_whole(text, most):
        raise Http404(f"{name} is not a number from 0 to {most}")
    return int(text)


def is_whole(text: str, most: int) -> bool:
    """Whether a text from an address is a number from 0 to ``most``."""
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most


def numbered(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int) -> Page:
    """Page ``?page=n`` of a list with ranks; slow on the late pages of lists with millions of rows."""
    page = min(whole_number(request, "page", 1, most=LAST_ID), LAST_PAGE) or 1
    found = _numbered(rows, page, size)
    if not found and page > 1:
        count = rows.count() if isinstance(rows, QuerySet) else len(rows)
        page = max(1, -(-count // size))
        found = _numbered(rows, page, size)
    return Page(
        found[:size],
        query_with(request, page=page - 1) if page > 1 else "",
        query_with(request, page=page + 1) if len(found) > size else "",
        (page - 1) * size + 1,
    )


def _numbered(rows: QuerySet[Any] | Sequence[Any], page: int, size: int) -> list[Any]:
    """The rows of a page, and one more row if there is a next page."""
    start = (page - 1) * size
    return list(rows[start : start + size + 1])


def by_id(request: HttpRequest, rows: QuerySet[Any], size: int, parts: Sequence[QuerySet[Any]] = ()) -> Page:
    """The newest rows first, from ``?before=id``; the last page costs as much as the first.

    ``parts`` are querysets that together have the same rows. Give them if an index has each part in the order
    of the ids, but not the whole list.
    """

    def first(window: Q, order: Sequence[str], count: int) -> list[Any]:
        if not parts:
            return list(rows.filter(window).order_by(*order)[:count])
        heads = [part.filter(window).order_by(*order).values_list("pk", flat=True)[:count] for part in parts]
        return _by_keys(rows, sorted(chain(*heads), reverse=order[0] == "-pk")[:count])

    return _by_cursor(request, lambda pk: {"pk": pk}, ["pk"], size, first)


def by_finish(request: HttpRequest, seats: QuerySet[Seat], size: int) -> Page:
    """The games of these seats in the order in which they ended, the last one first."""

    def cursor_of(pk: int) -> dict[str, Any]:
        return {"finished_at": Seat.objects.filter(game=pk).values("finished_at")[:1], "game": pk}

    def first(window: Q, order: Sequence[str], count: int) -> list[Game]:
        return games_of_seats(seats.filter(window), order, count)

    return _by_cursor(request, cursor_of, ["finished_at", "game"], size, first)


def games_of_seats(seats: QuerySet[Seat], order: Sequence[str], count: int) -> list[Game]:
    """The first ``count`` games of these seats, as lists show them."""
    return _by_keys(Game.objects.listed(), first_games(seats, order, count))


def _by_keys(rows: QuerySet[Any], keys: Sequence[int]) -> list[Any]:
    found = rows.in_bulk(keys)
    return [found[key] for key in keys if key in found]


def _by_cursor(
    request: HttpRequest,
    cursor_of: Callable[[int], Mapping[str, Any]],
    columns: Sequence[str],
    size: int,
    first: Callable[[Q, Sequence[str], int], list[Any]],
) -> Page:
    """The rows with the highest values of ``columns`` first.

    ``first`` returns the first rows of a window in an order, ``cursor_of`` the values of the row with an id.
    """
    before = whole_number(request, "before", 0, most=LAST_ID)
    after = 0 if before else whole_number(request, "after", 0, most=LAST_ID)

    def newest(window: Q) -> tuple[list[Any], bool]:
        """The newest rows in the window, and whether it has older ones."""
        found = first(window, [f"-{column}" for column in columns], size + 1)
        return found[:size], len(found) > size

    def oldest(window: Q) -> tuple[list[Any], bool]:
        """The oldest rows in the window, and whether it has newer ones."""
        found = first(window, columns, size + 1)
        return found[:size][::-1], len(found) > size

    newer, older = bool(before), bool(after)
    if after:
        found, newer = oldest(beyond(cursor_of(after), "gt"))
    else:
        found, older = newest(beyond(cursor_of(before), "lt") if before else Q())
    if not found and before:
        (found, newer), older = oldest(Q()), False
    elif not found and after:
        (found, older), newer = newest(Q()), False
    return Page(
        found,
        query_with(request, after=found[0].pk) if newer and found else "",
        query_with(request, before=found[-1].pk) if older and found else "",
    )


def beyond(cursor: Mapping[str, Any], than: str) -> Q:
    """The rows after a cursor in the order of its columns, which are ``gt`` or ``lt``."""
    found = Q()
    for column, value in reversed(list(cursor.items())):
        beyond = Q(**{f"{column}__{than}": value})
        # With the condition before it, an index of the column begins at the cursor.
        found = Q(**{f"{column}__{than}e": value}) & (beyond | found) if found else beyond
    return found


def query_with(request: HttpRequest, **changed: int | str) -> str:
    """The query string of the request with other values, and without those that choose a page."""
    query = request.GET.copy()
    for name in ("page", "before", "after", "seen"):
        query.pop(name, None)
    for name, value in changed.items():
        query[name] = str(value)
    return f"?{query.urlencode()}"
