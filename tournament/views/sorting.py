"""Tables that their headings sort, on the server: ``?sort=games`` ascending, ``?sort=-games`` descending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from django import template
from django.db.models import F, Model, QuerySet
from django.forms.utils import flatatt
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from tournament.views.paging import query_with

register = template.Library()
_T = TypeVar("_T")
_Row = TypeVar("_Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Sorting:
    """How a table is sorted; ``columns`` are the paths of the values that its headings sort.

    A path with a "-" descends at the first click. With an empty ``name`` the table has its own order.
    """

    request: HttpRequest
    columns: Mapping[str, str]
    name: str
    is_descending: bool

    @property
    def path(self) -> str:
        return self.columns[self.name].removeprefix("-")

    def of_query(self, rows: QuerySet[_Row]) -> QuerySet[_Row]:
        """The rows in this order, those without a value last; the paths are those of the ORM."""
        if not self.name:
            return rows
        column = F(self.path)
        order = column.desc(nulls_last=True) if self.is_descending else column.asc(nulls_last=True)
        return rows.order_by(order, "pk")

    def of_rows(self, rows: Sequence[_T]) -> list[_T]:
        """The same of rows whose attributes the paths name."""
        if not self.name:
            return list(rows)
        value_of = attrgetter(self.path)
        known = [row for row in rows if value_of(row) is not None]
        known.sort(key=lambda row: _folded(value_of(row)), reverse=self.is_descending)
        return [*known, *(row for row in rows if value_of(row) is None)]

    def address(self, name: str) -> str:
        """The query of the table sorted by a column, the other way round if it is by this one."""
        descends = not self.is_descending if name == self.name else self.columns[name].startswith("-")
        return query_with(self.request, sort=f"-{name}" if descends else name)


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def orders(columns: Mapping[str, str]) -> list[str]:
    """The values of ``sort`` for a table with these columns."""
    return [order for name in columns for order in (name, f"-{name}")]


def read_sorting(request: HttpRequest, columns: Mapping[str, str]) -> Sorting:
    """The order that the address asks for; an unknown one is the table's own."""
    given = request.GET.get("sort", "")
    name = given.removeprefix("-")
    return Sorting(request, columns, name if name in columns else "", given.startswith("-"))


@register.simple_tag
def heading(
    sorting: Sorting | str, name: str, label: str, css: str = "", title: str = "", *, zone: bool = False
) -> SafeString:
    """The heading of a column, as a link that sorts the table if it has a ``sorting`` with the column.

    ``css`` are classes, ``title`` explains the label; with ``zone`` a script adds the zone of its times.
    """
    text = format_html('<abbr title="{}">{}</abbr>', title, label) if title else format_html("{}", label)
    attributes = {"class": css} if css else {}
    if isinstance(sorting, Sorting) and name in sorting.columns:
        text = format_html('<a href="{}" rel="nofollow">{}</a>', sorting.address(name), text)
        if name == sorting.name:
            attributes["aria-sort"] = "descending" if sorting.is_descending else "ascending"
    more = mark_safe(' <small data-zone="heading"></small>' if zone else "")  # safe: written here
    return format_html('<th scope="col"{}>{}{}</th>', flatatt(attributes), text, more)
