"""One request: its body's limit, and what the application and the access log learn of it."""

from __future__ import annotations

import copy
from typing import Any

from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask, Task, WSGITask
from waitress.utilities import Error, RequestEntityTooLarge

from tournament.server.limits import EXPORT_PATHS, LARGE_BYTES, SEARCH_PATH, TOO_LARGE, largest_body


class TooManyRequests(Error):
    code = 429
    reason = "Too Many Requests"


class TooManyUploads(Error):
    code = 503
    reason = "Service Unavailable"


class Request(HTTPRequestParser):
    """A request as it arrives."""

    path = command = query = ""
    is_too_large = False
    is_refused = False
    """Whether the rest of its body is not read as a body."""
    has_slot = False
    """Whether it counts as an upload."""

    @property
    def is_search(self) -> bool:
        return self.path.startswith(EXPORT_PATHS) or (self.path == SEARCH_PATH and bool(self.query))

    @property
    def is_large(self) -> bool:
        return bool(max(self.content_length, self.body_bytes_received) > LARGE_BYTES)

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        self.adj: Adjustments = copy.copy(self.adj)
        self.adj.max_request_body_size = largest_body(self.path) + 1

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if isinstance(self.error, RequestEntityTooLarge):
            self._drop_body()
        return consumed

    def _drop_body(self) -> None:
        """Give the application a request without a body: its response is a page, not waitress's text."""
        self.close()
        self.error = self.body_rcv = None
        self.expect_continue = False
        self.headers |= {"CONTENT_LENGTH": "0", "CONNECTION": "close"}
        self.is_too_large = self.is_refused = True

    def refuse(self, error: Error) -> None:
        """Answer with this error, and close the connection."""
        self.close()
        self.body_rcv = None
        self.expect_continue = False
        self.error = error
        self.is_refused = self.completed = True


class _Logged(Task):
    """A task whose response is written to the access log."""

    def service(self) -> None:
        try:
            super().service()
        finally:
            self.channel.server.log_access(self, self.log_environment())

    def log_environment(self) -> dict[str, Any]:
        request = self.request
        return {
            "REMOTE_ADDR": self.channel.address,
            "REQUEST_METHOD": getattr(request, "command", "-"),
            "RAW_URI": getattr(request, "request_uri", "-"),
            "SERVER_PROTOCOL": f"HTTP/{self.version}",
        }


class RefusalTask(_Logged, ErrorTask):
    """Answers a request that the application does not get."""


class ApplicationTask(_Logged, WSGITask):
    """Answers a request by the application."""

    def get_environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = super().get_environment()
        environment[TOO_LARGE] = self.request.is_too_large
        environment["wsgi.multiprocess"] = True
        environment["RAW_URI"] = self.request.request_uri
        return environment

    def log_environment(self) -> dict[str, Any]:
        return {**super().log_environment(), **(self.environ or {})}
