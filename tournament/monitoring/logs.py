"""The id of each request, which every line of the log about it carries, and gunicorn's log as JSON.

The id is that of the header ``X-Request-ID``, which a proxy or a worker may send, or a new one; the response
has it too.
"""

from __future__ import annotations

import datetime
import re
import secrets
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from gunicorn.glogging import Logger

from workers.logs import FIELDS, is_json, log_ids, use_json

HEADER = "X-Request-ID"
REQUEST_ID = "duarena.request_id"
"""The key of the id in a request's environment."""
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class RequestIdMiddleware:
    """Gives each request an id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        name = given if _ID.fullmatch(given) else secrets.token_hex(8)
        request.META[REQUEST_ID] = name
        with log_ids(request=name):
            response = self.get_response(request)
        response.headers[HEADER] = name
        return response


class ServerLog(Logger):
    """gunicorn's log: its own lines of text, or JSON."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        use_json(self.error_log)
        use_json(self.access_log)

    def access(self, resp: Any, req: Any, environ: dict[str, Any], request_time: datetime.timedelta) -> None:
        """Write the line of a request; a request that the application did not get has no id."""
        if not is_json():
            super().access(resp, req, environ, request_time)
            return
        status, size = str(resp.status).partition(" ")[0], resp.sent
        values = {
            "request": environ.get(REQUEST_ID, ""),
            "address": environ.get("REMOTE_ADDR", ""),
            "method": environ["REQUEST_METHOD"],
            "uri": environ["RAW_URI"],
            "status": int(status),
            "bytes": size,
            "ms": round(1000 * request_time.total_seconds(), 1),
            "agent": environ.get("HTTP_USER_AGENT", ""),
        }
        line = f"{values['method']} {values['uri']} {status}"
        self.access_log.info("%s", line, extra={FIELDS: values})
