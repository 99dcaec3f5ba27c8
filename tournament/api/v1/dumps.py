"""The dumps of ladders by month."""

from __future__ import annotations

from typing import Annotated

import msgspec
from django.urls import reverse
from msgspec import Meta

from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, part_of
from tournament.rows.fields import Address, Moment, as_text
from tournament.services.dumps.published import SIGNATURE, PublishedDump, published_dumps
from tournament.views.exports import origin_of
from tournament.views.ladders.ladders import find_ladder


class DumpFileRow(msgspec.Struct, frozen=True):
    """A file of a dump."""

    name: str
    bytes: int
    sha256: Annotated[str | None, Meta(description="Null while the month is not over.")]
    file: Annotated[Address | None, Meta(description="Null if a later revision has another one.")]


class DumpRow(msgspec.Struct, frozen=True):
    """A revision of the dump of a month."""

    month: Annotated[str, Meta(description="As `2026-11`, UTC.")]
    revision: Annotated[int | None, Meta(description="Null while the month is not over.")]
    reason: Annotated[str, Meta(description="Why there is a new revision; empty for the first.")]
    games: int
    made: Moment | None
    files: tuple[DumpFileRow, ...]
    list: Annotated[Address | None, Meta(description="The SHA-256 of the files, as `sha256sum -c` reads it.")]
    signature: Annotated[Address | None, Meta(description="Of the list, as `ssh-keygen -Y verify` reads it.")]


@operation("GET", "ladders/<slug:code>/dumps/", rows=DumpRow, query=PageQuery)
def ladder_dumps(request: ApiRequest, code: str, query: PageQuery) -> Rows:
    """The dumps of a ladder's games by month, the newest month and revision first.

    That of a month that is not over grows. Older revisions have their list and its signature.
    """
    find_ladder(code)
    begin = origin_of(request) + reverse("ladder-dumps", args=[code])
    return part_of([_row(begin, one) for one in published_dumps(code)], query)


def _row(begin: str, found: PublishedDump) -> DumpRow:
    return DumpRow(
        month=f"{found.month:%Y-%m}",
        revision=found.revision,
        reason=found.reason,
        games=found.games,
        made=as_text(found.made_at),
        files=tuple(
            DumpFileRow(one.name, one.size, one.sha256 or None, begin + one.name if one.is_served else None)
            for one in found.files
        ),
        list=begin + found.list_name if found.list_name else None,
        signature=begin + found.list_name + SIGNATURE if found.list_name else None,
    )
