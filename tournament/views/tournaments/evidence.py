"""The evidence of tournaments: its revisions, their archives, and the files of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from engines.evidence.format import BUNDLES, MANIFEST, SIGNATURE
from tournament.models import Evidence, Tournament
from tournament.services.evidence.tournaments import has_evidence
from tournament.views.downloads import TEXT_TYPE, FileDownload, served_file
from tournament.views.tournaments.tournaments import find_tournament

ZIP_TYPE = "application/zip"


@require_safe
def tournament_evidence(request: HttpRequest, slug: str) -> HttpResponse:
    """The revisions, what an archive has, and how anybody checks it."""
    tournament = find_tournament_with_evidence(request, slug)
    newest = reverse("tournament-evidence-newest", args=[tournament.slug])
    context = {
        "tournament": tournament,
        "revisions": tournament.evidence_revisions.select_related("tournament").defer("manifest"),
        "newest": newest,
        "address": request.build_absolute_uri(newest),
    }
    return render(request, "tournaments/evidence.html", context)


@require_safe
def tournament_evidence_newest(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The archive of the newest revision."""
    return served_evidence(request, find_tournament_with_evidence(request, slug).evidence_revisions.first())


@require_safe
def tournament_evidence_file(request: HttpRequest, slug: str, revision: int) -> HttpResponseBase:
    """The archive of a revision."""
    return served_evidence(request, _find_revision(request, slug, revision))


@require_safe
def tournament_evidence_revision(request: HttpRequest, slug: str, revision: int) -> HttpResponse:
    """The files of a revision."""
    tournament = find_tournament_with_evidence(request, slug)
    context = {"tournament": tournament}
    found = tournament.evidence_revisions.filter(revision=revision).first()
    return shown_revision(request, found, "tournaments/evidence_revision.html", context)


@require_safe
def tournament_evidence_part(request: HttpRequest, slug: str, revision: int, file: str) -> HttpResponseBase:
    """One file of a revision."""
    return served_part(request, _find_revision(request, slug, revision), file)


def find_tournament_with_evidence(request: HttpRequest, slug: str) -> Tournament:
    """As ``find_tournament``; raises ``Http404`` too for one that never has evidence."""
    tournament = find_tournament(request, slug)
    if not has_evidence(tournament):
        raise Http404(f"tournament {slug!r} has no evidence")
    return tournament


def _find_revision(request: HttpRequest, slug: str, revision: int) -> Evidence | None:
    return find_tournament_with_evidence(request, slug).evidence_revisions.filter(revision=revision).first()


# The same for ladders


def served_evidence(request: HttpRequest, found: Evidence | None) -> HttpResponseBase:
    """The archive, or the part of it that the request asks for; raises ``Http404``."""
    row = _stored(found)
    about = row.tournament.slug if row.tournament else row.ladder_id
    name = f"{about}-evidence-{row.revision}.zip"
    return served_file(request, FileDownload(row.path, row.size, row.sha256), name, ZIP_TYPE)


def shown_revision(
    request: HttpRequest, found: Evidence | None, template: str, context: Mapping[str, object]
) -> HttpResponse:
    """The page of a revision: its files, of which a deleted archive leaves the first two."""
    row = _known(found)
    kept = {MANIFEST: row.manifest, SIGNATURE: row.signature}
    more = {"revision": row, "kept": {name: len(text) for name, text in kept.items() if text}}
    return render(request, template, {**context, **more})


def served_part(request: HttpRequest, found: Evidence | None, name: str) -> HttpResponseBase:
    """A file of an archive, unpacked while it is sent; texts are shown by browsers. Raises ``Http404``."""
    row = _known(found)
    if text := {MANIFEST: row.manifest, SIGNATURE: row.signature}.get(name):
        return HttpResponse(text, content_type=TEXT_TYPE)
    if (listed := row.files.get(name)) is None:
        raise Http404(f"{name!r} is no file of this revision")
    etag = f'"{listed.sha256}"'
    path = _stored(row).path
    if (unchanged := get_conditional_response(request, etag=etag)) is not None:
        return unchanged
    is_bundle = name.startswith(BUNDLES)
    response = FileResponse(
        _Member(path, name),
        as_attachment=is_bundle,
        filename=name.rpartition("/")[2],
        content_type=ZIP_TYPE if is_bundle else TEXT_TYPE,
    )
    response["Content-Length"], response["ETag"] = listed.bytes, etag
    return response


class _Member:
    """A file of a zip that is read forward alone: to seek in it would unpack it to its end."""

    def __init__(self, path: Path, name: str) -> None:
        self._zip = ZipFile(path)
        self._file = self._zip.open(name)

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def close(self) -> None:
        self._file.close()
        self._zip.close()


def _known(found: Evidence | None) -> Evidence:
    if found is None:
        raise Http404("there is no such revision of the evidence")
    return found


def _stored(found: Evidence | None) -> Evidence:
    row = _known(found)
    if not row.is_stored:
        raise Http404("the archive of this revision is not on this site any more")
    return row
