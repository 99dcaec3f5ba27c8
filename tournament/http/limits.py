"""How much one client, and all clients together, may occupy of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpResponse, JsonResponse

PROCESSES = 2
CONNECTIONS = 1000
"""The connections at which a process answers each request with 503."""
OPEN_FILES = 16 * 1024
"""The open files of one process. Connections that send no request count only here: each takes about 12 KB
of memory."""
UPLOADS, UPLOADS_PER_ADDRESS = 8, 2
"""Bodies over ``LARGE_BYTES`` that one process receives or handles at a time."""
LARGE_BYTES = 1024 * 1024
UPLOAD_PATHS = ("/upload/", "/api/bots/", "/api/v1/bots/")
"""The only addresses that take a bundle."""
API_PATHS = "/api/v1/"
RETRY_SECONDS = 60
"""What a refused program is told to wait."""
WORK_PATHS = "/api/work/"
"""Slots report their games below this address."""
MULTIPART_BYTES = 64 * 1024
"""What an upload's form adds to the bytes of its bundle."""
TOO_LARGE = "duarena.too_large"
"""The key in a request's ``META`` that says that its body was over the limit and has been dropped."""
STREAMS, STREAMS_PER_ADDRESS = 600, 32
"""Streams of events that one process sends at a time: pages that follow what they show. Others poll."""
EVENT_STREAMS, EVENT_STREAMS_PER_ADDRESS = 400, 32
"""Streams of events for programs that one process sends at a time."""
EVENT_STREAMS_WITHOUT_TOKEN, EVENT_STREAMS_PER_TOKEN = 8, 1
"""Those of one address without a token, and those of one token with objects of one kind."""
BEAT_SECONDS = 15.0
"""The longest silence of a stream for programs: usual proxies close a connection after 60 seconds of it."""
CONTENT_KEPT_SECONDS = 1.0
"""A part of a page is made anew for the next stream after so long, also if no change was announced: it may
have a running clock.
"""
PARTS = 1000
"""Parts that a process keeps."""
HEADER_BYTES = 32 * 1024
MEMORY_BYTES = 64 * 1024
"""A longer body is kept in a temporary file."""
CHUNK_BYTES = 64 * 1024
"""A file is read and sent in pieces of this size."""
SYSTEM_BYTES = 256 * 1024
"""What the system may keep of a response that its client does not read."""
GRACE_SECONDS = 20.0
"""A client has this long for a body, and one second more for each ``BYTES_A_SECOND`` that it has sent."""
BYTES_A_SECOND = 4096
UNREAD_SECONDS = 60
"""The system closes a connection whose client has taken nothing of a response for so long."""
HEALTH_SECONDS = 4.0
"""The longest time for the health check; a server that is stopped or cut off keeps its thread for minutes."""
IDLE_SECONDS = 15
"""How long a connection is kept between two requests."""
STOP_SECONDS = 5
"""How long a process that ends waits for its requests."""


class RefusedRequest(Exception):
    """A request that Django does not get: the response's status and text, and whether to close then."""

    def __init__(self, status: int, text: str, *, closes: bool = False) -> None:
        super().__init__(status, text)
        self._status, self._text = status, text
        self._headers = {"Connection": "close"} if closes else {}

    def response_to(self, path: str) -> HttpResponse:
        """The response to a request for ``path``: plain text, or the API's form of an error."""
        if not path.startswith(API_PATHS):
            return HttpResponse(f"{self._text}\n", "text/plain", self._status, headers=self._headers)
        headers = {**self._headers, "Retry-After": str(RETRY_SECONDS), "Access-Control-Allow-Origin": "*"}
        return JsonResponse({"ok": False, "error": self._text}, status=self._status, headers=headers)


class AtOnce:
    """How many of something there are, of all addresses and of each; or of all owners of another kind."""

    def __init__(self, what: str, most: int, most_per_address: int, *, owner: str = "your address") -> None:
        self._what, self._most, self._most_per_address, self._owner = what, most, most_per_address, owner
        self._of_address = Counter[str]()

    @contextmanager
    def counted(self, address: str) -> Iterator[None]:
        """Count one more, or raise ``RefusedRequest`` if there are too many."""
        if self._of_address.total() >= self._most:
            raise RefusedRequest(503, f"Too many {self._what} at once: try again in a minute.")
        if self._of_address[address] >= self._most_per_address:
            raise RefusedRequest(
                429, f"Too many {self._what} of {self._owner} at once: try again in a minute."
            )
        self._of_address[address] += 1
        try:
            yield
        finally:
            self._of_address -= Counter({address: 1})


def largest_body(path: str) -> int:
    """The largest body of a request to this path, in bytes."""
    if path in UPLOAD_PATHS:
        return int(settings.MAX_BUNDLE_BYTES) + MULTIPART_BYTES
    if path.startswith(WORK_PATHS):
        return int(settings.MAX_WORK_BYTES)
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
