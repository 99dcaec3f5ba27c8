"""Pages of long lists, made without counting the table. A page beyond the end shows the last rows instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest

from tournament.models.parts import first_of_parts

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

    ``parts`` are querysets that together have the same rows, some perhaps twice. Give them if an index has
    each part in the order of the ids, but not the whole list.
    """
    return _by_columns(request, rows, size, parts, ("pk",))


def by_finish(request: HttpRequest, games: QuerySet[Any], size: int, parts: Sequence[QuerySet[Any]]) -> Page:
    """The same of recorded games in the order in which they ended."""
    return _by_columns(request, games, size, parts, ("finished_at", "pk"))


def _by_columns(
    request: HttpRequest,
    rows: QuerySet[Any],
    size: int,
    parts: Sequence[QuerySet[Any]],
    columns: Sequence[str],
) -> Page:
    """The rows with the highest values of ``columns`` first; the last column is the id."""
    before = whole_number(request, "before", 0, most=LAST_ID)
    after = 0 if before else whole_number(request, "after", 0, most=LAST_ID)
    newest_first = [f"-{column}" for column in columns]

    def newest(window: Q) -> tuple[list[Model], bool]:
        """The newest rows in the window, and whether it has older ones."""
        found = _first(rows, parts, window, newest_first, size + 1)
        return found[:size], len(found) > size

    def oldest(window: Q) -> tuple[list[Model], bool]:
        """The oldest rows in the window, and whether it has newer ones."""
        found = _first(rows, parts, window, columns, size + 1)
        return found[:size][::-1], len(found) > size

    newer, older = bool(before), bool(after)
    if after:
        found, newer = oldest(_window(rows, after, columns, "gt"))
    else:
        found, older = newest(_window(rows, before, columns, "lt") if before else Q())
    if not found and before:
        (found, newer), older = oldest(Q()), False
    elif not found and after:
        (found, older), newer = newest(Q()), False
    return Page(
        found,
        query_with(request, after=found[0].pk) if newer and found else "",
        query_with(request, before=found[-1].pk) if older and found else "",
    )


def _window(rows: QuerySet[Any], pk: int, columns: Sequence[str], than: str) -> Q:
    """The rows after the one with this id; none if no row of the list has it, or its place is not known."""
    if columns == ("pk",):
        return beyond({"pk": pk}, than)
    place = rows.model.objects.filter(pk=pk).values(*columns).first()
    return Q(pk__in=[]) if place is None or None in place.values() else beyond(place, than)


def beyond(place: Mapping[str, Any], than: str) -> Q:
    """The rows after a place in the order of its columns, which are ``gt`` or ``lt``."""
    found = Q()
    for column, value in reversed(list(place.items())):
        beyond = Q(**{f"{column}__{than}": value})
        # With the condition before it, an index of the column begins at the place.
        found = Q(**{f"{column}__{than}e": value}) & (beyond | found) if found else beyond
    return found


def latest_games(games: QuerySet[Any], count: int, parts: Sequence[QuerySet[Any]]) -> list[Any]:
    """The recorded games that ended last; for ``parts`` see ``by_id``."""
    return _first(games, parts, Q(), ["-finished_at", "-pk"], count)


def _first(
    rows: QuerySet[Any], parts: Sequence[QuerySet[Any]], window: Q, order: Sequence[str], count: int
) -> list[Model]:
    """The first ``count`` rows in the window by ``order``, whose last column is the id."""
    if len(parts) < 2:
        return list(rows.filter(window).order_by(*order)[:count])
    first = [pk for *_, pk in first_of_parts([part.filter(window) for part in parts], order, count)]
    found = {row.pk: row for row in rows.filter(pk__in=first)}
    return [found[pk] for pk in first if pk in found]


def query_with(request: HttpRequest, **changed: int | str) -> str:
    """The query string of the request with other values, and without those that choose a page."""
    query = request.GET.copy()
    for name in ("page", "before", "after", "seen"):
        query.pop(name, None)
    for name, value in changed.items():
        query[name] = str(value)
    return f"?{query.urlencode()}"
