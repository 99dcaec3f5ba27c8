"""The evidence of ladders: its revisions, and their archives."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tournament.models import Evidence
from tournament.views.ladders.ladders import find_ladder
from tournament.views.tournaments.evidence import served_evidence


@require_safe
def ladder_evidence(request: HttpRequest, code: str) -> HttpResponse:
    """The revisions, what an archive has, and how anybody checks it."""
    newest = reverse("ladder-evidence-newest", args=[code])
    context = {
        "game": find_ladder(code),
        "revisions": revisions_of(code),
        "newest": newest,
        "address": request.build_absolute_uri(newest),
    }
    return render(request, "ladders/evidence.html", context)


@require_safe
def ladder_evidence_newest(request: HttpRequest, code: str) -> HttpResponseBase:
    """The archive of the newest revision."""
    return served_evidence(request, revisions_of(code).first())


@require_safe
def ladder_evidence_file(request: HttpRequest, code: str, revision: int) -> HttpResponseBase:
    """The archive of a revision."""
    return served_evidence(request, revisions_of(code).filter(revision=revision).first())


def revisions_of(code: str) -> QuerySet[Evidence]:
    """Those of a ladder, the newest first; raises ``Http404`` for an unknown one."""
    find_ladder(code)
    return Evidence.objects.filter(ladder=code)
