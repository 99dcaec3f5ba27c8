"""Parts of pages that follow what they show.

Such a part names the address of its next state (``data-follow``). The page asks there for a stream of
server-sent events (``tournament.http.streams``), or polls it: the response is the part as it is now, or 204
while nothing has changed. Both come from the same view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from django.http import HttpRequest, HttpResponse

PART = "X-Part"
"""The header of requests by scripts, which get a part of the page."""
RELOAD = "X-Reload"
"""The header of a response that asks the script to load the whole page again."""

Response = TypeVar("Response", bound=HttpResponse)


@dataclass(frozen=True, slots=True)
class NextPoll:
    """When to ask again for a part of a page, and with which parameters.

    ``topics`` are those of ``tournament.queues``: what the part shows. Without any it never changes again.
    """

    query: str
    topics: tuple[str, ...]
    pause_s: float = 1.0
    """The shortest time between two events."""
    again_s: float = 15.0
    """It is asked for again after so long also without news: not every change is announced."""


def is_part(request: HttpRequest) -> bool:
    """Whether a script asks, for a part of the page."""
    return PART in request.headers


def unchanged(request: HttpRequest, seen: str) -> bool:
    """Whether the page already shows the state ``seen``."""
    return is_part(request) and request.GET.get("seen") == seen


def followed(request: HttpRequest, response: Response, follow: NextPoll) -> Response:
    """The response with what a stream needs to know."""
    if is_part(request):
        response.follow = follow  # type: ignore[attr-defined]
    return response


def nothing_new() -> HttpResponse:
    return HttpResponse(status=204)


def reload() -> HttpResponse:
    """Asks the script to load the whole page again."""
    return HttpResponse(headers={RELOAD: "true"})


def next_query(request: HttpRequest, **parameters: object) -> str:
    """The request's parameters with these in the place of older ones of the same name."""
    query = request.GET.copy()
    for name, value in parameters.items():
        query[name] = str(value)
    return query.urlencode()


def here(request: HttpRequest, **parameters: object) -> str:
    """The page's own address with its filters and these parameters."""
    return f"{request.path}?{next_query(request, **parameters)}"
