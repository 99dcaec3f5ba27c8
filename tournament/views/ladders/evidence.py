"""The evidence of ladders: its revisions, their archives, and the files of each."""

from __future__ import annotations

from typing import cast

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Evidence, Ladder, User
from tournament.services.accounts.acts import record_act
from tournament.services.evidence.ladders import ask, has_news, is_asked
from tournament.views.ladders.ladders import find_ladder
from tournament.views.requests import fresh_buttons, takes_get_and_post
from tournament.views.tournaments.evidence import served_evidence, served_part, shown_revision


@takes_get_and_post
@fresh_buttons
def ladder_evidence(request: HttpRequest, code: str) -> HttpResponse:
    """The revisions, what an archive has, and how anybody checks it; staff has the next one made."""
    game, ladder = find_ladder(code), get_object_or_404(Ladder, pk=code)
    may_ask = access.may_run_site(request.user)
    if request.method == "POST":
        return _ask(request, ladder) if may_ask else HttpResponseForbidden("staff only")
    newest = reverse("ladder-evidence-newest", args=[code])
    revisions = list(revisions_of(code))
    context = {
        "game": game,
        "revisions": revisions,
        "newest": newest,
        "address": request.build_absolute_uri(newest),
        "is_asked": is_asked(ladder),
        "may_ask": may_ask and has_news(ladder, revisions[0] if revisions else None),
    }
    return render(request, "ladders/evidence.html", context)


def _ask(request: HttpRequest, ladder: Ladder) -> HttpResponse:
    with transaction.atomic():
        ask(ladder.pk, timezone.now())
        address = reverse("ladder-evidence", args=[ladder.pk])
        record_act(cast(User, request.user), "had its evidence made", f"ladder {ladder.rules.name}", address)
    return redirect(address)


@require_safe
def ladder_evidence_newest(request: HttpRequest, code: str) -> HttpResponseBase:
    """The archive of the newest revision."""
    return served_evidence(request, revisions_of(code).first())


@require_safe
def ladder_evidence_file(request: HttpRequest, code: str, revision: int) -> HttpResponseBase:
    """The archive of a revision."""
    return served_evidence(request, revisions_of(code).filter(revision=revision).first())


@require_safe
def ladder_evidence_revision(request: HttpRequest, code: str, revision: int) -> HttpResponse:
    """The files of a revision."""
    found = revisions_of(code).filter(revision=revision).first()
    return shown_revision(request, found, "ladders/evidence_revision.html", {"game": find_ladder(code)})


@require_safe
def ladder_evidence_part(request: HttpRequest, code: str, revision: int, file: str) -> HttpResponseBase:
    """One file of a revision."""
    return served_part(request, revisions_of(code).filter(revision=revision).first(), file)


def revisions_of(code: str) -> QuerySet[Evidence]:
    """Those of a ladder, the newest first, without their manifests; raises ``Http404`` for an unknown one."""
    find_ladder(code)
    return Evidence.objects.filter(ladder=code).defer("manifest")
