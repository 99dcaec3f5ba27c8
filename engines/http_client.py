"""A small HTTP client: checks addresses, limits times and sizes, and gives reasons as printable text.

A token is sent to one address only: with a token, redirects are refused.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

from engines.visible import visible

CHUNK_BYTES = 256 * 1024
MAX_ERROR_BYTES = 64 * 1024
MAX_REASON = 200
NO_HEADERS: Mapping[str, str] = {}

_NEXT = re.compile(r'<([^<>]*)>; *rel="next"')
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class AddressError(ValueError):
    """An address or a token that cannot be used; the text is a sentence."""


class NoAnswer(Exception):
    """The server did not answer, or its answer broke off; the text is the reason, printable."""


class ErrorAnswer(Exception):
    """An answer with an error status or a redirect.

    ``sentence`` is the ``error`` of a JSON answer and ``location`` the target of a redirect; both are empty
    if missing, and as the server sent them.
    """

    def __init__(self, status: int, sentence: str, headers: Message) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.sentence = sentence
        self.headers = headers

    @property
    def location(self) -> str:
        return str(self.headers.get("Location") or "")


class BadAnswer(ValueError):
    """An answer that is not JSON."""


class NothingFollows(Exception):
    """A stream has nothing more to tell (status 204)."""


class AnswerTooLong(BadAnswer):
    """An answer with more bytes than the caller allows."""


def parse_site_address(address: str) -> str:
    """The address without slashes at its end; raises ``AddressError`` if it is not http or https."""
    if not _is_http(address):
        shown = visible(address, MAX_REASON)
        raise AddressError(f"{shown!r} is not the address of a site: it begins with https:// or http://")
    return address.rstrip("/")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def is_safe_for_tokens(address: str) -> bool:
    """Whether nobody on the network can read what is sent: it is encrypted or stays on this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


def token_header(token: str) -> dict[str, str]:
    """The header with a token; raises ``AddressError`` for a malformed one."""
    if not token.isascii() or not token.isprintable():
        raise AddressError("the token has a character that no token has")
    return {"Authorization": f"Bearer {token}"}


class HttpClient:
    """Sends requests, with a token if one is given; raises ``AddressError`` for a malformed token.

    ``timeout`` is the longest time in seconds without receiving a byte.
    """

    def __init__(self, *, timeout: float, token: str = "") -> None:
        self._timeout = timeout
        self._headers = token_header(token) if token else {}
        self._opener = urllib.request.build_opener(*([_NoRedirects] if token else []))

    def stream(
        self,
        url: str,
        max_bytes: int,
        *,
        body: Iterable[bytes] | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Iterator[bytes]:
        """The answer in pieces as they arrive; a ``body`` makes the request a POST.

        Raises ``NoAnswer``, ``ErrorAnswer`` and ``AnswerTooLong``.
        """
        with self._open(url, body, headers) as answer:
            yield from _pieces(answer, max_bytes)

    def lines(self, url: str, max_line: int, *, headers: Mapping[str, str] = NO_HEADERS) -> Iterator[bytes]:
        """The lines of an answer of any length as they arrive, without their ends.

        Raises as ``stream`` does, and ``NothingFollows``.
        ``max_line`` is the most bytes of a line. A last line without an end is an answer that broke off.
        """
        rest = b""
        with self._open(url, None, headers) as answer:
            if answer.status == http.HTTPStatus.NO_CONTENT:
                raise NothingFollows
            for piece in _pieces(answer, sys.maxsize):
                *whole, rest = (rest + piece).split(b"\n")
                if max(map(len, (*whole, rest))) > max_line:
                    raise AnswerTooLong(f"a line of the answer has more than {max_line} bytes")
                yield from whole
        if rest:
            raise NoAnswer("it broke off within a line")

    def read(self, url: str, max_bytes: int) -> bytes:
        """The whole answer; raises as ``stream`` does."""
        return b"".join(self.stream(url, max_bytes))

    def read_part(self, url: str, max_bytes: int) -> tuple[bytes, str]:
        """The whole answer, and the address of the next part in its header ``Link``; empty without one."""
        with self._open(url, None, NO_HEADERS) as answer:
            found = _NEXT.search(str(answer.headers.get("Link") or ""))
            return b"".join(_pieces(answer, max_bytes)), found[1] if found else ""

    def read_json(
        self,
        url: str,
        max_bytes: int,
        *,
        body: Iterable[bytes] | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        """The value of a JSON answer; raises as ``stream`` does, and ``BadAnswer``."""
        accepted = {"Accept": "application/json", **headers}
        data = b"".join(self.stream(url, max_bytes, body=body, headers=accepted))
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise BadAnswer("the answer is not JSON") from None

    def _open(
        self, url: str, body: Iterable[bytes] | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        if not _is_http(url):
            raise NoAnswer("only http:// and https:// addresses are fetched")
        try:
            request = urllib.request.Request(url, data=body, headers={**self._headers, **headers})
            answer: http.client.HTTPResponse = self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _error_answer(error.code, _read_error(error), error.headers) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise _no_answer(error) from None
        return answer


class KeptConnection:
    """Posts JSON to one site over a connection that stays open, in one thread at a time.

    ``timeout`` is the longest time in seconds without receiving a byte; it may be changed.
    """

    def __init__(self, address: str, *, timeout: float, headers: Mapping[str, str] = NO_HEADERS) -> None:
        self.timeout = timeout
        self._parts = urlsplit(parse_site_address(address))
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: bytes, max_bytes: int) -> bytes:
        """The answer's body, empty for the status 204.

        Raises ``NoAnswer``, ``ErrorAnswer`` and ``AnswerTooLong``.
        The server may get the request twice: a kept connection may be closed before or after it was read.
        """
        kept, self._connection = self._connection, None
        if kept is not None:
            try:
                return self._exchange(kept, path, body, max_bytes)
            except TimeoutError as error:
                kept.close()
                raise _no_answer(error) from None
            except (OSError, http.client.HTTPException):
                kept.close()
        new = self._open()
        try:
            return self._exchange(new, path, body, max_bytes)
        except (OSError, http.client.HTTPException) as error:
            new.close()
            raise _no_answer(error) from None

    def _open(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=self.timeout)

    def _exchange(
        self, connection: http.client.HTTPConnection, path: str, body: bytes, max_bytes: int
    ) -> bytes:
        connection.timeout = self.timeout
        if connection.sock is not None:
            connection.sock.settimeout(self.timeout)
        connection.request("POST", self._parts.path + path, body, self._headers)
        answer = connection.getresponse()
        data = answer.read(max_bytes + 1)
        if len(data) > max_bytes:
            connection.close()
            raise AnswerTooLong(f"the answer has more than {max_bytes} bytes")
        self._connection = connection  # closed by http.client itself if the server does not keep it
        if answer.status not in {200, 204}:
            raise _error_answer(answer.status, data, answer.headers)
        return data


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that a token is only sent to the site that issued it."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _pieces(answer: http.client.HTTPResponse, max_bytes: int) -> Iterator[bytes]:
    size, expected = 0, answer.length
    while piece := _read(answer):
        size += len(piece)
        if size > max_bytes:
            raise AnswerTooLong(f"the answer has more than {max_bytes} bytes")
        yield piece
    if expected is not None and size < expected:
        raise NoAnswer(f"it broke off after {size} of {expected} bytes")


def _read(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read1(CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _no_answer(error) from None


def _read_error(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(MAX_ERROR_BYTES)
    except (OSError, http.client.HTTPException):
        return b""


def _error_answer(status: int, body: bytes, headers: Message) -> ErrorAnswer:
    try:
        sentence = str(json.loads(body)["error"] or "")
    except (ValueError, TypeError, KeyError, RecursionError):
        sentence = ""
    return ErrorAnswer(status, sentence, headers)


def _no_answer(error: Exception) -> NoAnswer:
    return NoAnswer(visible(str(getattr(error, "reason", None) or error), MAX_REASON))
