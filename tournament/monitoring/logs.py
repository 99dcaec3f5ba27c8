"""The id of each request, which every line of the log about it carries, and the access log.

No line has the secret of a link that is sent by mail. The id is that of the header ``X-Request-ID``, which a
proxy or a worker may send, or a new one; the response has it too.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponseBase

from workers.logs import FIELDS, is_json, log_ids

HEADER = "X-Request-ID"
WORKER_PATHS = ("/api/work/", "/api/workers/")
"""The beginnings of the addresses that workers use; the access log has those requests only if they fail."""
REQUEST_ID = "duarena.request_id"
"""The key of the id in a request's ``META``."""
_LINE = '{address} "{method} {uri} HTTP/{version}" {status} {bytes} {ms} ms "{agent}"'
_access_log = logging.getLogger("tournament.access")
_SECRET = re.compile(r"(/(?:password-reset|account/email|account/digest)/)(?!sent/)[^?\s\"']+")
"""Addresses whose last part is all that is needed to set a password, confirm an address or end a digest."""
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


def hide_secrets(text: str) -> str:
    """The text with ``-`` in place of secrets in addresses."""
    return _SECRET.sub(r"\1-", text)


class SecretsFilter(logging.Filter):
    """Hides secrets in the messages of Django, which name the address of a page that failed."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if (hidden := hide_secrets(message)) != message:
            record.msg, record.args = hidden, ()
        return True


def log_request(
    scope: Mapping[str, Any], response: HttpResponseBase, begun: float, request: str = ""
) -> None:
    """Write a line of the access log: of a scope of ASGI, answered since ``begun`` of the monotonic clock.

    A request that Django did not get has no id. Those of workers, which come every second, are written only
    if they fail.
    """
    path = scope["raw_path"].decode("latin-1")
    if path.startswith(WORKER_PATHS) and response.status_code < 400:
        return
    decoded = unquote(path)  # a secret may stand behind "%61ccount" as well
    path = hidden if (hidden := hide_secrets(decoded)) != decoded else path
    query = scope["query_string"].decode("latin-1")
    values = {
        "request": request,
        "address": scope["client"][0],
        "method": scope["method"],
        "uri": path + (f"?{query}" if query else ""),
        "status": response.status_code,
        "bytes": int(response.get("Content-Length") or 0),
        "ms": round(1000 * (time.monotonic() - begun), 1),
        "agent": dict(scope["headers"]).get(b"user-agent", b"").decode("latin-1"),
    }
    line = f"{values['method']} {values['uri']} {values['status']}"
    if not is_json():
        shown = {name: str(value).replace('"', r"\"") for name, value in values.items()}
        line = _LINE.format_map({**shown, "version": scope["http_version"]})
    with log_ids(request=request):
        _access_log.info("%s", line, extra={FIELDS: values})
