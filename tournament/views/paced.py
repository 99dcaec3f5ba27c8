"""A response that is made part by part, with pauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import StreamingHttpResponse


class PacedResponse(StreamingHttpResponse):
    """Each part is made by a thread as the request was, in turn with others of the client's address.

    ``pause_s`` says how long the server waits before it makes the next part; no thread waits.
    """

    def __init__(self, parts: Iterator[bytes], pause_s: Callable[[], float], content_type: str) -> None:
        super().__init__(parts, content_type=content_type)
        self.pause_s = pause_s
