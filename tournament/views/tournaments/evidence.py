"""The evidence of tournaments: its revisions, and their archives."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tournament.models import Evidence, Tournament
from tournament.services.evidence.tournaments import has_evidence
from tournament.views.downloads import FileDownload, served_file
from tournament.views.tournaments.tournaments import find_tournament

ZIP_TYPE = "application/zip"


@require_safe
def tournament_evidence(request: HttpRequest, slug: str) -> HttpResponse:
    """The revisions, what an archive has, and how anybody checks it."""
    tournament = find_tournament_with_evidence(request, slug)
    newest = reverse("tournament-evidence-newest", args=[tournament.slug])
    context = {
        "tournament": tournament,
        "revisions": tournament.evidence_revisions.all(),
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
    tournament = find_tournament_with_evidence(request, slug)
    return served_evidence(request, tournament.evidence_revisions.filter(revision=revision).first())


def find_tournament_with_evidence(request: HttpRequest, slug: str) -> Tournament:
    """As ``find_tournament``; raises ``Http404`` too for one that never has evidence."""
    tournament = find_tournament(request, slug)
    if not has_evidence(tournament):
        raise Http404(f"tournament {slug!r} has no evidence")
    return tournament


def served_evidence(request: HttpRequest, found: Evidence | None) -> HttpResponseBase:
    """The archive, or the part of it that the request asks for; raises ``Http404``."""
    if found is None:
        raise Http404("there is no such revision of the evidence")
    if not found.path.exists():
        raise Http404("the file of this revision is not on this site any more")
    about = found.tournament.slug if found.tournament else found.ladder_id
    name = f"{about}-evidence-{found.revision}.zip"
    return served_file(request, FileDownload(found.path, found.size, found.sha256), name, ZIP_TYPE)
