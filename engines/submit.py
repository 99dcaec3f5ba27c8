"""``python -m engines submit``: a bot's zip to a site, and its validation followed to the end.

Standard library only. What the site answers is shown as text that cannot act on a terminal.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from engines.console import complain
from engines.visible import visible

REFUSED = 1
POLL_SECONDS = 1.0
TIMEOUT_SECONDS = 60.0
CHUNK_BYTES = 256 * 1024
MAX_ANSWER_BYTES = 4 * 1024 * 1024
SHOWN_LINES = 14
SHOWN_WIDTH = 150
MAX_TROUBLES = 10
"""Polls in a row that a site may leave without an answer."""
TOKEN, SITE = "DUARENA_TOKEN", "DUARENA_SITE"

Json = dict[str, Any]


class CannotSubmit(Exception):
    """The bundle did not arrive, or what became of it is not known; one sentence."""


class RefusedBundle(Exception):
    """The site did not take the bundle; its own sentence."""


class _NoAnswer(CannotSubmit):
    """The site cannot be reached at the moment, or asks for patience."""


def submit(bundle: Path, *, site: str | None, token: str | None, notes: str, seconds: float) -> int:
    """Upload, follow for so many seconds, print; returns 0 for a valid version, 1 refused, 2 not known."""
    try:
        there = _Site(site or os.environ.get(SITE, ""), token or os.environ.get(TOKEN, ""))
        version = there.upload(bundle, notes)
        print(f"{_name(version)} is uploaded: {visible(str(version['page']))}", flush=True)
        return _verdict(_follow(there, version, time.monotonic() + seconds))
    except RefusedBundle as refusal:
        print(f"refused: {refusal}")
        return REFUSED
    except CannotSubmit as trouble:
        return complain(str(trouble))


def _follow(site: _Site, version: Json, deadline: float) -> Json:
    """Print each step as it is known, until the version's state is settled."""
    told = _Told()
    troubles = 0
    while True:
        told.tell(version)
        if version["state"] != "validating":
            return version
        if time.monotonic() > deadline:
            raise CannotSubmit(
                f"{_name(version)} is still being validated: see {visible(str(version['page']))}"
            )
        time.sleep(POLL_SECONDS)
        try:
            version = site.version(str(version["slug"]), int(version["number"]))
            troubles = 0
        except _NoAnswer:
            troubles += 1
            if troubles > MAX_TROUBLES:
                raise


class _Told:
    """What has been printed already, so that every step is a line once."""

    def __init__(self) -> None:
        self._findings = 0
        self._games: set[str] = set()
        self._waits = False

    def tell(self, version: Json) -> None:
        check = version.get("check") or {}
        findings = list(check.get("findings") or [])
        if len(findings) < self._findings:  # it is examined once more
            self._findings = 0
        for finding in findings[self._findings :]:
            _print(*_finding_lines(finding))
        self._findings = len(findings)
        if not findings and not self._waits and version["state"] == "validating":
            self._waits = True
            _print("It is examined first, by a worker that is free for it.")
        for game in version.get("games") or []:
            if game["state"] in {"done", "halted"} and game["ladder"] not in self._games:
                self._games.add(game["ladder"])
                _print(*_game_lines(game))


def _finding_lines(finding: Json) -> Iterator[str]:
    name = f"{finding['check']} ({finding['ladder']})" if finding.get("ladder") else str(finding["check"])
    if not finding.get("fault"):
        yield f"{name}: {'ok' if finding.get('was_tried') else 'not tried, the time was up'}"
        return
    weight = "FAULT" if finding.get("is_grave") else "fault, which does not keep it from playing"
    yield f"{name}: {weight}: {finding['fault']}"
    yield f"    What to do: {finding.get('advice', '')}"
    yield from _log_lines("lines exchanged", finding.get("lines", ""))
    yield from _log_lines("lines of its standard error", finding.get("stderr", ""))


def _game_lines(game: Json) -> Iterator[str]:
    yield f"game against itself on {game['ladder']}: {game['verdict']}"
    if game.get("evidence"):
        yield f"    {game['evidence']}"
    yield from _log_lines("lines exchanged", game.get("lines", ""))
    yield from _log_lines("lines of its standard error", game.get("stderr", ""))


def _log_lines(what: str, text: object) -> Iterator[str]:
    lines = str(text).splitlines()[-SHOWN_LINES:]
    if lines:
        yield f"    The last {what}:"
        yield from (f"      {visible(line, SHOWN_WIDTH)}" for line in lines)


def _print(*lines: str) -> None:
    for line in lines:
        print(visible(line, 2000), flush=True)


def _verdict(version: Json) -> int:
    reason = visible(str(version.get("reason", "")), 2000)
    if version["state"] == "valid":
        print(f"{_name(version)} is valid: it plays from now on.")
        return 0
    if version["state"] == "refused":
        print(f"{_name(version)} is refused. {reason}")
        return REFUSED
    raise CannotSubmit(f"{_name(version)} is {visible(str(version['state']), 20)}. {reason}".rstrip())


def _name(version: Json) -> str:
    return f"{visible(str(version['bot']), 60)} v{version['number']}"


class _Site:
    """The site's addresses for programs. Every method raises ``CannotSubmit``."""

    def __init__(self, address: str, token: str) -> None:
        if not address:
            raise CannotSubmit(f"no site was named: give --site https://… or set {SITE}")
        if not token:
            raise CannotSubmit(f"no token was given: set {TOKEN}; the site makes one at /account/tokens/")
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise CannotSubmit(
                f"{visible(address, 200)!r} is no address of a site: it begins with https:// or http://"
            )
        if not token.isascii() or not token.isprintable():
            raise CannotSubmit("the token has a character that no token has")
        if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
            print("The token travels unencrypted: use https:// where the site has it.", file=sys.stderr)
        self._address = address.rstrip("/")
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)

    def upload(self, bundle: Path, notes: str) -> Json:
        """The new version; also raises ``RefusedBundle``."""
        # Asked first: a site that does not know the token closes the door in the middle of a large zip.
        self._ask("/api/")
        try:
            with bundle.open("rb") as file:
                form = _Form(file, os.fstat(file.fileno()).st_size, notes)
                headers = {"Content-Type": form.kind, "Content-Length": str(form.size)}
                return _version_in(self._ask("/api/bots/", form.chunks(), headers))
        except OSError as error:
            raise CannotSubmit(f"cannot read {str(bundle)!r}: {error.strerror}") from None

    def version(self, slug: str, number: int) -> Json:
        return _version_in(self._ask(f"/api/bots/{slug}/{number}/"))

    def _ask(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Json:
        known = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **(headers or {})}
        request = urllib.request.Request(self._address + path, data=body, headers=known)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return _answer_in(answer.read(MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                raise _complaint(error) from None
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or error
            raise _NoAnswer(f"{self._address} does not answer: {visible(str(why), 200)}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is for the site it was made for, whatever that site says."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(slots=True)
class _Form:
    """A form of a zip and its notes, sent piece by piece."""

    file: BinaryIO
    file_size: int
    notes: str
    _boundary: str = field(default_factory=lambda: secrets.token_hex(16), init=False)

    @property
    def kind(self) -> str:
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def size(self) -> int:
        return len(self._before()) + self.file_size + len(self._after())

    def chunks(self) -> Iterator[bytes]:
        yield self._before()
        left = self.file_size
        while left and (chunk := self.file.read(min(left, CHUNK_BYTES))):
            left -= len(chunk)
            yield chunk
        yield self._after()

    def _before(self) -> bytes:
        notes = f'--{self._boundary}\r\nContent-Disposition: form-data; name="notes"\r\n\r\n{self.notes}\r\n'
        bundle = (
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="bot.zip"\r\n'
            "Content-Type: application/zip\r\n\r\n"
        )
        return (notes + bundle).encode()

    def _after(self) -> bytes:
        return f"\r\n--{self._boundary}--\r\n".encode()


def _answer_in(data: bytes) -> Json:
    try:
        answer = json.loads(data)
        if answer["ok"] is True:
            return dict(answer)
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise CannotSubmit("what answers there is no Duarena site")


def _version_in(answer: Json) -> Json:
    version = answer.get("version")
    if (
        isinstance(version, dict)
        and {"bot", "slug", "state", "page"} <= version.keys()
        and isinstance(version.get("number"), int)
    ):
        return version
    raise CannotSubmit("what answers there is no Duarena site")


def _complaint(error: urllib.error.HTTPError) -> Exception:
    """What an answer that is no success means for the caller."""
    try:
        said = str(json.loads(error.read(MAX_ANSWER_BYTES))["error"])
    except (ValueError, TypeError, KeyError, RecursionError):
        said = ""
    sentence = visible(said, 2000)
    if error.code == 413 and not sentence:
        return RefusedBundle("the zip is larger than the site takes")
    if 300 <= error.code < 400:
        return CannotSubmit(
            f"the site redirects to {visible(error.headers.get('Location', ''), 200)}: name that"
        )
    if error.code in {429, 502, 503, 504}:
        return _NoAnswer(sentence or f"the site answered {error.code}")
    if error.code in {400, 413, 422} and sentence:
        return RefusedBundle(sentence)
    return CannotSubmit(sentence or f"the site answered {error.code}: is this a Duarena site?")
