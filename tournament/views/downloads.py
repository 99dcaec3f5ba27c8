"""Downloads: texts, and files, of which a request may ask for a part."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

PGN_TYPE = "application/vnd.chess-pgn; charset=utf-8"
TEXT_TYPE = "text/plain; charset=utf-8"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
"""One part of a file; requests for several parts get the whole."""


@dataclass(frozen=True, slots=True)
class FileDownload:
    """A file to be served: its first ``size`` bytes."""

    path: Path
    size: int
    tag: str
    """Differs for other content."""


def attached(content: str | bytes, name: str, content_type: str) -> HttpResponse:
    """A response that the browser saves as a file."""
    headers = {"Content-Disposition": content_disposition_header(True, name)}
    return HttpResponse(content, content_type=content_type, headers=headers)


def served_file(request: HttpRequest, found: FileDownload, name: str, content_type: str) -> HttpResponseBase:
    """The file, or the part of it that the request asks for; a browser saves it as ``name``."""
    etag = f'"{found.tag}-{found.size:x}"'
    if (unchanged := get_conditional_response(request, etag=etag)) is not None:
        return unchanged
    response = _part(found, _range(request, etag, found.size), name, content_type)
    response["ETag"], response["Accept-Ranges"] = etag, "bytes"
    return response


def _range(request: HttpRequest, etag: str, size: int) -> range:
    """The bytes that the request asks for: all, unless it names one part of the file as it is now.

    Empty if the file has none of them.
    """
    whole = range(size)
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or request.headers.get("If-Range", etag) != etag or found[0] == "bytes=-":
        return whole
    first, last = found.groups()
    if not first:
        return whole[-int(last) :] if int(last) else range(0)
    return whole[int(first) : int(last) + 1 if last else size]


def _part(found: FileDownload, part: range, name: str, content_type: str) -> HttpResponseBase:
    if found.size and not part:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{found.size}"})
    file = _Part(found.path, part)
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response["Content-Length"] = len(part)
    if len(part) < found.size:
        response.status_code = HTTPStatus.PARTIAL_CONTENT
        response["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{found.size}"
    return response


class _Part(io.FileIO):
    """A part of a file; records may be appended while it is sent."""

    def __init__(self, path: Path, part: range) -> None:
        super().__init__(path)
        self.seek(part.start)
        self._stop = part.stop

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._stop - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left)) or b""
