"""The evidence of tournaments and ladders: its revisions and their archives."""

from __future__ import annotations

from typing import Annotated

import msgspec
from django.http.response import HttpResponseBase
from msgspec import Meta

from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, part_of
from tournament.models import Evidence
from tournament.rows.fields import Address, Moment
from tournament.views.exports import origin_of
from tournament.views.ladders.evidence import revisions_of
from tournament.views.tournaments.evidence import (
    ZIP_TYPE,
    find_tournament_with_evidence,
    served_evidence,
)


class EvidenceRow(msgspec.Struct, frozen=True):
    """A revision of the evidence."""

    revision: int
    reason: Annotated[str, Meta(description="Why there is a new revision; empty for the first.")]
    games: Annotated[int, Meta(description="The games that are over.")]
    at: Annotated[Moment, Meta(description="The moment of which it is.")]
    made: Moment
    bytes: int
    sha256: Annotated[str, Meta(description="Of the archive.")]
    manifest_sha256: Annotated[str, Meta(description="Of its manifest, which the next revision names.")]
    archive: Annotated[Address, Meta(description="404 after it was deleted.")]
    files: Annotated[
        Address,
        Meta(
            description="Below it each file has its path; `manifest.json` and its `.sig` are never deleted."
        ),
    ]


@operation("GET", "tournaments/<slug:slug>/evidence/", rows=EvidenceRow, query=PageQuery)
def tournament_evidence(request: ApiRequest, slug: str, query: PageQuery) -> Rows:
    """The revisions of a tournament's evidence, the newest first; none before its end."""
    origin = origin_of(request)
    found = find_tournament_with_evidence(request, slug).evidence_revisions.select_related("tournament")
    return part_of([_row(origin, one) for one in found.defer("manifest")], query)


@operation("GET", "tournaments/<slug:slug>/evidence/<int:revision>/", media=ZIP_TYPE)
def tournament_evidence_archive(request: ApiRequest, slug: str, revision: int) -> HttpResponseBase:
    """The archive of a revision, or the part of it that `Range` names.

    `python3 -m engines evidence FILE` checks it.
    """
    tournament = find_tournament_with_evidence(request, slug)
    return served_evidence(request, tournament.evidence_revisions.filter(revision=revision).first())


@operation("GET", "ladders/<slug:code>/evidence/", rows=EvidenceRow, query=PageQuery)
def ladder_evidence(request: ApiRequest, code: str, query: PageQuery) -> Rows:
    """The revisions of a ladder's evidence, the newest first; there is at most one a month.

    The archives of the newest two are kept.
    """
    origin = origin_of(request)
    return part_of([_row(origin, one) for one in revisions_of(code)], query)


@operation("GET", "ladders/<slug:code>/evidence/<int:revision>/", media=ZIP_TYPE)
def ladder_evidence_archive(request: ApiRequest, code: str, revision: int) -> HttpResponseBase:
    """The archive of a revision, or the part of it that `Range` names."""
    return served_evidence(request, revisions_of(code).filter(revision=revision).first())


def _row(origin: str, found: Evidence) -> EvidenceRow:
    return EvidenceRow(
        revision=found.revision,
        reason=found.reason,
        games=found.games,
        at=found.at.isoformat(),
        made=found.made_at.isoformat(),
        bytes=found.size,
        sha256=found.sha256,
        manifest_sha256=found.manifest_sha256,
        archive=origin + found.archive_address,
        files=origin + found.get_absolute_url(),
    )
