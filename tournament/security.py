"""What a page may load (only our own files), how much a visitor may send, and in which encoding."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponseBase
from django.http.multipartparser import MultiPartParserError
from django.middleware.gzip import GZipMiddleware

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
"""No inline script or style: text written by a bot's author can never run as code of a page."""

FRAMABLE_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")
"""The policy of pages that other sites may show in a frame."""


_BOUNDARY = re.compile(r';\s*boundary=(?:"[^"]*"|[^;\s]*)', re.IGNORECASE)


class Utf8Request(HttpRequest):
    """A request whose text is UTF-8, whatever it says itself.

    Django would decode it by any codec of Python that a client names. Some of them raise, and others make
    lone surrogates, which no database takes.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        kind, more, _ = meta.get("CONTENT_TYPE", "").partition(";")
        if more:
            boundary = _BOUNDARY.search(meta["CONTENT_TYPE"])
            meta["CONTENT_TYPE"] = kind.strip() + (boundary[0] if boundary else "")
        super()._set_content_type_params(meta)  # type: ignore[misc]

    def parse_file_upload(self, META: Any, post_data: Any) -> Any:  # noqa: N803  # Django's name
        try:
            return super().parse_file_upload(META, post_data)
        except (LookupError, UnicodeError) as error:
            raise MultiPartParserError(f"the name of a field cannot be decoded: {error}") from None


class ContentSecurityPolicyMiddleware:
    """Adds the policy to every response that does not set its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not (settings.DEBUG and response.status_code in {404, 500}):  # Django's pages have inline styles
            response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compresses pages, except files, which are streamed and answer requests for parts of them.

    A compressed page does not give away its secrets by its length (the attack BREACH): Django's compression
    adds a random number of bytes to each response, and its CSRF tokens are masked anew for each. Other
    secrets are shown only on pages that are private to a user, and those are not compressed.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or "private" in response.get("Cache-Control", ""):
            return response
        return super().process_response(request, response)


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Writes no more of a file to the disk than the largest bundle allowed.

    The rest is read and dropped, so that the sender gets a page with the reason instead of a broken
    connection; the reported file size is the size sent.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if start <= settings.MAX_BUNDLE_BYTES:
            return super().receive_data_chunk(raw_data, start)
        return None
