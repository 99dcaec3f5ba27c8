"""The dumps of ladders: their months, and their files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tournament.services.dumps.months import RATINGS
from tournament.services.dumps.published import find_file, published_dumps
from tournament.services.signing import signer
from tournament.views.downloads import TEXT_TYPE, FileDownload, attached, served_file
from tournament.views.exports import origin_of
from tournament.views.ladders.ladders import find_ladder

GZIP_TYPE, CSV_TYPE = "application/gzip", "text/csv; charset=utf-8"


@require_safe
def ladder_dumps(request: HttpRequest, code: str) -> HttpResponse:
    """The months, what is in their files, and how anybody checks them."""
    game = find_ladder(code)
    dumps = published_dumps(code)
    context = {
        "game": game,
        "dumps": dumps,
        "newest": next((one for one in dumps if one.revision), None),
        "origin": origin_of(request),
        "signer": signer(),
    }
    return render(request, "ladders/dumps.html", context)


@require_safe
def ladder_dump_file(request: HttpRequest, code: str, name: str) -> HttpResponseBase:
    """A file of a dump, or the part of it that the request asks for."""
    find_ladder(code)
    found = find_file(code, name)
    if isinstance(found, str):
        return attached(found, name, TEXT_TYPE)
    if found is None:
        raise Http404(f"no dump has a file {name!r}")
    try:
        kind = CSV_TYPE if name.endswith(RATINGS) else GZIP_TYPE
        return served_file(request, FileDownload(*found), name, kind)
    except FileNotFoundError:  # it is being made again, or got its name just now
        raise Http404(f"{name} is not there at the moment") from None
