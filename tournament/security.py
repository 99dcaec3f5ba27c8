"""What a page may load, our own files and nothing else, and how much anybody may send."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponseBase

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""No inline script or style: what a bot's author writes can never become code of a page."""


class ContentSecurityPolicyMiddleware:
    """Sends the policy with every answer that does not bring its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Writes no more of a file to the disk than a bundle may have.

    The rest is read and dropped, so that the sender gets a page with the reason instead of a torn
    connection; the file's size is told as it was sent.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if start <= settings.MAX_BUNDLE_BYTES:
            return super().receive_data_chunk(raw_data, start)
        return None
