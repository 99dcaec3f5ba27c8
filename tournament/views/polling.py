"""Parts of pages that follow what they show.

Such a part names the address of its next state (``data-follow``). The page asks there for a stream of
server-sent events (``tournament.http.streams``), or polls it: the response is the part as it is now, or 204
while nothing has changed. Both come from the same view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

PART = "X-Part"
"""The header of requests by scripts, which get a part of the page."""
OF_STREAM = "duarena.of_stream"
"""The key in the scope of requests that the server makes for open streams."""
RELOAD = "X-Reload"
"""The header of a response that asks the script to load the whole page again."""


AFTER = "after"
"""The parameter of events for programs: the id of the last one that the client knows."""
LINES_TYPE = "application/x-ndjson"
"""The type of a response with a line of JSON for each event."""


@dataclass(frozen=True, slots=True)
class LivePart:
    """The state ``seen`` of a part of a page, and when to ask for the next one.

    ``topics`` are those of ``tournament.queues``: what the part shows. Without any it never changes again.
    """

    request: HttpRequest
    seen: str
    topics: tuple[str, ...]
    pause_s: float = 1.0
    """The shortest time between two events."""
    again_s: float = 5.0
    """It is asked for again after so long also without news: not every change is announced."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """The parameters of the next request, beside ``seen``: those that decide about the part, and no
    others, because all who send the same share a stream's work."""

    is_personal: bool = False
    """Whether it is made for one visitor without an account; one for a user always is."""
    name: str = "seen"
    """The parameter that has the state in the next request."""

    @property
    def query(self) -> str:
        """The query of the next request."""
        return urlencode({**self.parameters, self.name: self.seen})

    @property
    def address(self) -> str:
        """Where the page asks; empty if the part never changes again."""
        return f"{self.request.path}?{self.query}" if self.topics else ""

    @property
    def is_shown(self) -> bool:
        """Whether the page already shows this state."""
        return is_part(self.request) and self.request.GET.get("seen") == self.seen

    def unchanged(self) -> HttpResponse:
        return self.given(HttpResponse(status=204))

    def render(self, template: str, context: Mapping[str, Any]) -> HttpResponse:
        """The template, with the address as ``follow``."""
        return self.given(render(self.request, template, {**context, "follow": self.address}))

    def given(self, response: HttpResponse) -> HttpResponse:
        """The response with what a stream needs to know: how it goes on, and whether it is of one user."""
        if is_part(self.request):
            response.follow = self  # type: ignore[attr-defined]
            is_personal = self.is_personal or self.request.user.is_authenticated
            response.is_personal = is_personal  # type: ignore[attr-defined]
        return response


def given_parameters(request: HttpRequest, *names: str) -> dict[str, str]:
    """Those of the request with one of the names."""
    return {name: request.GET[name] for name in names if name in request.GET}


def is_of_stream(request: HttpRequest) -> bool:
    """Whether the server itself asks, for streams that are open; clients cannot pretend that."""
    return bool(getattr(request, "scope", {}).get(OF_STREAM))


def is_part(request: HttpRequest) -> bool:
    """Whether a script asks, for a part of the page."""
    return PART in request.headers


def shows_other(request: HttpRequest, state: str) -> bool:
    """Whether a script asks for a page that was made in another state, such as before the start."""
    return is_part(request) and not request.GET.get("seen", "").startswith(f"{state}-")


def reload() -> HttpResponse:
    """Asks the script to load the whole page again."""
    return HttpResponse(headers={RELOAD: "true"})
